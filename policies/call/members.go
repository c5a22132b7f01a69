package call

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
	"sort"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call/jsonscan"
)

// members are the members of one JSON object, undecoded. They take costOfMember bytes each
// beside the text.
type members struct {
	text jsontext.Value
	at   []member // by sum
}

// member says where one member stands in the text.
type member struct {
	sum        uint32 // of the name
	name       uint32
	value, end uint32
}

// costOfMember is the size of a member. One of many has at least leastMember bytes of text, `"ab":1`
// among them, so that the members of a text take at most 3 times its size.
const (
	costOfMember = 16
	leastMember  = 6
)

// nameSeed makes sums that no sender knows.
var nameSeed = maphash.MakeSeed()

func sumOf(name []byte) uint32 { return uint32(maphash.Bytes(nameSeed, name)) } // half of it is enough

// get returns the value of a member. ok is false where m is nil or has no such member.
func (m *members) get(name string) (value jsontext.Value, ok bool) {
	if m == nil {
		return nil, false
	}
	sum := sumOf([]byte(name))
	i := sort.Search(len(m.at), func(i int) bool { return m.at[i].sum >= sum })
	for ; i < len(m.at) && m.at[i].sum == sum; i++ {
		if string(m.name(i)) == name {
			return m.text[m.at[i].value:m.at[i].end], true
		}
	}
	return nil, false
}

// name returns the name of member i.
func (m *members) name(i int) []byte {
	return jsonscan.Unquoted(bytes.TrimRight(m.text[m.at[i].name:m.at[i].value], " \t\r\n:"))
}

// names returns the names of all members; nil has none.
func (m *members) names() []string {
	if m == nil {
		return nil
	}
	names := make([]string, len(m.at))
	for i := range m.at {
		names[i] = string(m.name(i))
	}
	return names
}

// sort makes get work. It tells whether the names are unique.
func (m *members) sort() (unique bool) {
	slices.SortFunc(m.at, func(a, b member) int { return cmp.Compare(a.sum, b.sum) })
	for i := range m.at {
		for j := i + 1; j < len(m.at) && m.at[j].sum == m.at[i].sum; j++ {
			if bytes.Equal(m.name(i), m.name(j)) {
				return false
			}
		}
	}
	return true
}

// newMembers makes room for so many members of an object.
func newMembers(text []byte, names int) *members {
	return &members{text: text, at: make([]member, 0, min(names, len(text)/leastMember+1, jsonMembers+1))}
}

// add adds a member whose value begins and ends somewhere.
func (m *members) add(name []byte, from, value, end int) *Refusal {
	m.at = append(m.at, member{sumOf(jsonscan.Unquoted(name)), uint32(from), uint32(value), uint32(end)}) // readObject bounds the text
	switch {
	case len(m.at) <= jsonMembers:
		return nil
	case !m.sort():
		return errBody
	}
	return errTooLarge
}

// readMembers reads the object that text begins with from dec, which reads text. Without an error
// it has as many members as names says.
func readMembers(dec *jsontext.Decoder, text []byte, names int) (*members, *Refusal) {
	if _, err := dec.ReadToken(); err != nil {
		return nil, errBody
	}
	m := newMembers(text, names)
	for dec.PeekKind() == '"' {
		name, err := dec.ReadValue()
		if err != nil {
			return nil, errBody
		}
		from := int(dec.InputOffset()) - len(name)
		name = text[from : from+len(name)] // the decoder's own is valid until it reads on
		value, err := dec.ReadValue()
		if err != nil {
			return nil, errBody
		}
		end := int(dec.InputOffset())
		if refusal := m.add(name, from, end-len(value), end); refusal != nil {
			return nil, refusal
		}
	}
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '}' || !m.sort() {
		return nil, errBody
	}
	return m, nil
}

// membersOf is readMembers for an object that is known to be valid.
func membersOf(text jsontext.Value) (*members, *Refusal) {
	names, _ := jsonscan.Outline(text)
	m := newMembers(text, names)
	for name, value := range jsonscan.Members(text) {
		if refusal := m.add(name.Of(text), name.From, value.From, value.To); refusal != nil {
			return nil, refusal
		}
	}
	if !m.sort() {
		return nil, errBody
	}
	return m, nil
}

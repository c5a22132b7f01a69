package call

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
	"sort"

	"github.com/go-json-experiment/json/jsontext"
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
	return unquoted(bytes.TrimRight(m.text[m.at[i].name:m.at[i].value], " \t\r\n:"))
}

// unquoted returns a JSON text that is known to be valid without its quotes and escapes.
func unquoted(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, raw)
	return text
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

// readMembers reads the object that text begins with from dec, which reads text. Without an error
// it has as many members as names says.
func readMembers(dec *jsontext.Decoder, text []byte, names int) (*members, *Refusal) {
	if _, err := dec.ReadToken(); err != nil {
		return nil, errBody
	}
	m := &members{text: text, at: make([]member, 0, min(names, len(text)/leastMember+1, jsonMembers+1))}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadValue()
		if err != nil {
			return nil, errBody
		}
		at := member{sum: sumOf(unquoted(name)), name: uint32(dec.InputOffset()) - uint32(len(name))} // readObject bounds the text
		value, err := dec.ReadValue()
		if err != nil {
			return nil, errBody
		}
		at.end = uint32(dec.InputOffset())
		at.value = at.end - uint32(len(value))
		if m.at = append(m.at, at); len(m.at) > jsonMembers {
			if !m.sort() {
				return nil, errBody
			}
			return nil, errTooLarge
		}
	}
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '}' || !m.sort() {
		return nil, errBody
	}
	return m, nil
}

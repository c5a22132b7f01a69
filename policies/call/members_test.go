package call

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unsafe"

	"github.com/restwarden/restwarden/cmd/check/testkit/heap"
)

// checkMembers fails unless an object that is accepted has the members that encoding/json
// reads, each once.
func checkMembers(t *testing.T, text string) {
	t.Helper()
	m, refusal := readObject([]byte(text))
	if refusal != nil || m == nil {
		return
	}
	var want map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	if len(want) != len(m.at) {
		t.Fatalf("%d members, want %d", len(m.at), len(want))
	}
	for name, value := range want {
		if got, ok := m.get(name); !ok || !bytes.Equal(got, bytes.TrimSpace(value)) {
			t.Fatalf("%q is %s %v, want %s", name, got, ok, value)
		}
	}
	if _, ok := m.get("no such name"); ok && want["no such name"] == nil {
		t.Fatal("a member that is not there")
	}
}

var objects = []string{
	`{}`, ` { "a" : 1 , "b":[1,{"a":2}] } `, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"\u0061":1,"b\"c":"\ud83d\ude00"}`, `{"":null,"é":true}`,
	`{"a" 	:
"x"}`, `{"a:":"b:","b ":" c"}`, `[1]`, `{"a":1}x`, `{"a"`, `null`,
}

func TestMembers(t *testing.T) {
	for _, text := range objects {
		checkMembers(t, text)
	}
	for text, want := range map[string]*Refusal{`{"a":1,"\u0061":2}`: errBody, `{"a":1,"b":2}`: nil, `{"a":{"b":1,"b":2}}`: nil} {
		if _, refusal := readObject([]byte(text)); refusal != want {
			t.Errorf("%s: %v", text, refusal)
		}
	}
	if size := unsafe.Sizeof(member{}); size != costOfMember {
		t.Errorf("a member takes %d bytes", size)
	}
}

func FuzzMembers(f *testing.F) {
	for _, text := range objects {
		f.Add(text)
	}
	f.Fuzz(checkMembers)
}

// TestMembers_Of4096: what many members take is in the account.
func TestMembers_Of4096(t *testing.T) {
	var text strings.Builder
	for i := range jsonMembers {
		fmt.Fprintf(&text, `,"%x":0`, i)
	}
	data := []byte("{" + text.String()[1:] + "}")
	before := heap.Live()
	m, refusal := readObject(data)
	after := heap.Live()
	if refusal != nil || len(m.at) != jsonMembers {
		t.Fatal(refusal)
	}
	if held := after - before; held > jsonMembers*costOfMember*5/4+8<<10 || held > int64(3*len(data)) {
		t.Errorf("%d bytes are held for an object of %d", held, len(data))
	}
	if raw, ok := m.get("fff"); !ok || raw.Kind() != '0' {
		t.Error("the last member is missing")
	}
	if _, refusal := readObject(append(data[:len(data)-1:len(data)-1], `,"more":0}`...)); refusal != errTooLarge {
		t.Error(refusal)
	}
	if _, refusal := readObject(append(data[:len(data)-1:len(data)-1], `,"0":0}`...)); refusal != errBody {
		t.Error(refusal)
	}
}

// TestParts_Settled: a part of a form has whole values, although its arrays are built when
// they are asked for. Once a batch is settled it says nothing of parameters, and what it says
// of routes stays.
func TestParts_Settled(t *testing.T) {
	rd := readerFor("root")
	for contentType, body := range map[string]string{
		formType: "requests[0][path]=/wp/v2/Posts?_embed%26a=1&requests[0][body][id]=5&requests[0][body][x][y][][z]=1",
		jsonType: `{"requests":[{"path":"/wp/v2/Posts?_embed&a=1","body":{"id":"5","x":{"y":[{"z":"1"}]}}}]}`,
	} {
		c := rd.Read(request("POST", "/wp-json/batch/v1", contentType, body), nil)
		if c.Kind != Batch || len(c.Parts) != 1 {
			t.Fatal(describe(c))
		}
		p := c.Parts[0]
		if id, _, err := p.Scalar("id"); err != nil || id != "5" {
			t.Error(id, err)
		}
		if v, set, err := p.Scalar("x"); v != any(Compound{}) || !set || err != nil {
			t.Error(v, set, err)
		}
		v, set, err := p.Param("x")
		if text := strings.Join(strings.Fields(valueText(v)), ""); set != (contentType == jsonType) || set != (err == nil) || set && text != `{"y":[{"z":"1"}]}` {
			t.Error(text, set, err) // what a form nests in a field of a part is built for nobody
		}
		c.Settle()
		c.Settle()
		if _, set, err := p.Param("x"); set || err == nil {
			t.Error("a settled part has parameters")
		}
		if !c.Embeds() || p.Route != "/wp/v2/Posts" || p.Key != "/wp/v2/posts" || p.Method != http.MethodPost {
			t.Error("a settled part has lost what answers are rewritten by")
		}
		c.Close()
	}
}

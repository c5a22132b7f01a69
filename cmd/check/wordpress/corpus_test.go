//go:build wordpress

package wordpress

import (
	"embed"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/restwarden/restwarden/cmd/check/corpus"
	"github.com/restwarden/restwarden/cmd/check/grammar"
)

// finds are requests that ran once what they should not have: every run sends them, and chains, to
// every target over every version of HTTP. What a run finds is left in the same form.
//
//go:embed corpus
var finds embed.FS

// find is a request in a file. Bytes stand there in base64, as they need not be text.
type find struct {
	Why    string      `json:"why"` // where and how it was found
	Method string      `json:"method"`
	Target []byte      `json:"target"` // below the target's paths
	Fields [][2][]byte `json:"fields,omitempty"`
	Body   []byte      `json:"body,omitempty"`
	Short  bool        `json:"short,omitempty"`
	Notes  []string    `json:"notes,omitempty"`
}

// canaryIn returns the number of the canary that a request is aimed at.
func canaryIn(r *grammar.Request) int {
	m := canaryRoute.FindStringSubmatch(r.Target + " " + r.Body)
	if m == nil {
		return 0
	}
	number, _ := strconv.Atoi(m[2])
	return number
}

func readFinds() (list []*grammar.Request, err error) {
	files, err := corpus.Read[find](finds)
	for _, f := range files {
		r := &grammar.Request{Method: f.Method, Target: string(f.Target), Body: string(f.Body), Short: f.Short, Notes: append(f.Notes, f.Why)}
		for _, field := range f.Fields {
			r.Fields = append(r.Fields, grammar.Field{Name: string(field[0]), Value: string(field[1])})
		}
		list = append(list, r)
	}
	for _, target := range slices.Concat(chains[:]...) {
		list = append(list, &grammar.Request{Method: http.MethodGet, Target: fmt.Sprintf(target, 21), Notes: []string{"rewritings one after the other"}})
	}
	return list, err
}

// keep writes a shot to a file and returns where, or why not.
func (s *shot) keep() string {
	f := find{
		Why:    fmt.Sprintf("request %d, %s over %s", s.number, s.target.name, s.version),
		Method: s.request.Method, Target: []byte(s.request.Target), Body: []byte(s.request.Body), Short: s.request.Short, Notes: s.request.Notes,
	}
	for _, field := range s.request.Fields {
		f.Fields = append(f.Fields, [2][]byte{[]byte(field.Name), []byte(field.Value)})
	}
	return corpus.Keep(fmt.Sprintf("attack-%06d-*.json", s.number), f)
}

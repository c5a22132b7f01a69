//go:build !race

package scopetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/scopes"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// mark is the header by which a test knows its requests. Questions of the gateway lack it.
const mark = "X-Test-Number"

// platform is the reference platform. It writes down each request of a client that reaches
// it, and what it answers. Reads run; of all others it only says that they did, so that
// nothing changes.
type platform struct {
	*site.Site
	t *testing.T

	mu      sync.Mutex
	arrived map[string]*arrival
}

// arrival is a request of a client that reached the platform, and the answer.
type arrival struct {
	method, target, body string
	status               int
	kind, answer         string
	times                int
}

func newPlatform(t *testing.T, base string) *platform {
	t.Helper()
	s, err := site.New(site.Options{Platform: "wordpress", Base: base, ToolServer: true})
	if err != nil {
		t.Fatal(err)
	}
	p := &platform{Site: s, t: t, arrived: map[string]*arrival{}}
	for login, email := range map[string]string{scopes.Mail: "other@erp.test", scopes.Staff: "staff@erp.test"} {
		p.asAdmin("POST /wp-json/wp/v2/users", fmt.Sprintf(`{"username":%q,"email":%q,"password":"x"}`, login, email))
	}
	return p
}

// asAdmin runs a call of the administrator.
func (p *platform) asAdmin(line, body string) (answer string) {
	p.t.Helper()
	var method, target string
	_, _ = fmt.Sscanf(line, "%s %s", &method, &target)
	req, err := client.Request(p.t.Context(), "http://platform.test", method+" "+p.Options().Base+target, body,
		client.Login("admin:"+p.Info().Users["admin"].ApplicationPassword), client.Typed(body))
	if err != nil {
		p.t.Fatal(err)
	}
	w := httptest.NewRecorder()
	p.Site.ServeHTTP(w, req)
	if w.Code >= http.StatusBadRequest {
		p.t.Fatalf("%s: %d %s", line, w.Code, w.Body)
	}
	return w.Body.String()
}

// ServeHTTP implements http.Handler.
func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number := r.Header.Get(mark)
	if number == "" {
		p.Site.ServeHTTP(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body) // of a client that waits for the answer
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	if r.Method == http.MethodGet && r.Header.Get("X-Http-Method-Override") == "" && r.URL.Query().Get("_method") == "" {
		p.Site.ServeHTTP(answer, r)
	} else {
		answer.Header().Set("Content-Type", "application/json; charset=UTF-8")
		_, _ = answer.WriteString(done(body))
	}
	a := &arrival{
		method: r.Method, target: r.RequestURI, body: string(body),
		status: answer.Code, kind: answer.Header().Get("Content-Type"), answer: answer.Body.String(),
	}
	p.mu.Lock()
	if before := p.arrived[number]; before != nil {
		a.times = before.times
	}
	a.times++
	p.arrived[number] = a
	p.mu.Unlock()
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = io.WriteString(w, a.answer)
}

// record is what a call that writes answers.
const record = `{"id":5,"status":"processing","billing":{"email":"a@example.test","phone":"1","city":"B"},"title":{"rendered":"t"}}`

// done answers a call that is not run: a record, or in a batch as many as it has parts.
func done(body []byte) string {
	var sent struct {
		Requests               []struct{ Path string }
		Create, Update, Delete []json.RawMessage
	}
	_ = json.Unmarshal(body, &sent) // a form is no batch
	of := func(n int, text string) []json.RawMessage {
		list := make([]json.RawMessage, n)
		for i := range list {
			list[i] = json.RawMessage(text)
		}
		return list
	}
	answer := map[string]any{}
	switch {
	case sent.Requests != nil:
		answer["responses"] = of(len(sent.Requests), `{"body":`+record+`,"status":200,"headers":{}}`)
	case sent.Create != nil || sent.Update != nil || sent.Delete != nil:
		answer["create"], answer["update"], answer["delete"] = of(len(sent.Create), record), of(len(sent.Update), record), of(len(sent.Delete), record)
	default:
		return record
	}
	text, _ := json.Marshal(answer) // of JSON
	return string(text)
}

// take returns and forgets what arrived of a request, or nil.
func (p *platform) take(number string) *arrival {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.arrived[number]
	delete(p.arrived, number)
	return a
}

// Login implements scopes.Platform.
func (p *platform) Login(user string) string { return user }

// Keys implements scopes.Platform.
func (p *platform) Keys() [3]string {
	k := p.Info().Keys
	return [3]string{k.ReadKey, k.WriteKey, k.ReadWriteKey}
}

// Password implements scopes.Platform.
func (p *platform) Password(login string) (secret, uuid string) {
	p.t.Helper()
	secret, uuid, err := scopes.NewPassword(func(method, route, query, body string) string {
		return p.asAdmin(method+" /wp-json"+route+"?"+query, body)
	}, login, "test")
	if err != nil {
		p.t.Fatal(err)
	}
	return secret, uuid
}

// Session implements scopes.Platform.
func (p *platform) Session(login string) (name, value, nonce string) {
	cookie, nonce := p.Nonce(login)
	return cookie.Name, cookie.Value, nonce
}

// Bearer implements scopes.Platform.
func (p *platform) Bearer(login string) string { return p.Info().Users[login].BearerToken }

// Email implements scopes.Platform.
func (p *platform) Email(login string) string {
	switch login {
	case scopes.Mail:
		return "other@erp.test"
	case scopes.Staff:
		return "staff@erp.test"
	}
	return login + "@example.test"
}

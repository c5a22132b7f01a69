package asktest

import (
	"encoding/json"
	"net/http"

	"github.com/restwarden/restwarden/policies/ask"
)

// ErrorPages is p behind a server that shows its own page in place of each error of the platform,
// as nginx does with fastcgi_intercept_errors.
func ErrorPages(p *Platform) *Platform {
	return &Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		a, err := p.Answer(q)
		switch {
		case err != nil:
			return nil, err
		case q.Envelope && q.Page == "":
			return Envelope(a), nil
		case a.Status >= http.StatusBadRequest:
			return &ask.Answer{Status: a.Status, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<html>not found</html>")}, nil
		}
		return a, nil
	}}
}

// Envelope is a in the platform's envelope.
func Envelope(a *ask.Answer) *ask.Answer {
	headers := map[string]string{}
	for name := range a.Header {
		headers[name] = a.Header.Get(name)
	}
	body, _ := json.Marshal(map[string]any{"body": json.RawMessage(a.Body), "status": a.Status, "headers": headers})
	return JSON(http.StatusOK, string(body))
}

package ask

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// Text returns a body without a byte order mark at its head. A file of the site's own code that
// was saved with one puts it before each answer. Browsers drop it (Encoding Standard, "UTF-8
// decode"), and so its site works.
func Text(body []byte) []byte { return bytes.TrimPrefix(body, []byte(byteOrderMark)) }

const byteOrderMark = "\ufeff"

// Answer is a complete answer of the platform.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	// Kept has the body in place of Body where that is large, in the answer 200 to KindCart. It is
	// kept on the account of who asked until their request has ended, or Close is called.
	Kept *call.Buffer
	// ForCaller is true if the caller may have this answer in place of the call's own.
	ForCaller bool
	// Enveloped is true if the platform gave the answer in an envelope.
	Enveloped bool
	// Slash is true if the question had one behind its route.
	Slash bool
	// ByQuery is true if the question was put into the query in place of the path.
	ByQuery bool

	room [1]string // for SetHeader
}

// SetHeader sets a field of the header. The first one takes no memory beside the Answer.
func (a *Answer) SetHeader(name, value string) {
	if a.room[0] != "" {
		a.Header.Set(name, value)
		return
	}
	a.room[0] = value
	a.Header[http.CanonicalHeaderKey(name)] = a.room[:]
}

// Worked tells whether a call of the REST interface has worked, as a says. The interface never
// redirects: that is a server on the way.
func (a *Answer) Worked() bool { return a.Status >= 200 && a.Status < 300 }

// ReadBy calls q.Read as that says. For the time of Read a large body takes memory of the share of
// who asked, and waits for it. An error is Read's, or a *call.Refusal.
func (a *Answer) ReadBy(ctx context.Context, q *Question) error {
	if q.Read == nil || a.Status != http.StatusOK {
		return nil
	}
	if a.Kept == nil {
		return q.Read(a.Body)
	}
	piece, free, err := a.Kept.Piece(ctx)
	if err != nil {
		return err
	}
	defer free()
	return q.Read(Text(piece))
}

// Reader reads the body, and says how long it is.
func (a *Answer) Reader() (body io.Reader, length int64) {
	if a.Kept == nil {
		return bytes.NewReader(a.Body), int64(len(a.Body))
	}
	begin := make([]byte, len(byteOrderMark))  // it is JSON, which is not shorter
	_, _ = io.ReadFull(a.Kept.Reader(), begin) // where that fails, sending the body does, too
	body = a.Kept.Reader()
	marked, _ := io.CopyN(io.Discard, body, int64(len(begin)-len(Text(begin))))
	return body, a.Kept.Size() - marked
}

// Close gives back what a body takes that is kept.
func (a *Answer) Close() {
	if a.Kept != nil {
		a.Kept.Close()
	}
}

// Size returns about how many bytes a takes.
func (a *Answer) Size() int {
	n := cap(a.Body)
	for name, values := range a.Header {
		n += len(name)
		for _, v := range values {
			n += len(v)
		}
	}
	return n
}

// Fault reads code and message of the platform's error object. Both are "" for any other
// body.
func (a *Answer) Fault() (code, message string) {
	var body struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	if a.Status < 400 || json.Unmarshal(a.Body, &body) != nil {
		return "", ""
	}
	return body.Code, body.Message
}

// Code returns the code of the platform's error object, "" for any other body.
func (a *Answer) Code() string {
	code, _ := a.Fault()
	return code
}

// Denied tells whether the platform denies the question to its credentials (401 or 403).
func (a *Answer) Denied() bool {
	return a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden
}

// MayNotRead recognizes the answer to a valid key that may only write.
func (a *Answer) MayNotRead() bool {
	code, message := a.Fault()
	return a.Status == http.StatusUnauthorized && strings.HasSuffix(code, "authentication_error") && strings.Contains(message, "read permissions")
}

// MayOnlyWrite tells whether an answer refuses a key, and may do so because that may only write: the shop says why in the
// language of the site, and here that is not English.
func (a *Answer) MayOnlyWrite() bool {
	code, message := a.Fault()
	return a.Status == http.StatusUnauthorized && strings.HasSuffix(code, "authentication_error") && !strings.Contains(strings.ToLower(message), "invalid")
}

// refusesKey tells whether the shop refuses the question's key or signature
// (docs/platform III.8). A key without the right to read has been accepted.
func (a *Answer) refusesKey() bool {
	code, message := a.Fault()
	return a.Status == http.StatusUnauthorized && strings.HasSuffix(code, "_rest_authentication_error") && !strings.Contains(message, "permissions")
}

// DeniedWrite turns "may not view", the answer to a question, into the platform's refusal
// of the call c itself, so that the refusal is the same whatever the record is
// (docs/platform III.8). It returns any other answer as it is.
func (a *Answer) DeniedWrite(p *platforms.Platform, c *call.Call) *Answer {
	if a.Code() != p.ErrorPrefix+"cannot_view" {
		return a
	}
	code, message := CannotWrite(c)
	var object struct { // in the order of the platform
		Code    string `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Status int `json:"status"`
		} `json:"data"`
	}
	object.Code, object.Message, object.Data.Status = p.ErrorPrefix+string(code), message, a.Status
	body, _ := json.Marshal(object) // strings and a number: it cannot fail
	return &Answer{Status: a.Status, Header: http.Header{"Content-Type": {"application/json; charset=UTF-8"}}, Body: body}
}

// The codes of CannotWrite.
const (
	CodeCannotBatch  call.Code = "cannot_batch"
	CodeCannotCreate call.Code = "cannot_create"
	CodeCannotDelete call.Code = "cannot_delete"
	CodeCannotEdit   call.Code = "cannot_edit"
)

// CannotWrite returns code, without the platform's prefix, and message with which the platform
// refuses the call c of the shop to who has no right to it (docs/platform III.8).
func CannotWrite(c *call.Call) (code call.Code, message string) {
	switch {
	case strings.HasSuffix(c.Key, "/batch"):
		return CodeCannotBatch, "Sorry, you are not allowed to batch manipulate this resource."
	case strings.HasSuffix(c.Key, "/refunds"):
		return CodeCannotCreate, "Sorry, you are not allowed to create resources."
	case c.Method == http.MethodDelete:
		return CodeCannotDelete, "Sorry, you are not allowed to delete this resource."
	}
	return CodeCannotEdit, "Sorry, you are not allowed to edit this resource."
}

// Refuses tells whether the platform refuses the credentials of the question. The words of one
// platform refuse an outdated nonce with 400 (docs/project/interface 7).
func (a *Answer) Refuses() bool {
	code := a.Code()
	return a.Denied() && code != "" || code == "rest_cookie_invalid_nonce"
}

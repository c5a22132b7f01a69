package policy

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"strconv"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

// Verdict is what a policy says of a call. The zero value is no objection.
type Verdict struct {
	Status   int            // HTTP status of the refusal; 0: no objection
	Code     Code           // machine-readable, in body, metrics, log and docs
	Message  string         // for people; never says whether a route or record exists
	Rule     string         // the rule as in the Caddyfile, for the log; empty if the policy is one rule
	Origin   Origin         // of the rule; "" where Rule is no rule
	Yields   bool           // the rule is one of access before which another one can let the call pass; see openings.Remedy
	Pos      string         // where the rule stands, "Caddyfile:12"; empty for built-in ones
	Data     map[string]any // more fields of the body's data object
	Cart     *ask.Answer    // likewise, the field "cart": the body of this answer, as the platform wrote it
	Header   http.Header    // more headers, such as Retry-After
	Answer   *ask.Answer    // the platform's own answer, sent instead of the fields above
	Note     string         // one more sentence for the log
	Observed bool           // the line that refuses only observes
	Parts    []Part         // of a batch, the refused ones; empty if the batch itself is refused
}

// Part is a refused part of a batch.
type Part struct {
	Call    *call.Call
	Verdict Verdict
}

// Refused tells whether the verdict is a refusal.
func (v Verdict) Refused() bool { return v.Status != 0 }

// Enforces tells whether v is a refusal that counts, and not only observed.
func (v Verdict) Enforces() bool { return v.Refused() && !v.Observed }

// Code is the code of a refusal. Codes of the shop carry the platform's prefix
// (Site.Code); all others are the same on both platforms.
type Code = call.Code

// The codes that policies give.
const (
	CodeNotLoggedIn Code = "rest_not_logged_in"
	CodeForbidden   Code = "rest_forbidden"
	CodeSignature   Code = "rest_invalid_signature"
	CodeTooMany     Code = "rest_too_many_requests"
	CodeConfirm     Code = "rest_confirmation_required"
	CodeMisread     Code = "rest_misread"
	// CodeCredentialScope is that of a call outside the scope of a credential.
	CodeCredentialScope Code = "rest_credential_scope" //nolint:gosec // no secret

	// Codes that a reading can give as well.
	CodeAmbiguous    = call.CodeAmbiguous
	CodeNoRoute      = call.CodeNoRoute
	CodeInvalidParam = call.CodeInvalidParam
	CodeUnavailable  = call.CodeUnavailable

	// CodePlatform stands in metrics and logs for a refusal that is the platform's own
	// answer.
	CodePlatform Code = "platform"
	// CodeNone stands there for a request that passes.
	CodeNone Code = "none"
)

// The shop's codes, without the platform's prefix.
const (
	CodeInvalidID     Code = "shop_order_invalid_id"
	CodeTotalMismatch Code = "checkout_total_mismatch"
	CodeComputeTotals Code = "compute_totals_unsupported"
)

// Messages of refusals that several policies give.
const (
	MessageLoginOnly   = "Only authenticated users can access the REST API."
	MessageForbidden   = "Sorry, you are not allowed to do that."
	MessageNoRoute     = "No route was found matching the URL and request method."
	messageUnavailable = "The request could not be checked. Please try again."
)

// Forbidden is the refusal of a caller who may not make the call.
func Forbidden() Verdict {
	return Verdict{Status: http.StatusForbidden, Code: CodeForbidden, Message: MessageForbidden}
}

// Unavailable is the refusal of a call on which a policy could not decide.
func Unavailable() Verdict {
	return Verdict{
		Status: http.StatusServiceUnavailable, Code: CodeUnavailable, Message: messageUnavailable,
		Header: http.Header{"Retry-After": {"5"}},
	}
}

// Misread is the refusal in place of an answer that shows that a page was a call. at is where
// the directive stands.
func Misread(at string) Verdict {
	return Verdict{
		Status: http.StatusBadGateway, Code: CodeMisread, Rule: "misread refuse", Pos: at,
		Message: "The answer to this address cannot be sent.",
	}
}

// CouldNotDecide is the refusal of a call for an error that wraps ask.ErrUndecided. It names
// the cause. If the server refuses the whole REST interface, the caller gets its answer,
// without its headers: they were for the question.
func CouldNotDecide(err error) Verdict {
	v := Unavailable()
	if unexpected, ok := errors.AsType[*ask.UnexpectedError](err); ok && unexpected.Answer.ForCaller {
		a := unexpected.Answer
		h := http.Header{"Content-Type": {cmp.Or(a.Header.Get("Content-Type"), "text/plain")}}
		v = InPlatformWords(&ask.Answer{Status: a.Status, Header: h, Body: a.Body})
		v.Header = http.Header{"Content-Security-Policy": {"sandbox; frame-ancestors 'none'"}}
	} else if cause := ask.PublicCause(err); cause != "" {
		v.Message = "The request could not be checked, since the site gave no usable answer: " + cause + ". Please try again."
	}
	var noted interface{ Note() string }
	if errors.As(err, &noted) {
		v.Note = noted.Note()
	}
	return v
}

// Seconds is a time as Retry-After says it, one second at least.
func Seconds(s float64) int { return max(1, int(math.Ceil(s))) }

// TooMany is the refusal of a client who may come back after some seconds.
func TooMany(seconds int) Verdict {
	return Verdict{
		Status: http.StatusTooManyRequests, Code: CodeTooMany,
		Message: "Too many requests. Please try again later.",
		Header:  http.Header{"Retry-After": {strconv.Itoa(seconds)}},
	}
}

// InPlatformWords refuses with an answer of the platform, sent as it is.
func InPlatformWords(a *ask.Answer) Verdict {
	return Verdict{Status: a.Status, Code: CodePlatform, Answer: a}
}

// FromRefusal turns a request without a certain reading into a verdict.
func FromRefusal(r *call.Refusal) Verdict {
	v := Verdict{Status: r.Status, Code: r.Code, Message: refusalMessages[r.Status], Rule: r.Reason}
	switch {
	case v.Code == CodeInvalidParam: // the reason is the name of a parameter that has to be an integer
		v.Message = "Invalid parameter(s): " + r.Reason
		v.Data = map[string]any{"params": map[string]string{r.Reason: r.Reason + " is not of type integer."}}
	case r.Status == http.StatusServiceUnavailable:
		v.Header = http.Header{"Retry-After": {"5"}}
	}
	return v
}

var refusalMessages = map[int]string{
	http.StatusBadRequest:            "The request has no certain meaning.",
	http.StatusNotFound:              MessageNoRoute,
	http.StatusRequestEntityTooLarge: "The request is too large.",
	http.StatusUnsupportedMediaType:  "The encoding of the request body is not supported.",
	http.StatusTooEarly:              "The request came too early. Please send it again.",
	http.StatusServiceUnavailable:    messageUnavailable,
}

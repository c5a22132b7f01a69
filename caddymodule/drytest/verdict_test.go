package drytest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies/policy"
)

// verdict is what became of a request, in the words of package dryrun.
type verdict struct {
	answer       dryrun.Answer
	status       int // of a refusal, or of what answered in the gateway's place
	policy, code string
}

func (v verdict) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %d %s %s", v.answer, v.status, v.policy, v.code))
}

// ownWords is the code in the log for a refusal in the platform's own words.
const ownWords = "platform"

// seen is the verdict of the running gateway.
func seen(r *request, l line, logged bool, a answer) verdict {
	if l.Code == ownWords && a.code != "" && !r.stranger {
		l.Code = a.code
	}
	switch {
	case !logged: // an answer of the server itself, or the redirect to https
		return verdict{answer: dryrun.NotReached, status: a.status}
	case l.Outcome == "":
		return verdict{answer: dryrun.NotReached, status: a.status}
	case l.Outcome == string(policy.Refuse):
		return verdict{dryrun.Refused, l.Status, l.Policy, l.Code}
	case l.Outcome == string(policy.WouldRefuse):
		return verdict{dryrun.WouldRefuse, 0, l.Policy, l.Code}
	case l.Kind == "page":
		return verdict{answer: dryrun.Page}
	}
	return verdict{answer: dryrun.Answer(l.Outcome)}
}

// dry is the verdict of a dry run.
func dry(r *dryrun.Result, err error) verdict {
	if err != nil { // no request: the server's own answer
		return verdict{answer: dryrun.NotReached, status: http.StatusBadRequest}
	}
	v := verdict{answer: r.Answer}
	switch {
	case r.Answer == dryrun.NotReached && r.Missed != nil:
		v.status = r.Missed.Status
	case r.Decision != nil && r.Answer == dryrun.Refused:
		v.status, v.policy, v.code = r.Decision.Status, r.Decision.Policy, r.Decision.Code
	case r.Decision != nil && r.Answer == dryrun.WouldRefuse:
		v.policy, v.code = r.Decision.Policy, r.Decision.Code
	}
	return v
}

// same tells whether a dry run agrees with the running gateway. The code of a refusal in
// the platform's own words is known only where the answer has a body.
func (v verdict) same(dry verdict) bool {
	if v.code == ownWords {
		v.code, dry.code = "", ""
	}
	return v == dry
}

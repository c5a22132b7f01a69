package access

import (
	"context"
	"fmt"
	"net/http"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
)

// refusedLogin is the platform's answer to a wrong application password. Where everything needs
// a login it is the one to every refused log-in: the platform's own words tell which names and
// e-mail addresses exist.
var refusedLogin = &ask.Answer{
	Status: http.StatusUnauthorized,
	Header: http.Header{"Content-Type": {"application/json; charset=UTF-8"}},
	Body:   []byte(`{"code":"incorrect_password","message":"The provided password is an invalid application password.","data":{"status":401}}`),
}

// inOneWord hands a on, the platform's refusal of the caller's credentials, but for that of a
// log-in.
func inOneWord(a *ask.Answer) policy.Verdict {
	if !caller.RefusesLogin(a) {
		return policy.InPlatformWords(a)
	}
	v := policy.InPlatformWords(refusedLogin)
	v.Note = fmt.Sprintf("The platform says %s.", a.PlainCode())
	return v
}

// checkOpen judges a call that is open to anyone where everything else needs a login: the
// platform checks a name and a password there as well, and its answer would tell of the name.
func checkOpen(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	if !r.SentPassword() {
		return policy.Verdict{}, nil
	}
	_, answer, err := r.Who(ctx)
	if err != nil || answer == nil || !caller.RefusesLogin(answer) {
		return policy.Verdict{}, err
	}
	return inOneWord(answer), nil
}

// whyLogin is about a verdict of inOneWord; it is "" for others.
func whyLogin(v policy.Verdict) string {
	if v.Answer != refusedLogin {
		return ""
	}
	return "The platform refuses the name or the password. Where everything needs a login, every refused log-in gets this one answer."
}

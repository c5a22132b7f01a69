package gateway

import (
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/restwarden/restwarden/caddymodule/answers"
	"github.com/restwarden/restwarden/caddymodule/metrics"
	"github.com/restwarden/restwarden/caddymodule/record"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/policy"
)

// agentsLogger is the name of the audit log below that of the module:
// http.handlers.restwarden.agents.
const agentsLogger = "agents"

// maxHeard bounds, in bytes, the answers that are read for what they say of errors.
const maxHeard = 64 << 10

// agentRecord is a line of the audit log: one call that an agent made, and what became of
// it. Its fields are called as those of [Record].
type agentRecord struct {
	policy.AgentCall
	of                        *audited
	door                      string // see routeOf
	outcome                   policy.Outcome
	policy                    string
	code, rule                string // of a refusal
	requestID, site, host, ip string
	caller                    string
	userID                    uint64
	claimed                   string // the login that the caller gives, where nobody has verified it
}

// audited are the calls of agents that one request makes.
type audited struct {
	s     *site
	calls []agentRecord
	start time.Time
	took  time.Duration
	heard heard
}

// heard is what the platform answered.
type heard struct {
	status int         // 0 if it has not
	json   bool        // the answer says that it is JSON
	answer *mcp.Answer // to a message; nil if it could not be read
}

// failed tells whether the answer is an error.
func (h *heard) failed() bool {
	return h.status >= http.StatusBadRequest || h.answer != nil && h.answer.Error != nil
}

// audit returns what the audit log will tell of a request, or nil for one that runs nothing
// for an agent. It prepares x for listening to the platform's answer.
func (s *site) audit(x *exchange, d policy.Decision, start time.Time) *audited {
	if s.g.app.dry != nil {
		return nil
	}
	var found []policy.AgentCall
	for _, auditor := range s.auditors {
		found = append(found, auditor.AgentCalls(&x.req)...)
	}
	if len(found) == 0 {
		return nil
	}
	a := &audited{s: s, start: start}
	if d.Outcome != policy.Refuse {
		_, _, _ = x.req.Who(x.r.Context())                                 // who stays unknown if the platform does not say
		x.next = &listener{next: x.next, heard: &a.heard, id: found[0].ID} // a message stands alone
	}
	for _, c := range found {
		a.calls = append(a.calls, a.record(x, d, c))
	}
	return a
}

func (a *audited) record(x *exchange, d policy.Decision, c policy.AgentCall) agentRecord {
	s, r := a.s, &x.req
	rec := agentRecord{
		AgentCall: c, of: a, door: s.routeOf(r.HTTP, c.Call), outcome: d.Outcome, site: s.Name,
		requestID: requestID(r.HTTP), host: s.hostFor(r.HTTP), ip: addressOf(r.Client), caller: callerOf(r),
	}
	if who, known := r.Known(); known {
		rec.userID = who.ID
	}
	if rec.userID == 0 {
		rec.claimed = r.ClaimedLogin()
	}
	if d.Outcome == policy.Pass {
		return rec
	}
	for _, part := range d.Verdict.Parts {
		if part.Call == c.Call {
			d.Verdict = part.Verdict
		}
	}
	rec.policy, rec.code, rec.rule = d.Policy, string(d.Code()), routes.Masked(d.Verdict.Rule)
	return rec
}

// log writes the lines, and counts the calls.
func (a *audited) log() {
	a.took = time.Since(a.start)
	for i := range a.calls {
		rec := &a.calls[i]
		if rec.outcome == policy.Pass && a.heard.failed() {
			rec.outcome = metrics.Failed
		}
		a.s.metrics.AgentCalled(rec.site, rec.outcome)
		if entry := a.s.agents.Check(zap.InfoLevel, "agent call"); entry != nil {
			entry.Write(zap.Inline(rec))
		}
	}
}

// MarshalLogObject implements zapcore.ObjectMarshaler.
func (rec *agentRecord) MarshalLogObject(to zapcore.ObjectEncoder) error {
	to.AddInt("v", record.Version)
	to.AddString("request_id", rec.requestID)
	to.AddString("site", rec.site)
	to.AddString("host", rec.host)
	to.AddString("client_ip", rec.ip)
	to.AddString("caller", rec.caller)
	to.AddString("door", rec.door)
	to.AddString("method", rec.Method)
	to.AddString("outcome", string(rec.outcome))
	for _, f := range [...]struct{ name, value string }{
		{"ability", rec.Ability},
		{"tool", rec.Tool},
		{"prompt", rec.Prompt},
		{"resource", rec.Resource},
		{"arguments_sha256", rec.Hash},
		{"arguments", rec.Arguments},
		{"policy", rec.policy},
		{"code", rec.code},
		{"rule", rec.rule},
		{"claimed_login", rec.claimed},
	} {
		if f.value != "" {
			to.AddString(f.name, f.value)
		}
	}
	if rec.userID > 0 {
		to.AddUint64("user_id", rec.userID)
	}
	if said := rec.of.heard; said.status > 0 {
		to.AddInt("status", said.status)
		switch a := said.answer; {
		case a == nil:
		case a.Error != nil:
			to.AddInt("error_code", a.Error.Code)
		case rec.Tool != "":
			to.AddBool("is_error", a.Result.IsError)
		}
	}
	to.AddDuration("took", rec.of.took)
	return nil
}

// verifies tells whether the answer is one with 2xx, in JSON, see [caller.Whole.ProvenByAnswer].
func (h *heard) verifies() bool {
	return h.json && h.status >= http.StatusOK && h.status < http.StatusMultipleChoices
}

// listener hears what the platform answers. The answer streams as it would without it.
type listener struct {
	next  caddyhttp.Handler
	heard *heard
	id    string // of the message; "" for a run over REST
}

// ServeHTTP implements caddyhttp.Handler.
func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	var aw answers.Writer
	aw.Start(w, l)
	defer aw.End()
	err := l.next.ServeHTTP(&aw, r)
	if err == nil && !aw.Sent() {
		l.heard.status = http.StatusOK // of an empty answer
	}
	return err
}

// Head implements answers.HeadReader.
func (l *listener) Head(w *answers.Writer, status int) error {
	l.heard.status, l.heard.json = status, mediaType(w.Header()) == typeJSON
	if l.id == "" || w.Header().Get("Content-Encoding") != "" {
		return nil
	}
	switch mediaType(w.Header()) {
	case typeJSON:
		w.Watch(maxHeard, func(begin []byte) { l.hear(mcp.ReadAnswer(begin)) })
	case typeEvents:
		w.Watch(maxHeard, func(begin []byte) { l.hear(mcp.ReadEvents(begin, l.id)) })
	}
	return nil
}

func (l *listener) hear(a mcp.Answer, err error) {
	if err == nil {
		l.heard.answer = &a
	}
}

// The media types of answers of servers of tools.
const (
	typeJSON   = "application/json"
	typeEvents = "text/event-stream"
)

// mediaType returns the media type of an answer, without parameters.
func mediaType(h http.Header) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// isPlainJSON tells whether an answer is JSON that is not compressed.
func isPlainJSON(h http.Header) bool {
	return mediaType(h) == typeJSON && h.Get("Content-Encoding") == ""
}

package gateway

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
)

// Vars of a request (docs/operations.md, "Vars"); varCall is for the matcher rest_call.
const (
	varKind      = "restwarden.kind"
	varOutcome   = "restwarden.outcome"
	varRoute     = "restwarden.route"
	varMethod    = "restwarden.method"
	varCaller    = "restwarden.caller"
	varPolicy    = "restwarden.policy"
	varCode      = "restwarden.code"
	varRule      = "restwarden.rule"
	varAt        = "restwarden.at"
	varSite      = "restwarden.site"
	varRequestID = "restwarden.request_id"
	varCall      = "restwarden.call"
)

// Values for the vars of nearly all requests, converted to interfaces once.
var (
	kindPage    = constants[call.Page.String()]
	outcomePass = constants[string(policy.Pass)]

	constants = func() map[string]any {
		all := map[string]any{}
		for _, value := range []string{
			http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, "", other,
			call.Page.String(), call.Single.String(), call.Batch.String(), call.Refused.String(),
			string(policy.Pass), string(policy.Refuse), string(policy.WouldRefuse),
			caller.Anonymous.String(), caller.User.String(), caller.KeyHolder.String(), caller.Unverified.String(),
		} {
			all[value] = value
		}
		return all
	}()
)

// routeVars are the routes of calls.
var routeVars interned

// report sets the vars of a call, and logs a refusal or a call that passed undecided.
func (s *site) report(r *policy.Request, d policy.Decision) {
	c, vars := r.Call, varsOf(r.HTTP)
	vars[varKind], vars[varOutcome], vars[varMethod] = constants[c.Kind.String()], constants[string(d.Outcome)], constants[methodOf(c)]
	if who := callerOf(r); who != "" {
		vars[varCaller] = constants[who]
	}
	if d.Outcome == policy.Pass {
		route := s.routeOf(r.HTTP, c)
		vars[varRoute] = routeVars.of(route)
		if d.Err != nil {
			s.logger.Warn("could not decide, passed", zap.String("site", s.Name), zap.String("route", route), zap.String("method", c.Method), zap.String("error", routes.Masked(d.Err.Error())))
		}
		return
	}
	records := s.records(r, d)
	first := &records[0]
	vars[varRoute], vars[varPolicy], vars[varCode], vars[varRule] = first.Route, first.Policy, first.Code, first.Rule
	vars[varAt], vars[varSite], vars[varRequestID] = first.At, first.Site, first.RequestID
	level, message := zap.InfoLevel, "request refused"
	if c.Foreign || call.DiskFails(d.Err) { // the operator has to act
		level = zap.ErrorLevel
	}
	if d.Outcome == policy.WouldRefuse {
		message = "request would be refused"
	}
	for i := range records {
		s.state.add(records[i])
		s.state.scopes.refusal(&records[i])
		if entry := s.logger.Check(level, message); entry != nil {
			entry.Write(zap.Inline(&records[i]))
		}
	}
}

// callerOf returns the kind of the caller, or "" if no policy has asked for it.
func callerOf(r *policy.Request) string {
	if who, known := r.Known(); known {
		return who.Kind.String()
	}
	return ""
}

// varsOf returns the variables of r. Each search of a context passes all values of it, so
// that a request is searched once.
func varsOf(r *http.Request) map[string]any {
	if vars, ok := r.Context().Value(caddyhttp.VarsCtxKey).(map[string]any); ok {
		return vars
	}
	return map[string]any{} // outside of a server
}

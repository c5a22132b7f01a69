package replay

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// replay runs the request of a record again. The record does not say everything: whatever
// it leaves open is run in every way, and all of them have to have one answer.
type replay struct {
	record     *records.Record
	config     *dryrun.Config
	directives []*gateway.Gateway
	routes     []string // examples of the record's route
}

// attempt is one request that the record may be of, and what became of it.
type attempt struct {
	request dryrun.Request
	*dryrun.Result
}

// run sets the answer of l, or what is missing.
func (r *replay) run(ctx context.Context, l *Logged) error {
	if err := r.findRoutes(); err != nil {
		return err
	}
	if len(r.routes) > mostRoutes {
		l.Missing = "the rules tell too many routes of the pattern apart"
		return nil
	}
	fit, past, err := r.attempts(ctx)
	if err != nil {
		return err
	}
	if len(fit) == 0 {
		switch {
		case past != nil:
			l.Answer, l.Result = dryrun.NotReached, past
		default:
			l.Missing = fmt.Sprintf("where the site is now, as the configuration has no %s that such a request reaches", r.record.Site)
		}
		return nil
	}
	first := fit[0]
	l.Taken = r.taken()
	switch {
	case slices.ContainsFunc(fit, func(other attempt) bool { return decision(other.Result) != decision(first.Result) }):
		l.Missing = cmp.Or(r.open(fit), "more of the request")
	case !r.same(first.Result) && slices.ContainsFunc(fit, r.byRole):
		l.Missing = "the capabilities of the user, or the roles"
	case !r.same(first.Result) && (opensBatch(r.record) || r.record.Parts > 0 && first.Answer == dryrun.Pass):
		l.Missing = "the parts of the batch"
	case first.Answer == dryrun.Pass && !passes(first.Result):
		l.Missing, l.Result = "the query and the body (without them it passes)", first.Result
	default:
		l.Answer, l.Result, l.Same = first.Answer, first.Result, r.same(first.Result)
		l.Result.Change, err = r.config.Change(ctx, first.request, first.Result)
	}
	return err
}

// attempts runs all requests that the record may be of. It returns those that the record's
// site has read as the record says and, if the gateway saw none, what answered one.
func (r *replay) attempts(ctx context.Context) (fit []attempt, past *dryrun.Result, err error) {
	seen := false
	for _, request := range r.requests() {
		result, err := r.config.Run(ctx, request)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case r.is(result):
			fit = append(fit, attempt{request, result})
		case result.Answer != dryrun.NotReached:
			seen = true
		case past == nil:
			past = result
		}
	}
	if seen {
		past = nil
	}
	return fit, past, nil
}

// same tells whether the rule of the record decides as it did.
func (r *replay) same(result *dryrun.Result) bool {
	d, rec := result.Decision, r.record
	return d != nil && d.Code == rec.Code && d.Rule == rec.Rule && d.At == rec.At && string(result.Answer) == rec.Outcome
}

// requests are all requests that the record may be of: by https and by http, for each
// prefix, each example of the route, and each caller.
func (r *replay) requests() (all []dryrun.Request) {
	rec := r.record
	host := rec.Host
	if name, port, ok := strings.Cut(rec.Site, ":"); ok && name == "*" && host == "other" {
		host = "localhost:" + strings.TrimSuffix(port, rec.Base)
	}
	schemes := []string{"https://", "http://"}
	if rec.Scheme != "" {
		schemes = []string{rec.Scheme + "://"}
	}
	for _, scheme := range schemes {
		for _, route := range r.routes {
			for _, target := range r.targets(route) {
				all = append(all, r.asEach(scheme+host, target)...)
			}
		}
	}
	return all
}

// asEach returns the requests of the record's callers to target.
func (r *replay) asEach(root string, target target) (all []dryrun.Request) {
	built, err := dryrun.Build(r.record.Method, root+target.path, target.header, target.body)
	if err != nil {
		return nil // the route has a character that no address has
	}
	built.Client, _ = netip.ParseAddr(r.record.ClientIP) // the zero value without one
	if r.record.Policy == "order_type" {                 // it refuses ids of what is no order
		built.Records = map[uint64]dryrun.RecordKind{1: dryrun.Subscription}
	}
	for _, built.As = range r.callers() {
		all = append(all, built)
	}
	return all
}

// target is where and how a request names a route.
type target struct {
	path   string
	header []string
	body   []byte
}

func (r *replay) targets(route string) (all []target) {
	base, body := r.record.Base, r.body()
	variable := "rest_route=" + url.QueryEscape(route)
	if r.record.Form == "body" {
		return []target{{base + "/", []string{"Content-Type: application/x-www-form-urlencoded"}, []byte(variable)}}
	}
	var header []string
	if body != nil {
		header = []string{"Content-Type: application/json"}
	}
	add := func(path string) {
		if !slices.ContainsFunc(all, func(other target) bool { return other.path == path }) {
			all = append(all, target{path, header, body})
		}
	}
	if r.record.Form == "query" {
		add(base + "/?" + variable)
		return all
	}
	for _, g := range r.directives {
		if r.record.Form == "alias" {
			for _, alias := range g.Alias {
				if path := aliasedPath(alias.Pattern, alias.Route, route); path != "" {
					add(base + "/" + path)
				}
			}
			continue
		}
		platform, _ := platforms.ByName(g.Platform)
		for _, prefix := range slices.Concat(g.Prefix, []string{platform.Prefix}) {
			add(base + "/" + prefix + route)
		}
	}
	return all
}

// body is a body for what decides by one: a batch has parts, and the update of an order fields.
func (r *replay) body() []byte {
	switch {
	case r.record.Method == http.MethodGet || r.record.Method == http.MethodHead:
		return nil
	case r.record.Route == "/batch/v1":
		return []byte(`{"requests":[{"method":"POST","path":"/"}]}`)
	case opensBatch(r.record):
		return []byte(`{"update":[{"id":1}]}`)
	case r.record.Policy == "order_type":
		return []byte(`{}`)
	}
	return nil
}

// is tells whether a result is of the record's site and route.
func (r *replay) is(result *dryrun.Result) bool {
	reading := result.Reading
	if result.Site != r.record.Site || reading == nil || (reading.Kind == call.Batch.String()) != opensBatch(r.record) || reading.Kind == "page" || reading.Method != r.record.Method {
		return false
	}
	if (reading.Form == "alias") != (r.record.Form == "alias") {
		return false
	}
	return reading.Pattern == "" || strings.EqualFold(reading.Pattern, r.record.Route)
}

// decision is what all runs have to have in common.
func decision(result *dryrun.Result) string {
	text := string(result.Answer)
	if d := result.Decision; d != nil {
		text += strings.Join([]string{"", d.Policy, d.Code, d.Rule, d.At}, "\x00")
	}
	return text
}

// byRole tells whether a rule for a role or a capability matched.
func (r *replay) byRole(result attempt) bool {
	if r.record.Caller != "user" {
		return false
	}
	for i := range result.Policies {
		for _, rule := range result.Policies[i].Rules {
			kind, _, _ := strings.Cut(rule.Allow, " ")
			if rule.Matched && (kind == "role" && len(r.record.Roles) == 0 || kind == "capability") {
				return true
			}
		}
	}
	return false
}

// passes tells whether a call passes for certain, whatever its query and body. A rule that
// names a parameter refuses a call that gives the parameter a second value.
func passes(result *dryrun.Result) bool {
	if m := result.Reading.Method; m != "GET" && m != "HEAD" {
		return false
	}
	for i := range result.Policies {
		for _, rule := range result.Policies[i].Rules {
			if rule.Matched && strings.Contains(rule.Text(), "/:") {
				return false
			}
		}
	}
	return true
}

// callers are all callers that the record's word may stand for.
func (r *replay) callers() []dryrun.As {
	switch r.record.Caller {
	case "user":
		if len(r.record.Roles) > 0 {
			return []dryrun.As{{Kind: dryrun.Role, Name: strings.Join(r.record.Roles, ",")}}
		}
		all := []dryrun.As{{Kind: dryrun.User}}
		for _, role := range dryrun.Roles() {
			all = append(all, dryrun.As{Kind: dryrun.Role, Name: role})
		}
		return all
	case "key":
		return []dryrun.As{{Kind: dryrun.Key}}
	case "": // no policy asked
		return []dryrun.As{{Kind: dryrun.Anonymous}, {Kind: dryrun.User}, {Kind: dryrun.Role, Name: "administrator"}, {Kind: dryrun.Key}}
	}
	return []dryrun.As{{Kind: dryrun.Anonymous}}
}

// taken says what the runs took from the record.
func (r *replay) taken() []string {
	rec := r.record
	list := []string{
		fmt.Sprintf("site %s, host %s, client %s", rec.Site, rec.Host, rec.ClientIP),
		fmt.Sprintf("%s %s in the %s form", rec.Method, rec.Route, rec.Form),
	}
	if routes := r.routes; len(routes) > 1 || routes[0] != rec.Route {
		list = append(list, "examples of the route: "+strings.Join(routes[:min(len(routes), 5)], " "))
	}
	who := rec.Caller
	if who == "" {
		who = "not known, as nobody asked: all callers were tried"
	}
	if r.record.Policy == "order_type" {
		list = append(list, "the id is no order's, as order_type had found")
	}
	if r.record.Parts > 0 && !opensBatch(r.record) {
		list = append(list, "the refused part of the batch, as a call of its own")
	}
	return append(list, strings.TrimSpace("caller "+who+" "+strings.Join(rec.Roles, ", ")))
}

// open says what the record leaves open.
func (r *replay) open(fit []attempt) string {
	var open []string
	if slices.ContainsFunc(fit, func(a attempt) bool { return a.request.Secure != fit[0].request.Secure }) {
		open = append(open, "whether the request came by https")
	}
	if len(r.routes) > 1 {
		open = append(open, "the parameters of the route "+r.record.Route)
	}
	if len(r.callers()) > 1 {
		open = append(open, "who the caller is")
	}
	return strings.Join(open, ", ")
}

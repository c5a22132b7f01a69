package statuspage

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/routing"
)

// object is a JSON object whose fields this package does not need to know.
type object map[string]json.RawMessage

// only returns the object with these fields alone.
func (o object) only(fields ...string) object {
	some := make(object, len(fields))
	for _, field := range fields {
		if value, ok := o[field]; ok {
			some[field] = value
		}
	}
	return some
}

// text returns a field that is text.
func (o object) text(field string) (text string) {
	_ = json.Unmarshal(o[field], &text) // anything else is no text
	return text
}

// set sets a field to a value that is certain to have a JSON form.
func (o object) set(field string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	o[field] = text
}

// refreshed is how long an answer of Caddy counts for all who look.
const refreshed = time.Second

// siteList is the sites as Caddy last told them.
type siteList struct {
	api *adminapi.Client

	mu    sync.Mutex
	asked time.Time
	list  []object
	store *object // the Redis of the gateways, nil without one
	// operators is the header in which a proxy of the operators' own tells who they are, "" for none.
	operators string
	err       error
}

// get returns the sites, and the store. Callers must not change them. A failure counts for all who wait,
// too: each would wait as long for its own.
func (l *siteList) get(ctx context.Context) (sites []object, store *object, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.asked) >= refreshed {
		var answer adminapi.Sites[object, object]
		l.err = l.api.Ask(context.WithoutCancel(ctx), http.MethodGet, adminapi.SitesPath, nil, &answer)
		l.list, l.store, l.operators, l.asked = answer.Sites, answer.Store, answer.OperatorHeader, time.Now()
	}
	return l.list, l.store, l.err
}

// operator returns the header lines of a request that tell who an operator is.
func (l *siteList) operator(r *http.Request) (http.Header, error) {
	_, _, err := l.get(r.Context())
	l.mu.Lock()
	defer l.mu.Unlock()
	name := http.CanonicalHeaderKey(l.operators)
	if values := r.Header[name]; err == nil && name != "" && len(values) > 0 {
		return http.Header{name: values}, nil
	}
	return nil, err
}

// forget makes the next get ask Caddy.
func (l *siteList) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = time.Time{}
}

// serveSites answers with the sites as Caddy's admin endpoint does. The page of all sites
// also gets the address of the page of each.
func (p *Page) serveSites(w http.ResponseWriter, r *http.Request, v view) error {
	all, store, err := p.sites.get(r.Context())
	if err != nil {
		return err
	}
	shown := []object{}
	for _, site := range all {
		name := site.text("site")
		switch {
		case v.all():
			linked := maps.Clone(site)
			linked.set("page", ".."+p.Path(name))
			shown = append(shown, linked)
		case name == v.site:
			shown = append(shown, ownSite(site))
		}
	}
	if !v.all() && len(shown) == 0 {
		return statusError{http.StatusNotFound, fmt.Errorf("the site %s is not guarded any more", v.site)}
	}
	answer := map[string]any{"v": adminapi.Version, "sites": shown}
	if v.all() && store != nil {
		answer["store"] = store
	}
	return writeJSON(w, http.StatusOK, answer)
}

// ownerSees are the members that the owner of a site may see.
var ownerSees = struct{ site, problem, lockdown, line, asked, refusal []string }{
	adminapi.OwnerSees[adminapi.Site](), adminapi.OwnerSees[adminapi.Problem](), adminapi.OwnerSees[adminapi.Lockdown](), adminapi.OwnerSees[adminapi.Line](),
	adminapi.OwnerSees[adminapi.Asked](), adminapi.OwnerSees[adminapi.Refusal](),
}

// ownSite is a site as its owner may see it. Errors of questions and what is odd in the
// configuration tell of the machine, which others may share: of hosts, addresses,
// directories and lines.
func ownSite(site object) object {
	own := site.only(ownerSees.site...)
	var problems []object
	if json.Unmarshal(site["problems"], &problems) == nil {
		for i := range problems {
			problems[i] = problems[i].only(ownerSees.problem...)
			if kind := routing.CodeOf(problems[i].text("code")); kind.Name != "" {
				problems[i].set("problem", kind.Title)
			}
		}
		own.set("problems", problems)
	}
	if lines := ownLines(site["opens"]); lines != nil {
		own.set("opens", lines)
	}
	if lines := ownLines(site["closes"]); lines != nil {
		own.set("closes", lines)
	}
	var lockdown object
	if json.Unmarshal(site["lockdown"], &lockdown) == nil && lockdown != nil {
		own.set("lockdown", lockdown.only(ownerSees.lockdown...)) // not whether all sites have it
	}
	var questions map[string]object
	if json.Unmarshal(site["questions"], &questions) == nil {
		for kind, q := range questions {
			questions[kind] = q.only(ownerSees.asked...)
		}
		own.set("questions", questions)
	}
	return own
}

// ownLines are lines that are switched on, as the owner of the site may see them; nil if there are none.
func ownLines(text json.RawMessage) (lines []object) {
	if json.Unmarshal(text, &lines) != nil {
		return nil
	}
	for i := range lines {
		lines[i] = lines[i].only(ownerSees.line...)
	}
	return lines
}

// ownRecord is a record as the owner of its site may see it.
func ownRecord(shown object) object {
	return shown.only(ownerSees.refusal...)
}

// serveRefusals answers with the last refusals of a site, the newest first.
func (p *Page) serveRefusals(w http.ResponseWriter, r *http.Request, v view) error {
	site := cmp.Or(v.site, r.URL.Query().Get("site"))
	records, err := refusals(r.Context(), p.api, site)
	if err != nil {
		return err
	}
	if !v.all() {
		for i := range records {
			records[i] = ownRecord(records[i])
		}
	}
	return writeJSON(w, http.StatusOK, map[string]any{"v": adminapi.Version, "site": site, "refusals": records})
}

// refusals returns the records that Caddy keeps of a site.
func refusals(ctx context.Context, api *adminapi.Client, site string) ([]object, error) {
	var answer adminapi.Refusals[object]
	err := api.Ask(ctx, http.MethodGet, adminapi.Named(adminapi.RefusalsPath, site), nil, &answer)
	return answer.Refusals, err
}

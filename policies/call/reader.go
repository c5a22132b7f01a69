package call

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
)

// Config is what a Reader needs to know of the site behind it.
type Config struct {
	Platform platforms.Platform
	Prefix   string   // of the pretty form, where the site has changed it
	Prefixes []string // more names of it
	Aliases  []Alias  // rewrite rules of the site; one that Validate refuses counts for nothing
	Base     string   // home path of a sub-folder install, "/blog", else ""
	Limits   Limits
	// Credentials are the canonical names of headers that say who is calling. caller.NewReader
	// sets them.
	Credentials []string
	// Headers are the canonical names of other headers that may stand once, under one name.
	Headers []string
	// Variables are those of a query that say who is calling. caller.NewReader sets them.
	Variables []string
}

// Limits bound what is read of a request. Zero values mean the defaults.
type Limits struct {
	Body   int64          // bytes of an urlencoded, JSON or other inspected body
	Upload int64          // bytes of a multipart body
	Batch  int            // parts of a batch, of any kind
	Spool  *budget.Spool  // what is kept on disk, by default of this reader's bodies alone, see SpoolFor
	Memory *budget.Memory // what is held in memory, by default of this reader's bodies alone, see MemoryFor
}

// The defaults of Limits (docs/policies/call.md).
const (
	DefaultBodyLimit      = phpBodyLimit
	DefaultUploadLimit    = 512 << 20 // as hosts commonly set it
	DefaultBatchLimit     = 25        // the platform's own, in the core and in the checkout
	DefaultShopBatchLimit = 100       // the platform's own, in collections of the shop
)

// phpBodyLimit is PHP's default of post_max_size.
const phpBodyLimit = 8 << 20

// Reader reads requests for one site, or for several with the same Site. It may be used by
// several goroutines.
type Reader struct {
	site Config
	// prefixes are those of the pretty form: the site's own, and the platform's usual one,
	// which is judged too in case that the site has not changed it.
	prefixes []string
	rules    []*alias
	foreign  []string // see ForeignPrefixes
	markers  []string // Platform.KeyMarker, with each of the prefixes
	nonce    string
	// deciding are the headers that may stand once, under one name.
	deciding []string
	hidden   []string // see separated
}

// NewReader returns a Reader for site.
func NewReader(site Config) *Reader {
	l := &site.Limits
	if l.Body <= 0 {
		l.Body = DefaultBodyLimit
	}
	if l.Upload <= 0 {
		l.Upload = DefaultUploadLimit
	}
	l.Spool = cmp.Or(l.Spool, budget.NewSpool("", budget.SpoolFor(l.Upload)))
	l.Memory = cmp.Or(l.Memory, budget.NewMemory(budget.MemoryFor(l.Body)))
	if site.Base = strings.Trim(site.Base, "/"); site.Base != "" {
		site.Base = "/" + site.Base
	}
	rd := &Reader{site: site, prefixes: []string{site.Platform.Prefix}, nonce: http.CanonicalHeaderKey(site.Platform.NonceHeader)}
	own := append([]string{site.Prefix}, site.Prefixes...)
	for _, name := range slices.Backward(own) {
		if p := strings.Trim(name, "/"); p != "" {
			rd.prefixes = append([]string{p}, slices.DeleteFunc(rd.prefixes, func(other string) bool { return other == p })...)
		}
	}
	for _, a := range site.Aliases {
		if ready, err := a.compile(); err == nil {
			rd.rules = append(rd.rules, ready)
		}
	}
	rd.hidden = slices.Concat(decidingVars, site.Variables)
	rd.deciding = decidingWith(slices.Concat(site.Credentials, site.Headers), rd.nonce)
	rd.foreign = platforms.ForeignPrefixes(site.Platform.Name, rd.prefixes)
	for _, prefix := range rd.prefixes {
		rd.markers = append(rd.markers, prefix+strings.TrimPrefix(site.Platform.KeyMarker, site.Platform.Prefix))
	}
	return rd
}

// Read returns what the platform would run for r, if the next handler forwarded r now.
// original is the client's URL before rewrites, or nil where r.URL is that. Read never
// fails: a request without a certain reading is a Call of Kind Refused.
//
// Read puts back what it reads of r.Body, so that the same bytes go on. A body that is read
// to its end then has a length. The Call reads more of r when it is asked, so r must not be
// forwarded before the last question. The caller closes the Call.
func (rd *Reader) Read(r *http.Request, original *url.URL) *Call {
	c := rd.ReadFrom(budget.Holder{}, r, original)
	c.Open()
	return c
}

// ReadFrom is Read on the account of a holder, who has a share of the memory and of the disk
// for bodies. A batch has no Parts until Open. Until then only the body of a form has been
// read.
func (rd *Reader) ReadFrom(holder budget.Holder, r *http.Request, original *url.URL) *Call {
	return rd.ReadInto(nil, holder, r, original)
}

// Space is memory for one reading: of a Call and what it comes from.
type Space struct {
	call   Call
	source source
}

// ReadInto is ReadFrom with memory of the caller, which is empty and belongs to the Call from then on;
// nil for none.
func (rd *Reader) ReadInto(space *Space, holder budget.Holder, r *http.Request, original *url.URL) *Call {
	if original != nil && *original == *r.URL { // no rewrite
		original = nil
	}
	if refusal := rd.unfit(r, original); refusal != nil {
		return refuse(refusal, nil)
	}
	where := rd.readPaths(r.URL, original)
	changed := between.ChangesOf(r.URL.RawQuery)
	if between.Crosses(r.URL, original, changed, rd.prefixes) {
		return refuse(errTarget, nil)
	}
	value, set, refusal := routeIn(r.URL.RawQuery, changed)
	if refusal != nil {
		return refuse(refusal, nil)
	}
	if where == (pathReading{}) && !set && (r.Method != http.MethodPost || r.ContentLength == 0) {
		return page
	}
	inQuery := set
	if space == nil {
		space = new(Space)
	}
	src := &space.source
	src.rd, src.holder, src.r, src.query, src.changed, src.wire = rd, holder, r, r.URL.RawQuery, changed, r.Method
	if r.Method == http.MethodPost && r.ContentLength != 0 {
		if value, set, refusal = src.withPostedRoute(value, set); refusal != nil {
			return refuse(refusal, src)
		}
	}
	c := &space.call
	c.Wire, c.src = r.Method, src
	if refusal := rd.dispatch(c, r, original, where, value, set); refusal != nil {
		return refuse(refusal, src)
	}
	c.Posted = c.Form == Query && !inQuery
	if c.Kind == Page && src.body == nil {
		return page
	}
	switch {
	case c.Kind == Page:
	case rd.isBatch(c, c.Method):
		c.Kind, src.parts = Batch, rd.batchLimit(DefaultShopBatchLimit)
	case rd.isBatch(c, c.Wire): // no client overrides the method of one, and a server may drop what does
		return refuse(errBatch, src)
	}
	return c // a policy may ask for more of a page's form
}

// unfit refuses requests, pages too, whose method, target or headers have no certain
// reading.
func (rd *Reader) unfit(r *http.Request, original *url.URL) *Refusal {
	if !wireMethod(r.Method) || r.Method == http.MethodConnect && (r.ProtoMajor < 2 || r.URL.Path == "") {
		return errMethod
	}
	if tunnels(r.Header["Upgrade"]) && !OffersHTTP2(r) {
		return errUpgrade
	}
	if refusal := oddLength(r); refusal != nil {
		return refusal
	}
	if refusal := rd.target(r.URL, original); refusal != nil || r.Method != http.MethodPost {
		return refusal
	}
	return postHeaders(r.Header)
}

func refuse(refusal *Refusal, src *source) *Call {
	return &Call{Kind: Refused, Refusal: refusal, src: src}
}

// dispatch decides between the path and rest_route and fills c.
func (rd *Reader) dispatch(c *Call, r *http.Request, original *url.URL, where pathReading, value string, set bool) *Refusal {
	switch {
	case where.refusal != nil:
		return where.refusal
	case set && cancelled(value) && where.isCall:
		return errTwoRoutes
	case set && cancelled(value):
		set = false
	}
	switch {
	case set:
		route, ok := dispatched(value)
		if !ok {
			return errRoute
		}
		if where.isCall && (where.foreign || lower(where.route) != lower(route)) {
			return errTwoRoutes
		}
		path, refusal := rd.queryPath(r.URL, original)
		if refusal != nil {
			return refusal
		}
		c.Route, c.Base, c.Form = route, path, Query
	case where.isCall:
		c.Route, c.Base, c.Form, c.Foreign = where.route, where.base, where.form(), where.foreign
		c.OwnPrefix = where.own && c.Form == Pretty
	default:
		return nil
	}
	switch {
	case len(c.Route) > maxRoute, !straight(c.Route):
		return errRoute
	case endsEarly(r.URL.Path), original != nil && endsEarly(original.Path):
		return errPath // see namesRoute: any variable might stand there
	}
	c.Kind, c.Key, c.Rewritten = Single, routes.Key(c.Route), rd.rewritten(c, r.URL, original)
	return rd.checkCall(c, r, original, where)
}

// checkCall refuses a call whose headers, address or variables are not certain, and fills
// in its effective method.
func (rd *Reader) checkCall(c *Call, r *http.Request, original *url.URL, where pathReading) *Refusal {
	switch {
	case Early(r):
		return errTooEarly
	case r.Method == http.MethodPost && strings.IndexByte(r.Header.Get("Content-Type"), ',') >= 0:
		return errTwiceHeader
	}
	if refusal := rd.frame(r); refusal != nil {
		return refusal
	}
	if rd.marked(r.URL, where) || original != nil && rd.marked(original, rd.readPath(original)) {
		return errKeyMarker
	}
	if uncertain(r.URL.RawQuery) || rd.separated(r.URL.RawQuery, c.src.changed) {
		return errVariable
	}
	method, _, refusal := effective(r.Method, r.URL.RawQuery, r.Header)
	c.Method, c.src.method = method, method
	if refusal == nil {
		c.src.attach()
	}
	return refusal
}

// readPaths reads the current and the client's own path. FastCGI gives PHP the client's
// path with the current query, a proxy gives it the current path. Both must say the same,
// except where the current path is the front controller (docs/project/design 5). Where a base is
// set, one of the two must be under it, since handle_path removes the base.
func (rd *Reader) readPaths(current, original *url.URL) pathReading {
	p := rd.readPath(current)
	based := p.base
	if original != nil {
		q := rd.readPath(original)
		switch {
		case p.sameAs(q):
			if !under(p.base, rd.site.Base) {
				based = q.base
			}
			p.alias, p.own = cmp.Or(p.alias, q.alias), p.own && q.own
		case rd.frontController(current, original):
			p, based = q, q.base
		default:
			return pathReading{refusal: errTwoPaths}
		}
	}
	if p.isCall && !p.foreign && rd.site.Base != "" && !under(based, rd.site.Base) {
		return pathReading{refusal: errOutside}
	}
	return p
}

// frontController tells whether a rewrite has led to the site's index.php.
func (rd *Reader) frontController(current, original *url.URL) bool {
	base, ok := strings.CutSuffix(current.Path, "/index.php")
	if !ok || rd.site.Base != "" {
		return ok && base == rd.site.Base
	}
	return base == "" || strings.HasPrefix(original.Path, base+"/")
}

// queryPath returns the path of a call in the query form. It determines which install
// answers, so the gateway's own questions of that form go to it too.
func (rd *Reader) queryPath(current, original *url.URL) (string, *Refusal) {
	path, client := between.EscapedPath(current), between.EscapedPath(current)
	if original != nil {
		client = between.EscapedPath(original)
	}
	base := rd.site.Base
	switch {
	case strings.Contains(lower(between.DecodeAll(path)), ".php/"), strings.Contains(lower(between.DecodeAll(client)), ".php/"):
		return "", errScriptPath
	case between.Dots(between.DecodeAll(path)):
		return "", errPath
	case base != "" && !under(path, base) && !under(client, base):
		return "", errOutside
	}
	return path, nil
}

// under tells whether a path is base or lies under it.
func under(path, base string) bool {
	rest, ok := strings.CutPrefix(path, base)
	return ok && (rest == "" || rest[0] == '/')
}

// IsScript tells whether u is one of the platform's two scripts for forms of the admin screens,
// in exactly that spelling. They never run the main query themselves, but a server may run the
// front controller in their place, for some clients only.
func (rd *Reader) IsScript(u *url.URL) bool {
	script, ok := strings.CutPrefix(between.EscapedPath(u), rd.site.Base)
	return ok && (script == rd.site.Platform.AjaxScript || script == rd.site.Platform.UploadScript)
}

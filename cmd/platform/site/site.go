package site

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Site is one running site. Its methods may be called concurrently.
type Site struct {
	opt     Options
	names   names
	router  router
	rewrite *regexp.Regexp
	secret  string // signs cookies and nonces

	// staleRewrites is on while pretty paths have no routing rules.
	staleRewrites atomic.Bool

	mu            sync.Mutex // guards all that follows
	nextID        int
	users         []*user // by id
	keys          []*shopKey
	oauthNonces   map[string]time.Time
	posts         []*post
	widgets       []*widget
	records       map[int]*Record
	products      map[int]*product
	carts         map[string]*cart
	features      map[string]bool
	consents      []obj
	notifications []obj
	inbox         []obj
	withdrawn     map[string]time.Time // by address and by e-mail: the last submission
	feed          feedPlugin
	cookies       cookiePlugin
	abilities     []*ability
	journal       journal[Dispatch]
	runs          journal[Run]
}

// New builds a site with its seed of users, orders, subscriptions and products.
// The error names the option that is wrong.
func New(options Options) (*Site, error) {
	opt, err := options.complete()
	if err != nil {
		return nil, err
	}
	n := namesOf(opt.Platform)
	s := &Site{
		opt: opt, names: n, rewrite: rewriteRule(n.Prefix), nextID: 11,
		oauthNonces: map[string]time.Time{}, records: map[int]*Record{}, products: map[int]*product{},
		carts: map[string]*cart{}, features: map[string]bool{}, withdrawn: map[string]time.Time{},
	}
	s.secret = s.token(64)
	s.staleRewrites.Store(opt.Fault == faultStaleRewrites)
	s.register()
	if err := s.checkLoginAllow(); err != nil {
		return nil, err
	}
	s.seed()
	return s, nil
}

// Options returns what the site was built with, with the defaults filled in.
func (s *Site) Options() Options { return s.opt }

// register adds all routes, the core's first, as the platform does.
func (s *Site) register() {
	s.router.add("", "", reading, endpoint{run: index})
	s.router.add("", "batch/v1", creating, endpoint{
		args: args{
			"validation": {Type: "string", Default: "normal", Enum: []string{"require-all-validate", "normal"}},
			"requests":   {Type: "array", Required: true},
		},
		run: coreBatch,
	})
	s.postRoutes()
	s.widgetRoutes()
	s.userRoutes()
	s.appPasswordRoutes()
	if s.coreSince("6.9") || s.opt.Abilities {
		s.abilities = slices.Concat(s.coreAbilities(), s.shopAbilities(), s.agentAbilities())
		s.abilityRoutes()
	}
	for version := range s.names.Shop {
		s.orderRoutes(version + 1)
	}
	for _, namespace := range s.names.Shop[1:] {
		s.subscriptionRoutes(namespace)
	}
	s.productRoutes()
	s.storeRoutes()
	s.analyticsRoutes()
	s.featureRoutes()
	s.pluginRoutes()
	s.mcpRoute()
	if len(s.abilities) > 0 {
		s.adapterRoutes()
	}
}

// id returns the next id of the one sequence that all records share.
func (s *Site) id() int {
	s.nextID++
	return s.nextID - 1
}

// Dispatch is one call that reached a route, a part of a batch included.
type Dispatch struct {
	Pattern string // the route's pattern
	Route   string // as dispatched
	Method  string // effective
	ID      string // effective id, order_id, user_id or name, where the route has one
	User    string // login name, "" for anonymous
	Ran     bool   // whether the handler ran: arguments and permission were fine
	Status  int
}

// Run is one ability that ran, or one tool that is none, by whatever door.
type Run struct {
	Name  string // id of the ability, name of the tool
	Route string // of the call that ran it, as dispatched
	User  string // login name, "" for anonymous
	Input map[string]any
}

// ran notes a run of the caller's.
func (q *request) ran(name string, input obj) {
	q.site.runs.add(Run{name, q.route, q.login(), maps.Clone(input)})
}

// Ran returns the last abilities and tools that ran, at most a thousand, oldest first.
func (s *Site) Ran() []Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.runs.entries)
}

// journal keeps the last of what happened.
type journal[T any] struct{ entries []T }

const journalSize = 1000

func (j *journal[T]) add(entry T) {
	if len(j.entries) == journalSize {
		j.entries = slices.Delete(j.entries, 0, journalSize/2)
	}
	j.entries = append(j.entries, entry)
}

// Dispatched returns the last calls that reached a route, at most a thousand,
// oldest first.
func (s *Site) Dispatched() []Dispatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.journal.entries)
}

// Info is what a person needs to try the site out.
type Info struct {
	Platform      string                 `json:"platform"`
	Release       string                 `json:"release"`
	Users         map[string]Credentials `json:"users"` // by login name
	Orders        []int                  `json:"orders"`
	Subscriptions []int                  `json:"subscriptions"`
	Products      []int                  `json:"products"`
	Routes        Routes                 `json:"routes"`
	Keys          Keys                   `json:"keys"`
}

// Credentials log one user in.
type Credentials struct {
	Password            string `json:"password"`
	ApplicationPassword string `json:"application_password"`
	BearerToken         string `json:"bearer_token"`
}

// Routes are those of the plugins and of the servers for agents, without the REST prefix.
type Routes struct {
	Consent         string `json:"consent"`
	Troubleshooting string `json:"troubleshooting"`
	StoreAuth       string `json:"store_auth"`
	UploadLogo      string `json:"upload_logo"`
	Notify          string `json:"notify"`
	Tools           string `json:"tools"`      // the adapter's default server; "" on a site without abilities
	ShopTools       string `json:"shop_tools"` // its server for the shop
}

// Keys are the plugins' signing keys and the shop's consumer keys, those as
// "ck_…:cs_…".
type Keys struct {
	FeedPublicID string `json:"feed_public_id"`
	CookiePlugin string `json:"cookie_plugin"`
	ReadKey      string `json:"read_key"`
	WriteKey     string `json:"write_key"`
	ReadWriteKey string `json:"read_write_key"`
}

// Info returns the users with their passwords, the ids of the records there
// are now, and the plugins' routes and keys.
func (s *Site) Info() Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	info := Info{
		Platform: s.opt.Platform, Release: s.opt.Release, Users: map[string]Credentials{},
		Orders: s.idsOf(typeOrder), Subscriptions: s.idsOf(typeSubscription),
		Products: slices.Sorted(maps.Keys(s.products)), Routes: pluginPaths(),
		Keys: Keys{FeedPublicID: s.feed.publicID, CookiePlugin: s.cookies.key},
	}
	if len(s.abilities) > 0 {
		info.Routes.Tools, info.Routes.ShopTools = s.defaultServer().path(), s.shopServer().path()
	}
	for _, u := range s.users {
		c := Credentials{Password: u.password, BearerToken: u.bearer}
		if len(u.passwords) > 0 {
			c.ApplicationPassword = grouped(u.passwords[0].secret)
		}
		info.Users[u.login] = c
	}
	for _, k := range s.keys {
		pair := k.key + ":" + k.secret
		switch k.scope {
		case "read":
			info.Keys.ReadKey = pair
		case "write":
			info.Keys.WriteKey = pair
		default:
			info.Keys.ReadWriteKey = pair
		}
	}
	return info
}

// homeURL is the site's address as the client used it.
func (s *Site) homeURL(r *http.Request) string { return s.origin(r) + s.opt.Base }

// origin is the scheme and host that the client used.
func (s *Site) origin(r *http.Request) string {
	scheme, host := "http", r.Host
	if isSecure(r) {
		scheme = "https"
	}
	return scheme + "://" + host
}

// isSecure tells whether the client came by https.
func isSecure(r *http.Request) bool {
	return r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
}

// restURL is the address of a route in the form that the permalinks ask for.
func (s *Site) restURL(r *http.Request, route string) string {
	if s.opt.Permalinks == "plain" {
		return s.homeURL(r) + "/index.php?rest_route=" + route
	}
	return s.homeURL(r) + "/" + s.names.Prefix + "/" + strings.TrimPrefix(route, "/")
}

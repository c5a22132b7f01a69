package routing

// Code is a kind of finding.
type Code struct {
	Name string // "W01"
	// Title says in a few words what is odd, and Do what to do.
	Title, Do string
	// Note says that it is no finding: nothing is wrong.
	Note bool
}

// Codes are all kinds of findings, in order (docs/checks).
var Codes = []Code{
	{Name: "W01", Title: "a site without the directive leads to what is guarded elsewhere", Do: "put restwarden there, too"},
	{Name: "W02", Title: "requests are answered before they reach the directive", Do: "put the directive first in its route"},
	{Name: "W03", Title: "a matcher or a handle block leaves out a way to REST", Do: "let the directive stand without a matcher, outside of handle blocks"},
	{Name: "W04", Title: "a rule never decides", Do: "move it before the rules that hide it, or remove it"},
	{Name: "W05", Title: "an allow changes nothing", Do: "remove it, or write whom it is to let in"},
	{Name: "W06", Title: "a route can be no REST route", Do: "write a REST route, such as /wp/v2/posts: the directive guards nothing else"},
	{Name: "W07", Title: "no rule uses a signature", Do: "allow a route with it, or remove it"},
	{Name: "W08", Title: "the * in the name of a cookie or header stands for itself", Do: "write out each name"},
	{Name: "W09", Title: "requests pass two directives", Do: "keep one of them"},
	{Name: "W10", Title: "the policy call is off", Do: "remove call off, or use mode observe to see what it refuses"},
	{Name: "W11", Title: "the directive, or a policy of it, only observes", Do: "remove mode observe once the log shows nothing that must pass", Note: true},
	{Name: "W12", Title: "the path or a deciding header is changed behind the gateway", Do: "write the change before restwarden, in the same block"},
	{Name: "W13", Title: "the proxy before Caddy is not trusted", Do: "name it in the global options, servers { trusted_proxies static … }, for a Unix socket servers { trusted_proxies_unix }"},
	{Name: "W14", Title: "request bodies are kept in memory, or on a disk with too little room", Do: "name a directory on a disk with room in spool_dir, or lower spool_limit"},
	{Name: "W15", Title: "the site has no such route, role or plugin", Do: "remove the line, or mend the name"},
	{Name: "W16", Title: "anyone may write to what is risky and nobody needs", Do: "write allow plugin and its name, or remove the line"},
	{Name: "W17", Title: "a line for a plugin changes nothing", Do: "the line may stay", Note: true},
	{Name: "W18", Title: "a rule of abilities never decides", Do: "move it before the rule that hides it"},
	{Name: "W19", Title: "agents run what they like at a server of tools", Do: "write abilities with allow lines, or close the route"},
	{Name: "W20", Title: "doors names what is no server of tools", Do: "mend the route, or remove it"},
	{Name: "W21", Title: "nothing can use a scope", Do: "remove it, or mend it"},
	{Name: "W22", Title: "a credential is in two scopes, or some keys have none", Do: "name each key in one scope, and the others by key *"},
	{Name: "W23", Title: "a scope can widen itself, or leaves another door open", Do: "remove the line, or allow GET alone"},
	{Name: "W24", Title: "updates signed by OAuth 1 cannot be decided", Do: "from release 10.8 on write the release of the shop, before that order_type { credential <key:secret> } with a read-only key of the shop"},
	{Name: "W25", Title: "a rule misses calls of a route that takes a slash", Do: "end the route of the rule with /** there"},
}

// CodeOf returns the code of a name; the zero Code for a name that is none.
func CodeOf(name string) Code {
	for _, c := range Codes {
		if c.Name == name {
			return c
		}
	}
	return Code{}
}

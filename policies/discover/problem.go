package discover

// Problem is something of the configuration that does not fit the site.
type Problem struct {
	Code string // one of ProblemCodes
	Text string // one sentence for the log
}

// The codes of problems. They are values of the metric label problem.
const (
	problemRoot     = "root"     // there is no REST root where the gateway looks for it
	problemPrefix   = "prefix"   // the site has another prefix
	problemBase     = "base"     // the site has another base
	problemPlatform = "platform" // the core's namespace is missing
	problemScheme   = "scheme"   // http and https are mixed
	problemHome     = "home"     // the site calls itself by another host
)

// ProblemCodes returns all codes of problems.
func ProblemCodes() []string {
	return []string{problemRoot, problemPrefix, problemBase, problemPlatform, problemScheme, problemHome}
}

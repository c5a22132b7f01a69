package discover

// Problem is something of the configuration that does not fit the site.
type Problem struct {
	Code string // ProblemRoot and the like
	Text string // one sentence for the log
}

// The codes of problems. They are values of the metric label problem.
const (
	ProblemRoot     = "root"     // there is no REST root where the gateway looks for it
	ProblemPrefix   = "prefix"   // the site has another prefix
	ProblemBase     = "base"     // the site has another base
	ProblemPlatform = "platform" // the core's namespace is missing
	ProblemScheme   = "scheme"   // http and https are mixed
	ProblemHome     = "home"     // the site calls itself by another host
)

// ProblemCodes returns all codes of problems.
func ProblemCodes() []string {
	return []string{ProblemRoot, ProblemPrefix, ProblemBase, ProblemPlatform, ProblemScheme, ProblemHome}
}

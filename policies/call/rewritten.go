package call

import (
	"net/url"

	"github.com/restwarden/restwarden/policies/call/between"
)

// Rewritten is what rewrites before the gateway have done to the path of a call. A question
// takes the same way: back-ends receive the client's own path, the current one, or both.
type Rewritten struct {
	Client string // Call.Base as the client's own path has it
	Pretty bool   // the client's own path names the route
	Script string // the front controller in place of a pretty path, "/index.php"; "" for none
}

// rewritten compares the current path of c with the client's own path. It returns nil if
// they are the same.
func (rd *Reader) rewritten(c *Call, current, original *url.URL) *Rewritten {
	if original == nil || between.EscapedPath(original) == between.EscapedPath(current) {
		return nil
	}
	client := rd.readPath(original)
	switch {
	case !client.isCall:
		return &Rewritten{Client: between.EscapedPath(original)}
	case c.Form != Query && !rd.readPath(current).isCall:
		return &Rewritten{Client: client.base, Pretty: true, Script: between.EscapedPath(current)}
	}
	return &Rewritten{Client: client.base, Pretty: true}
}

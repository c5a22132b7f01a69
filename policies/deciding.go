package policies

import (
	"net/http"
	"slices"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/signature"
)

// NewReader is [caller.NewReader]. The headers of a signature may stand once, too, under the names
// that a site need not give.
func NewReader(site call.Config) *call.Reader {
	site.Headers = append(slices.Clip(site.Headers), signature.UsualHeaders...)
	return caller.NewReader(site)
}

// Deciding returns the canonical names of the headers that say what a call is and who makes it, so
// that none may change between the gateway and the platform. Each part of the project that reads
// headers names its own. signatures are those of a site, which may have chosen names.
func Deciding(p *platforms.Platform, own caller.Own, signatures []*signature.Signature) []string {
	names := slices.Concat(call.Headers(), caller.Headers(p, own), mcp.Headers())
	names = append(names, signature.SchemeHeaders()...)
	for _, s := range signatures {
		names = append(names, s.SignatureHeader, s.TimestampHeader)
	}
	for i := range names {
		names[i] = http.CanonicalHeaderKey(names[i])
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

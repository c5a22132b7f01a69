package caller

import (
	"net/http"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

// Some servers keep Authorization from PHP, as Apache does in front of PHP-FPM unless it is told
// otherwise. Who signs by OAuth 1 there is nobody to the shop, so that the header counts only
// where the site has shown that it arrives (docs/platform III.8).

const (
	// arrivesTTL is how long it counts that the header arrives. Each question is a signature that
	// the shop refuses, so that they must be few.
	arrivesTTL = time.Hour
	// lostTTL is how long it counts that the header is lost.
	lostTTL = time.Minute
	// plainHeaderLimit bounds a header that is believed, in bytes. Those of clients are below 700.
	plainHeaderLimit = 4 << 10
)

// kept returns how long an answer about c counts.
func (c Claim) kept(opts *Options) lifetime {
	if c == ClaimOAuth1 {
		return lifetime{arrivesTTL, lostTTL}
	}
	return lifetime{opts.TTL, rejectedTTL}
}

// asksArrival tells whether the shop verifies the caller of w only if Authorization reaches it.
// Query and form always do.
func (w *Whole) asksArrival() bool { return w.claim == ClaimOAuth1 && w.byHeader }

// SignedInVain tells whether w is signed by OAuth 1 in a header that does not reach the shop.
func (w *Whole) SignedInVain() bool {
	who, known := w.Known()
	return known && who.Kind == Anonymous && w.asksArrival()
}

// plainHeader tells whether every server that hands Authorization on hands this one on, so that
// what one has shown is true of all.
func plainHeader(text string) bool {
	return strings.HasPrefix(text, "OAuth ") && len(text) <= plainHeaderLimit &&
		!strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' })
}

// arrivalQuestion asks for something that the shop shows to nobody, with the client's own header.
// Its signature cannot fit, since nobody could sign the random text: the shop uses up no nonce, and
// says that the signature or the key is wrong if it sees the header at all.
func arrivalQuestion(p *call.Platform, w *Whole) ask.Question {
	return ask.Question{
		Kind: ask.KindCaller, Method: http.MethodGet, As: ask.AsNobody,
		Route: "/" + p.Shop[2] + "/orders", Query: "per_page=1&_fields=id",
		Header: http.Header{"Authorization": {w.HTTP.Header.Get("Authorization")}},
	}
}

// interpretArrival reads the answer to an arrivalQuestion: the shop refuses the signature, or takes
// the caller for nobody. Any other refusal may be a plugin's, of this client: it says nothing of
// the header, and would be learned for all.
func interpretArrival(a *ask.Answer, p *call.Platform) (identity, error) {
	switch code := a.Code(); {
	case a.Status == http.StatusUnauthorized && (code == p.ErrorPrefix+"authentication_error" || code == p.ErrorPrefix+"authentication_missing_parameter"):
		return identity{caller: Caller{Kind: Unverified}}, nil
	case a.Status == http.StatusUnauthorized && code == p.ErrorPrefix+"cannot_view":
		return identity{}, nil
	case a.Status == http.StatusNotFound && code == "rest_no_route": // without a shop nobody verifies
		return identity{}, nil
	}
	return identity{}, ask.Unexpected(a)
}

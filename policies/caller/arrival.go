package caller

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// Some servers keep Authorization from PHP, as Apache does in front of PHP-FPM unless it is told
// otherwise, some lose the query, and behind some the shop does not look for OAuth 1 at all. Who
// signs there is nobody to the shop, so that a signature counts only where the site has shown that
// the shop sees it (docs/platform III.8; I.13, B9).

const (
	// arrivesTTL is how long it counts that a signature arrives. Each question is one that the shop
	// refuses, so that they must be few.
	arrivesTTL = time.Hour
	// lostTTL is how long it counts that a signature is lost.
	lostTTL = time.Minute
	// plainHeaderLimit bounds a header that is believed, in bytes. Those of clients are below 700.
	plainHeaderLimit = 4 << 10
)

// kept returns how long an answer about c counts.
func (c Claim) kept(opts *Options) lifetime {
	switch c {
	case ClaimOAuth1:
		return lifetime{arrivesTTL, lostTTL}
	case ClaimBasic, ClaimToken, ClaimPassword: // what binds a log-in must not wait for it to be accepted again
		return lifetime{opts.TTL, 0}
	default:
		return lifetime{opts.TTL, rejectedTTL}
	}
}

// SignedInVain tells whether w is signed by OAuth 1 in a header that does not reach the shop.
func (w *Whole) SignedInVain() bool {
	who, known := w.Known()
	return known && who.Kind == Anonymous && w.claim == ClaimOAuth1 && w.byHeader
}

// farQuery tells whether a variable of a query may be one that PHP drops, since some servers add
// variables of their own in front, or one that another server loses, since it stands before a "?"
// (docs/platform I.13, B9 and B10).
func farQuery(query string) bool {
	return phpvars.Pairs(query) > phpvars.MaxPairs-100 || strings.Contains(query, "?")
}

// plainHeader tells whether every server that hands Authorization on hands this one on, so that
// what one has shown is true of all.
func plainHeader(text string) bool {
	return strings.HasPrefix(text, "OAuth ") && len(text) <= plainHeaderLimit &&
		!strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' })
}

// arrivalQuestion asks for something that the shop shows to nobody. Where the client signs by a
// header the question has that header. Its signature cannot fit, since nobody could sign the random
// text: the shop uses up no nonce, and says that the signature or the key is wrong if it sees the
// header at all. Else the question has one parameter, in the first place of the query, which some
// servers lose: the shop says that others are missing if it sees that one.
func arrivalQuestion(p *platforms.Platform, w *Whole) ask.Question {
	q := ask.Question{
		Kind: ask.KindCaller, Method: http.MethodGet, As: ask.AsNobody,
		Route: "/" + p.Shop[2] + "/orders", Query: "per_page=1&_fields=id",
	}
	if w.byHeader {
		q.Header = http.Header{"Authorization": {w.HTTP.Header.Get("Authorization")}}
	} else {
		q.Query = oauth1[0] + "=restwarden&" + q.Query
	}
	return q
}

// interpretArrival reads the answer to an arrivalQuestion: the shop refuses the signature, or takes
// the caller for nobody. Any other refusal may be a plugin's. One of a client's header may be for this
// client, and would be learned for all. One of the parameter in the query is the same for everybody,
// as where the site shows nothing to anybody who has not logged in, but for the page by which WordPress ends a
// request: plugins show it to those whom they lock out.
func interpretArrival(a *ask.Answer, q *ask.Question, p *platforms.Platform) (identity, error) {
	byHeader := len(q.Header) > 0
	switch code := a.Code(); {
	case a.Status == http.StatusUnauthorized && code == p.ErrorPrefix+"cannot_view",
		a.Status == http.StatusNotFound && code == "rest_no_route", // without a shop nobody verifies
		byHeader && handedOn[code]:                                 // not about what the client sent
		return identity{}, nil
	case a.Status == http.StatusUnauthorized && (code == p.ErrorPrefix+"authentication_error" || code == p.ErrorPrefix+"authentication_missing_parameter"),
		!byHeader && (code != "" && code != dieCode && a.Status < http.StatusInternalServerError && a.Status != http.StatusTooManyRequests || a.Status == http.StatusOK && isJSON(a)):
		return identity{caller: Caller{Kind: Unverified}}, nil
	}
	return identity{}, ask.Unexpected(a)
}

// dieCode is that of wp_die, whoever calls it.
const dieCode = "wp_die"

// isJSON tells whether the body of a begins as an object or a list: a page says nothing.
func isJSON(a *ask.Answer) bool {
	body := bytes.TrimSpace(a.Body)
	return len(body) > 0 && (body[0] == '{' || body[0] == '[')
}

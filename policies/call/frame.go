package call

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// deciding are the headers that determine what a call is. If one is sent twice, web servers
// take the first, the last, both or neither (docs/platform I.12, 5). Those that determine who
// is calling are Site.Credentials and Site.Headers, and the platform's nonce header, see
// Reader.nonce.
var deciding = []string{"Content-Type", overrideHeader, "Content-Encoding", "Content-Length"}

// Headers returns the canonical names of the headers that determine what a call is. A server
// takes Transfer-Encoding away as it reads it, so that no request has it here.
func Headers() []string { return append(slices.Clone(deciding), "Transfer-Encoding") }

// decidingWith returns deciding with those of headers that are not in it.
func decidingWith(headers []string, nonce string) []string {
	all := slices.Clone(deciding)
	for _, name := range headers {
		if name != nonce && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// frame refuses calls whose headers do not reach every back-end unchanged (docs/project/design 5,
// docs/platform I.7, 1 and I.12).
func (rd *Reader) frame(r *http.Request) *Refusal {
	h := r.Header
	for _, name := range rd.deciding {
		if len(h[name]) > 1 {
			return errTwiceHeader
		}
		if !plainValue(h[name]) {
			return errOddHeader
		}
	}
	switch {
	case !plainValue(h[rd.nonce]), r.ContentLength != 0 && !plainType(h["Content-Type"]):
		return errOddHeader
	case len(h[rd.nonce]) > 1, secondHost(r): // FastCGI believes the header
		return errTwiceHeader
	case !quietConnection(h["Connection"]):
		return errConnection
	case len(h["Upgrade"]) > 0 && !OffersHTTP2(r):
		return errUpgrade
	case len(r.Trailer) > 0: // some back-ends merge trailers into the header
		return errTwiceHeader
	case rd.aliases(h):
		return errAliasHeader
	}
	return nil
}

// plainValue tells whether the values of a header reach every back-end as they
// are: HTTP/2 and 3 keep blanks around them that HTTP/1.1 drops.
func plainValue(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool {
		return v != "" && (len(v) > maxTarget || isBlank(v[0]) || isBlank(v[len(v)-1]))
	})
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// secondHost tells whether a header Host says something else than :authority. HTTP/3
// keeps the header where both are the same.
func secondHost(r *http.Request) bool {
	host := r.Header["Host"]
	return len(host) > 1 || len(host) == 1 && host[0] != r.Host
}

// tunnels tells whether an upgrade would let requests through that are never
// read here: HTTP/2 in clear text. Web sockets of pages carry no requests.
func tunnels(upgrade []string) bool {
	for _, protocols := range upgrade {
		for p := range strings.SplitSeq(protocols, ",") {
			if lower(strings.Trim(p, " \t")) != "websocket" {
				return true
			}
		}
	}
	return false
}

// OffersHTTP2 tells whether r came over plain http and offers nothing but to go on in HTTP/2.
// A client that does so takes an answer in HTTP/1.1 as well (RFC 9110, 7.8).
func OffersHTTP2(r *http.Request) bool {
	if r.TLS != nil || r.ProtoMajor != 1 {
		return false
	}
	offers := r.Header["Upgrade"]
	return len(offers) == 1 && lower(offers[0]) == "h2c"
}

// DropHTTP2 takes from h what OffersHTTP2 has found: the header Upgrade, the settings, and their
// names in Connection. Other headers stay as they are.
func DropHTTP2(h http.Header) {
	delete(h, "Upgrade")
	delete(h, "Http2-Settings")
	var kept []string
	for _, value := range h["Connection"] {
		for token := range strings.SplitSeq(value, ",") {
			switch token = strings.Trim(token, " \t"); lower(token) {
			case "", "upgrade", "http2-settings":
			default:
				kept = append(kept, token)
			}
		}
	}
	if delete(h, "Connection"); len(kept) > 0 {
		h["Connection"] = []string{strings.Join(kept, ", ")}
	}
}

// quietConnection tells whether Connection names nothing that a proxy would
// take away from the platform (docs/platform I.11, P1).
func quietConnection(values []string) bool {
	for _, value := range values {
		for token := range strings.SplitSeq(value, ",") {
			switch lower(strings.Trim(token, " \t")) {
			case "", "close", "keep-alive", "te", "upgrade", "http2-settings":
			default:
				return false
			}
		}
	}
	return true
}

// aliases tells whether some header name folds onto a deciding one, or onto
// another one that is present: PHP reads "X_A", "X.A" and "X-A" alike.
func (rd *Reader) aliases(h http.Header) bool {
	for name := range h {
		if plainName(name) {
			continue
		}
		folded := http.CanonicalHeaderKey(FoldHeader(name))
		if _, ok := h[folded]; ok || folded == rd.nonce || slices.Contains(rd.deciding, folded) {
			return true
		}
	}
	return false
}

// plainName tells whether FoldHeader leaves a name alone.
func plainName(name string) bool { return headerBytes.Holds(name) }

var headerBytes = between.AlnumAnd("-")

// FoldHeader returns the name that a header has where all that servers make the same variable
// of is written with a dash. PHP folds "_", "." and " ", lighttpd all but letters and digits
// (docs/platform I.7, 1; I.13, B5).
func FoldHeader(name string) string {
	if plainName(name) {
		return name
	}
	folded := []byte(name)
	for i, c := range folded {
		if !between.Alnum(c) {
			folded[i] = '-'
		}
	}
	return string(folded)
}

// maxTarget bounds target and deciding headers, in bytes: Caddy's FastCGI client cuts
// what is longer than 64 KiB, and other readers at limits of their own.
const maxTarget = 32 << 10

// target refuses a target that is more than a path and a query, on pages too. Front-ends
// differ in what they take for the path of such a target. A rewrite of the site may have
// removed the first slash.
func (rd *Reader) target(current, original *url.URL) *Refusal {
	client := current
	if original != nil {
		client = original
	}
	tried := trials{rules: rd.rules}
	switch {
	case !onlyPath(current), !onlyPath(client), !strings.HasPrefix(client.Path, "/"):
		return errTarget
	case strings.IndexByte(client.RawQuery, ' ') >= 0: // in HTTP/2 and 3; the end of the target to some
		return errTarget
	case 3*len(client.Path)+len(client.RawQuery) > maxTarget, 3*len(current.Path)+len(current.RawQuery) > maxTarget:
		return errTarget // a byte of the path may stand there as three
	case namesRoute(client.Path), current != client && namesRoute(current.Path):
		return errPath
	}
	if refusal := cmp.Or(rd.oddBetween(&tried, client), rd.cutPath(&tried, client)); refusal != nil || current == client {
		return refusal
	}
	return cmp.Or(rd.oddBetween(&tried, current), rd.cutPath(&tried, current)) // FastCGI gets the one, a proxy the other
}

// namesRoute tells whether a path would name a route if it were part of a query.
func namesRoute(path string) bool { return phpvars.Has(between.PairsIn(path), platforms.RouteVar) }

// endsEarly tells whether a path holds what ends one, or begins a variable.
func endsEarly(path string) bool {
	return !between.PlainBytes.Holds(path) && strings.ContainsAny(between.DecodeAll(path), "?&#;")
}

// oddLength refuses a Content-Length that differs from the length that the server has
// read in it. FastCGI back-ends get the header as it was sent, and would wait for more.
func oddLength(r *http.Request) *Refusal {
	switch said := r.Header["Content-Length"]; {
	case len(said) > 1:
		return errTwiceHeader
	case len(said) == 1 && said[0] != strconv.FormatInt(r.ContentLength, 10):
		return errOddHeader
	}
	return nil
}

// onlyPath tells whether u has no scheme, no host and no "#". One front-end takes a "#"
// for data, another one for the end.
func onlyPath(u *url.URL) bool {
	return u.Scheme == "" && u.Host == "" && u.Opaque == "" && u.User == nil && u.Fragment == "" &&
		strings.IndexByte(u.RawQuery, '#') < 0 && (u.RawPath == "" || strings.IndexByte(u.RawPath, '#') < 0)
}

// Early tells whether r came before its TLS handshake has ended, in QUIC's early data. It may
// be a copy of an earlier request, and its sender has not shown that the address is his
// (RFC 9001, 9.2; RFC 8470). Over TCP no server of Go's takes early data.
func Early(r *http.Request) bool {
	return r.ProtoMajor >= 3 && r.TLS != nil && !r.TLS.HandshakeComplete
}

// plainType tells whether a filter leaves the media type of a Content-Type alone, which the
// platform reads after it. PHP reads forms before.
func plainType(values []string) bool {
	return !slices.ContainsFunc(values, func(value string) bool {
		if end := strings.IndexByte(value, ';'); end > 0 { // at the beginning it ends nothing
			value = value[:end]
		}
		return between.Filtered(strings.Trim(value, " \t")) // the platform trims it, too
	})
}

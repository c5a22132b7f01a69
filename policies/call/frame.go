package call

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// deciding are the headers that determine the call or the caller. If one is sent
// twice, web servers take the first, the last, both or neither (docs/platform
// I.12, 5). The platform's nonce header is one more.
var deciding = []string{
	"Content-Type", overrideHeader, "Authorization", "Cookie", "Content-Encoding", "Content-Length",
	"X-Signature", "X-Timestamp", "X-Mcp-Api-Key", "Origin", "Cart-Token", "Nonce",
}

// frame refuses calls whose headers do not reach every back-end as they stand
// (docs/design 5; docs/platform I.7, 1 and I.12).
func (rd *Reader) frame(r *http.Request) *Refusal {
	h := r.Header
	for _, name := range deciding {
		if len(h[name]) > 1 {
			return twiceHeader
		}
		if !plainValue(h[name]) {
			return oddHeader
		}
	}
	switch {
	case !plainValue(h[rd.nonce]):
		return oddHeader
	case len(h[rd.nonce]) > 1, secondHost(r): // FastCGI believes the header
		return twiceHeader
	case !quietConnection(h["Connection"]):
		return badConnection
	case len(h["Upgrade"]) > 0:
		return upgradeHeader
	case len(r.Trailer) > 0: // some back-ends merge trailers into the header
		return twiceHeader
	case rd.aliases(h):
		return aliasHeader
	}
	return nil
}

// plainValue tells whether the values of a header reach every back-end as they
// are: HTTP/2 and 3 keep blanks around them that HTTP/1.1 drops.
func plainValue(values []string) bool {
	for _, v := range values {
		if len(v) > maxTarget || v != strings.Trim(v, " \t") {
			return false
		}
	}
	return true
}

// secondHost tells whether a header Host says something else than :authority;
// HTTP/3 leaves it there where both are the same.
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
		if strings.IndexByte(name, '_') < 0 && strings.IndexByte(name, '.') < 0 {
			continue
		}
		folded := http.CanonicalHeaderKey(strings.NewReplacer("_", "-", ".", "-").Replace(name))
		if _, ok := h[folded]; ok || folded == rd.nonce {
			return true
		}
		for _, d := range deciding {
			if folded == d {
				return true
			}
		}
	}
	return false
}

// maxTarget bounds target and deciding headers, in bytes: Caddy's FastCGI client cuts
// what is longer than 64 KiB, and other readers at limits of their own.
const maxTarget = 32 << 10

// target refuses what is not a path with a query and nothing else, on pages too:
// front-ends take the path of such a target from where they like, and what the
// platform makes of it stands nowhere in it. After the site's rewrites the first
// slash may be gone.
func (rd *Reader) target(current, original *url.URL) *Refusal {
	client := current
	if original != nil {
		client = original
	}
	switch {
	case !onlyPath(current), !onlyPath(client), !strings.HasPrefix(client.Path, "/"):
		return badTarget
	case strings.IndexByte(client.RawQuery, ' ') >= 0: // in HTTP/2 and 3; the end of the target to some
		return badTarget
	case 3*len(client.Path)+len(client.RawQuery) > maxTarget, 3*len(current.Path)+len(current.RawQuery) > maxTarget:
		return badTarget // a byte of the path may stand there as three
	case namesRoute(client.Path), current != client && namesRoute(current.Path):
		return badPath
	}
	if refusal := rd.cutPath(client); refusal != nil || current == client {
		return refusal
	}
	return rd.cutPath(current) // FastCGI gets the one, a proxy the other
}

// namesRoute tells whether a path would name a route in a query: some servers put it into
// one as it is, decoded (nginx: /index.php?q=$uri&$args), and Caddy's rewrite takes what
// stands behind "?" in a placeholder for one.
func namesRoute(path string) bool {
	if !strings.ContainsAny(path, "?&%") {
		return false
	}
	path = decodeAll(path)
	i := strings.IndexAny(path, "?&")
	return i >= 0 && phpvars.Has(strings.ReplaceAll(path[i+1:], "?", "&"), routeVar)
}

// endsEarly tells whether a path holds what ends one, or begins a variable.
func endsEarly(path string) bool { return strings.ContainsAny(decodeAll(path), "?&#") }

// oddLength refuses where what the client says of the length of its body is not what the
// server has made of it: FastCGI back-ends get it as it was sent, and would wait.
func oddLength(r *http.Request) *Refusal {
	switch said := r.Header["Content-Length"]; {
	case len(said) > 1:
		return twiceHeader
	case len(said) == 1 && said[0] != strconv.FormatInt(r.ContentLength, 10):
		return oddHeader
	}
	return nil
}

// onlyPath tells whether u has no scheme, no host and no "#", which one front-end
// takes for data and the next for the end.
func onlyPath(u *url.URL) bool {
	return u.Scheme == "" && u.Host == "" && u.Opaque == "" && u.User == nil && u.Fragment == "" &&
		strings.IndexByte(u.RawQuery, '#') < 0 && (u.RawPath == "" || strings.IndexByte(u.RawPath, '#') < 0)
}

package caller

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// withKey adds a shop key to q, and what makes the shop accept it (docs/platform III.8). The
// shop takes a key itself over https only. Over plain http it takes a signature, so that no
// secret is sent. The error wraps ask.ErrUndecided.
func (w *Whole) withKey(q *ask.Question) error {
	s := w.Site
	if q.Form == call.Query {
		marker := s.Prefix + strings.TrimPrefix(s.Platform.KeyMarker, s.Platform.Prefix) + "/"
		q.Query = ask.WithPair(q.Query, "_marker="+marker)
	}
	if w.Secure {
		q.Header = http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(q.Key))}}
		return nil
	}
	at, err := w.home(q)
	if err != nil {
		return err
	}
	unsigned := *q
	again := func(envelope, slash bool) ask.Question {
		signed := unsigned
		signed.Envelope, signed.Slash = envelope, slash
		other := signed // PHP may have been told that the client came by https
		s.sign(&other, at, "https")
		s.sign(&signed, at, "http")
		signed.Else = &other
		return signed
	}
	*q = again(q.Envelope, q.Slash)
	q.Again = again
	return nil
}

// home is a site's home address without its scheme.
type home struct{ host, path string }

// home returns the home address with which the shop verifies a signature: that of the REST
// root, or the one that the client asks for. The shop's path then cannot be told from the
// question's.
func (w *Whole) home(q *ask.Question) (home, error) {
	if w.Site.Home != nil {
		if text := w.Site.Home(w); text != "" {
			at, ok := parseHome(text)
			if !ok {
				return home{}, fmt.Errorf("%w: the REST root gives a home address that is none, so that no question can be signed for it", ask.ErrUndecided)
			}
			return at, nil
		}
	}
	folder := q.Base
	if q.Form == call.Query {
		folder = folder[:max(0, strings.LastIndexByte(folder, '/'))]
	}
	at, ok := parseHome("http://" + w.HTTP.Host + folder)
	if !ok {
		return home{}, fmt.Errorf("%w: no question can be signed for the Host that the client names", ask.ErrUndecided)
	}
	return at, nil
}

var homeAddress = regexp.MustCompile(`^(?i:https?)://([^/?#@\\<>"\x00-\x20\x7f]{1,300})(/[^?#\\<>"\x00-\x20\x7f]{0,900})?$`)

// parseHome reads a home address, "http://shop.example:8080/blog".
func parseHome(text string) (at home, ok bool) {
	parts := homeAddress.FindStringSubmatch(text)
	if parts == nil {
		return home{}, false
	}
	return home{parts[1], strings.TrimRight(parts[2], "/")}, true
}

// url returns the address that the shop takes for that of a request to path: it drops the
// home's folder from the path and puts the home before it, with no slash behind a bare home.
func (h home) url(scheme, path string) string {
	folder := h.path + "/"
	path = strings.TrimLeft(strings.TrimPrefix(path, folder), "/")
	if path == "" {
		return scheme + "://" + h.host + h.path
	}
	return scheme + "://" + h.host + folder + path
}

// sign adds an OAuth 1.0a signature of q's key to the query of q, where every server hands it
// on (docs/platform III.8).
func (s *Site) sign(q *ask.Question, at home, scheme string) {
	key, secret, _ := strings.Cut(q.Key, ":")
	q.Query = ask.WithPair(q.Query, url.Values{
		"oauth_consumer_key": {key}, "oauth_nonce": {rand.Text()}, "oauth_signature_method": {"HMAC-SHA256"},
		"oauth_timestamp": {strconv.FormatInt(s.Now().Unix(), 10)},
	}.Encode())
	path, query := q.Target(s.Prefix)
	if r := q.Rewritten; r != nil && r.Script != "" { // the shop signs REQUEST_URI
		path, _ = q.Client(s.Prefix)
	}
	mac := hmac.New(sha256.New, []byte(secret+"&"))
	mac.Write([]byte(signatureBase(cmp.Or(q.Method, http.MethodGet), at.url(scheme, path), phpvars.Query(query))))
	q.Query += "&oauth_signature=" + url.QueryEscape(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

// signatureBase returns the text that the shop signs.
func signatureBase(method, address string, params *phpvars.Array) string {
	var pairs []string
	for _, name := range slices.Sorted(slices.Values(params.Keys())) {
		v, _ := params.Get(name)
		pairs = appendPairs(pairs, percent(name), v)
	}
	return method + "&" + percent(address) + "&" + strings.Join(pairs, "%26")
}

// appendPairs appends the pairs of one parameter. Names inside of an array are encoded once,
// all else twice, as the shop does.
func appendPairs(pairs []string, name string, v phpvars.Value) []string {
	array, ok := v.(*phpvars.Array)
	if !ok {
		text, _ := v.(string)
		return append(pairs, percent(name+"="+percent(text)))
	}
	for _, key := range array.Keys() {
		item, _ := array.Get(key)
		pairs = appendPairs(pairs, name+"%5B"+key+"%5D", item)
	}
	return pairs
}

// percent encodes s by RFC 3986.
func percent(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

package site

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The namespaces of the plugins; plugins have their own under both platforms.
const (
	consentNS = "consent/v1"
	feedNS    = "feed"
	cookieNS  = "cookie/v1"
	payNS     = "pay/v1"
)

// signatureTolerance is how old or new a signed timestamp may be; the
// interface leaves it open (docs/project/interface 8).
const signatureTolerance = 5 * time.Minute

// maxLog bounds what anonymous callers can make the plugins remember.
const maxLog = 1000

// feedPlugin is the feed plugin: its public identifier, and its options with
// the secrets that its troubleshooting route gives away.
type feedPlugin struct {
	publicID string
	options  obj
}

// cookiePlugin is the cookie-consent plugin.
type cookiePlugin struct {
	key  string
	auth obj // what store-auth stored last
	logo string
}

func pluginPaths() Routes {
	return Routes{
		Consent: "/" + consentNS + "/consent", Troubleshooting: "/" + feedNS + "/troubleshooting",
		StoreAuth: "/" + cookieNS + "/store-auth", UploadLogo: "/" + cookieNS + "/upload-logo", Notify: "/" + payNS + "/notify",
	}
}

func (s *Site) pluginRoutes() {
	rt := &s.router
	rt.add(consentNS, "/consent", creating, endpoint{args: args{"consent": {}}, run: writeConsent})
	rt.add(consentNS, "/log", reading, endpoint{args: collection, allow: func(q *request) error {
		if !q.can("manage_options") {
			return q.forbidden()
		}
		return nil
	}, run: func(q *request) (any, error) { return page(q, s.consents), nil }})
	rt.add(feedNS, "/troubleshooting", reading, endpoint{allow: mayTroubleshoot, run: func(_ *request) (any, error) {
		return s.feed.options, nil
	}})
	rt.add(cookieNS, "/store-auth", creating, endpoint{allow: cookieVerified, run: func(q *request) (any, error) {
		s.cookies.auth = q.fields()
		return obj{"success": true}, nil
	}})
	if s.opt.CookiePlugin == "4.4.1" {
		rt.add(cookieNS, "/upload-logo", creating, endpoint{run: func(q *request) (any, error) {
			sum := sha256.Sum256(q.body)
			s.cookies.logo = hex.EncodeToString(sum[:8]) + ".png"
			return obj{"success": true, "url": s.origin(q.wire) + s.script("content/uploads/"+s.cookies.logo)}, nil
		}})
	}
	rt.add(payNS, "/notify", creating, endpoint{run: func(q *request) (any, error) {
		s.notifications = appendBounded(s.notifications, q.fields())
		return obj{"received": true}, nil
	}})
}

// fields are the parameters of the call's body.
func (q *request) fields() obj {
	if q.json != nil {
		return q.json
	}
	return q.form
}

func appendBounded(log []obj, entry obj) []obj {
	if len(log) == maxLog {
		log = log[1:]
	}
	return append(log, entry)
}

// writeConsent logs a visitor's choice (docs/project/interface E12).
func writeConsent(q *request) (any, error) {
	entry := obj{"id": q.site.id(), "date": q.site.opt.Now().UTC().Format(date), "choice": q.fields()}
	q.site.consents = appendBounded(q.site.consents, entry)
	return obj{"success": true, "id": entry["id"]}, nil
}

// mayTroubleshoot lets in whoever knows the public identifier and the time
// (docs/project/interface E13), and administrators.
func mayTroubleshoot(q *request) error {
	if q.can("manage_options") {
		return nil
	}
	stamp := q.header.Get("X-Timestamp")
	if q.freshStamp(stamp) && equal(sign(q.site.feed.publicID, stamp), q.header.Get("X-Signature")) {
		return nil
	}
	return q.forbidden()
}

var decimal = regexp.MustCompile(`\A[0-9]{1,12}\z`)

func (q *request) freshStamp(stamp string) bool {
	if !decimal.MatchString(stamp) {
		return false
	}
	seconds, _ := strconv.ParseInt(stamp, 10, 64)
	return q.site.opt.Now().Sub(time.Unix(seconds, 0)).Abs() <= signatureTolerance
}

// cookieVerified is the request verification of the cookie plugin from 4.4.2 on
// (docs/project/interface E14, section 9). The document does not say what is signed:
// both the timestamp, as in E13, and timestamp, method, route and body will do.
func cookieVerified(q *request) error {
	if q.site.opt.CookiePlugin == "4.4.1" {
		return nil
	}
	stamp, sum := q.header.Get("X-Timestamp"), sha256.Sum256(q.body)
	message := strings.Join([]string{stamp, q.method, q.route, hex.EncodeToString(sum[:])}, "\n")
	for _, signed := range []string{stamp, message} {
		if q.freshStamp(stamp) && equal(sign(q.site.cookies.key, signed), q.header.Get("X-Signature")) {
			return nil
		}
	}
	return fail(http.StatusUnauthorized, "rest_invalid_signature", "The request signature is missing or invalid.")
}

// fatal is what a fault makes of a call before its route is looked at: from platform 7.0
// on the multilingual plugin's lang parameter breaks the editor's calls, a blocked root is
// not found (docs/project/interface 7, and 9, rule 6).
func (s *Site) fatal(q *request) error {
	switch s.opt.Fault {
	case faultMultilingual:
		_, inQuery := q.query["lang"]
		_, inForm := q.form["lang"]
		if s.coreSince("7.0") && (inQuery || inForm) && hasPrefixFold(q.route, "/"+s.names.Core+"/") {
			return errFatal()
		}
	case faultBlockedRoot:
		if q.route == "/" {
			return errNoRoute()
		}
	}
	return nil
}

package signature

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/restwarden/restwarden/policies/call"
)

const (
	// maxMACs bounds the signatures in one header; providers send one per key.
	maxMACs = 8
	// maxSignature bounds the length of one header of a scheme, in bytes.
	maxSignature = 2048
)

// given is what a request states about its signature.
type given struct {
	macs  [][]byte
	stamp string // UNIX seconds, as sent
	id    string // of the message
}

// scheme is one way to sign. All of them are HMAC-SHA256.
type scheme struct {
	signature, timestamp, id string // headers; "" if the scheme has none
	renamable                bool   // the site may choose the names of the headers
	timed                    bool   // a timestamp is signed
	// read reads the signature header. It returns false for what no honest client sends.
	read func(header string, g *given) bool
	// message returns what is signed; an error is a *call.Refusal.
	message func(c *call.Call, g given) ([]byte, error)
	// sum computes the signature of message under key.
	sum func(key string, g given, message []byte) ([]byte, error)
	// once returns what is remembered of a valid signature.
	once func(key string, g given, sum []byte) []byte
	// checkKey, if set, checks a key when the configuration is loaded.
	checkKey func(key string) error
}

var schemeNames = []string{"timestamp", "request", "woocommerce", "stripe", "github", "standard"}

// The headers of the schemes whose headers a site may rename.
const (
	signatureHeader = "X-Signature"
	timestampHeader = "X-Timestamp"
)

var schemes = map[string]scheme{
	// docs/project/interface E13: X-Signature, hex, over the text of X-Timestamp.
	"timestamp": {
		signature: signatureHeader, timestamp: timestampHeader, renamable: true, timed: true,
		read: readHex, message: stampOnly, sum: hmacSum, once: bySignature,
	},
	// timestamp LF METHOD LF route LF hex(sha256(body)) (docs/policies/signature.md).
	"request": {
		signature: signatureHeader, timestamp: timestampHeader, renamable: true, timed: true,
		read: readHex, message: wholeRequest, sum: hmacSum, once: bySignature,
	},
	// WC_Webhook::generate_signature: base64 over the body.
	"woocommerce": {
		signature: "X-WC-Webhook-Signature", read: readBase64, message: bodyOnly, sum: hmacSum, once: bySignature,
	},
	// Stripe: t=<seconds>,v1=<hex>[,v1=<hex>…] over t "." body. Other versions are
	// ignored, as Stripe says.
	"stripe": {
		signature: "Stripe-Signature", timed: true,
		read: readStripe, message: stampAndBody, sum: hmacSum, once: bySignature,
	},
	// GitHub: sha256=<hex> over the body.
	"github": {
		signature: "X-Hub-Signature-256", read: readGitHub, message: bodyOnly, sum: hmacSum, once: bySignature,
	},
	// Standard Webhooks 1.0: "v1,<base64>" separated by blanks, over id "." seconds "."
	// body, computed by the library of the standard.
	"standard": {
		signature: standardwebhooks.HeaderWebhookSignature, timestamp: standardwebhooks.HeaderWebhookTimestamp,
		id: "Webhook-Id", timed: true,
		read: readStandard, message: bodyOnly, sum: standardSum, once: byMessageID, checkKey: checkStandardKey,
	},
}

// readHex reads exactly 64 lower-case hex digits.
func readHex(text string, g *given) bool {
	mac, _ := hex.DecodeString(text)
	g.macs = append(g.macs, mac)
	return len(mac) == sha256.Size && hex.EncodeToString(mac) == text
}

func readGitHub(header string, g *given) bool {
	text, ok := strings.CutPrefix(header, "sha256=")
	return ok && readHex(text, g)
}

// readBase64 reads the canonical spelling of 32 bytes.
func readBase64(text string, g *given) bool {
	mac, _ := base64.StdEncoding.DecodeString(text)
	g.macs = append(g.macs, mac)
	return len(mac) == sha256.Size && base64.StdEncoding.EncodeToString(mac) == text
}

func readStripe(header string, g *given) bool {
	for item := range strings.SplitSeq(header, ",") {
		name, value, ok := strings.Cut(item, "=")
		switch {
		case !ok:
			return false
		case name == "t" && (g.stamp != "" || value == ""):
			return false
		case name == "t":
			g.stamp = value
		case name == "v1" && !readHex(value, g):
			return false
		}
	}
	return g.stamp != ""
}

// readStandard also checks the id: with a full stop in it, id and timestamp could be
// split in another place.
func readStandard(header string, g *given) bool {
	for _, c := range []byte(g.id) {
		if c <= ' ' || c > '~' || c == '.' {
			return false
		}
	}
	for item := range strings.SplitSeq(header, " ") {
		version, value, ok := strings.Cut(item, ",")
		if !ok || version == "v1" && !readBase64(value, g) { // v1a is asymmetric
			return false
		}
	}
	return g.id != ""
}

func stampOnly(_ *call.Call, g given) ([]byte, error) { return []byte(g.stamp), nil }

func bodyOnly(c *call.Call, _ given) ([]byte, error) { return signedBody(c) }

func stampAndBody(c *call.Call, g given) ([]byte, error) {
	body, err := signedBody(c)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte(g.stamp), []byte("."), body), nil
}

// wholeRequest returns what scheme request signs. The query is not signed. A call is
// refused if its query holds more than the route and the method, since anybody could have
// added the rest.
func wholeRequest(c *call.Call, g given) ([]byte, error) {
	for _, name := range c.QueryNames() {
		if name != "rest_route" && name != "_method" {
			return nil, call.Ambiguous("unsigned_query")
		}
	}
	body, err := signedBody(c)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(body)
	return []byte(g.stamp + "\n" + c.Method + "\n" + c.Route + "\n" + hex.EncodeToString(digest[:])), nil
}

// signedBody returns the body as received. The content type is not signed: PHP would
// split JSON that is sent as a form at every ampersand in a text.
func signedBody(c *call.Call) ([]byte, error) {
	body, err := c.RawBody()
	if err != nil {
		return nil, err
	}
	text := bytes.TrimSpace(body)
	if len(text) > 0 && (text[0] == '{' || text[0] == '[') && bytes.ContainsAny(text, "&=") && c.MayBeURLEncoded() {
		return nil, call.Ambiguous("signed_body_type")
	}
	return body, nil
}

func hmacSum(key string, _ given, message []byte) ([]byte, error) {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write(message)
	return mac.Sum(nil), nil
}

func standardSum(key string, g given, body []byte) ([]byte, error) {
	signer, err := standardwebhooks.NewWebhook(key)
	if err != nil {
		return nil, errors.New("the key cannot be read")
	}
	seconds, err := strconv.ParseInt(g.stamp, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("timestamp: %w", err)
	}
	text, err := signer.Sign(g.id, time.Unix(seconds, 0), body)
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(strings.TrimPrefix(text, "v1,"))
}

// checkStandardKey accepts non-zero base64 after an optional whsec_.
func checkStandardKey(key string) error {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(key, "whsec_"))
	if err != nil || len(bytes.Trim(secret, "\x00")) == 0 {
		return errors.New("not a secret in base64")
	}
	return nil
}

func bySignature(_ string, _ given, sum []byte) []byte { return sum }

// byMessageID identifies a message that its sender signs anew. Ids belong to one sender,
// so the record includes the key.
func byMessageID(key string, g given, _ []byte) []byte {
	sum, _ := hmacSum(key, g, []byte("message id "+g.id)) // hmacSum returns no error
	return sum
}

// UsualHeaders are those of a signature under the names that a site need not give.
var UsualHeaders = []string{signatureHeader, timestampHeader}

// SchemeHeaders returns the headers of all schemes under their usual names, some twice or "".
func SchemeHeaders() (names []string) {
	for _, name := range schemeNames {
		s := schemes[name]
		names = append(names, s.signature, s.timestamp, s.id)
	}
	return names
}

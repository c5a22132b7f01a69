package policies

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
	// maxMACs bounds the signatures of one header; providers send one per key.
	maxMACs = 8
	// maxSignature bounds a header of a scheme, in bytes.
	maxSignature = 2048
)

// given is what a request says of its signature.
type given struct {
	macs  [][]byte
	stamp string // UNIX seconds, as sent
	id    string // of the message
}

// scheme is one way to sign. All of them are HMAC-SHA256.
type scheme struct {
	signature, timestamp, id string // headers; "" where there is none
	renamable                bool   // the headers' names are the site's to choose
	timed                    bool   // a timestamp is signed
	// read reads the signature header; false where no honest client sends it.
	read func(header string, g *given) bool
	// message is what is signed; an error is a *call.Refusal.
	message func(c *call.Call, g given) ([]byte, error)
	// sum is the signature of message under key.
	sum func(key string, g given, message []byte) ([]byte, error)
	// once is what is remembered of a right signature.
	once func(key string, g given, sum []byte) []byte
	// checkKey, where set, looks at a key when the configuration is loaded.
	checkKey func(key string) error
}

var schemeNames = []string{"timestamp", "request", "woocommerce", "stripe", "github", "standard"}

var schemes = map[string]scheme{
	// Interface document E13: X-Signature, hex, over the text of X-Timestamp.
	"timestamp": {
		signature: "X-Signature", timestamp: "X-Timestamp", renamable: true, timed: true,
		read: readHex, message: stampOnly, sum: hmacSum, once: bySignature,
	},
	// timestamp LF METHOD LF route LF hex(sha256(body)), docs/design 6.
	"request": {
		signature: "X-Signature", timestamp: "X-Timestamp", renamable: true, timed: true,
		read: readHex, message: wholeRequest, sum: hmacSum, once: bySignature,
	},
	// WC_Webhook::generate_signature: base64 over the body.
	"woocommerce": {
		signature: "X-WC-Webhook-Signature", read: readBase64, message: bodyOnly, sum: hmacSum, once: bySignature,
	},
	// Stripe: t=<seconds>,v1=<hex>[,v1=<hex>…] over t "." body; other versions
	// are ignored, as Stripe says.
	"stripe": {
		signature: "Stripe-Signature", timed: true,
		read: readStripe, message: stampAndBody, sum: hmacSum, once: bySignature,
	},
	// GitHub: sha256=<hex> over the body.
	"github": {
		signature: "X-Hub-Signature-256", read: readGitHub, message: bodyOnly, sum: hmacSum, once: bySignature,
	},
	// Standard Webhooks 1.0: "v1,<base64>" separated by blanks, over id "." seconds
	// "." body, computed by its own library.
	"standard": {
		signature: standardwebhooks.HeaderWebhookSignature, timestamp: standardwebhooks.HeaderWebhookTimestamp,
		id: "Webhook-Id", timed: true,
		read: readStandard, message: bodyOnly, sum: standardSum, once: byMessageID, checkKey: checkStandardKey,
	},
}

// readHex reads exactly 64 lower-case hex digits.
func readHex(header string, g *given) bool {
	mac, ok := lowerHex(header)
	g.macs = [][]byte{mac}
	return ok
}

func lowerHex(text string) ([]byte, bool) {
	mac, err := hex.DecodeString(text)
	return mac, err == nil && len(mac) == sha256.Size && strings.ToLower(text) == text
}

func readGitHub(header string, g *given) bool {
	text, ok := strings.CutPrefix(header, "sha256=")
	return ok && readHex(text, g)
}

// readBase64 reads the one canonical spelling of 32 bytes.
func readBase64(header string, g *given) bool {
	mac, ok := canonicalBase64(header)
	g.macs = [][]byte{mac}
	return ok
}

func canonicalBase64(text string) ([]byte, bool) {
	mac, err := base64.StdEncoding.Strict().DecodeString(text)
	return mac, err == nil && len(mac) == sha256.Size && base64.StdEncoding.EncodeToString(mac) == text
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
		case name == "v1":
			mac, ok := lowerHex(value)
			if !ok {
				return false
			}
			g.macs = append(g.macs, mac)
		}
	}
	return g.stamp != ""
}

// readStandard also looks at the id: a full stop in it would let id and
// timestamp be cut in another place.
func readStandard(header string, g *given) bool {
	for _, c := range []byte(g.id) {
		if c <= ' ' || c > '~' || c == '.' {
			return false
		}
	}
	for item := range strings.SplitSeq(header, " ") {
		version, value, ok := strings.Cut(item, ",")
		if !ok {
			return false
		}
		if version != "v1" {
			continue // v1a is asymmetric
		}
		mac, ok := canonicalBase64(value)
		if !ok {
			return false
		}
		g.macs = append(g.macs, mac)
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

// wholeRequest is what scheme request signs. The query is not signed, so that a
// call with more in it than what names the route and the method is refused: the
// rest would be anybody's.
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

// signedBody is the body as received. Its type is not signed: JSON sent as a
// form would be cut wherever somebody has written an ampersand in a text.
func signedBody(c *call.Call) ([]byte, error) {
	body, err := c.RawBody()
	text := bytes.TrimSpace(body)
	if err == nil && len(text) > 0 && (text[0] == '{' || text[0] == '[') && bytes.ContainsAny(text, "&=") && c.MayBeURLEncoded() {
		return nil, call.Ambiguous("signed_body_type")
	}
	return body, err
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

// checkStandardKey wants base64 behind an optional whsec_, and something in it.
func checkStandardKey(key string) error {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(key, "whsec_"))
	if err != nil || len(bytes.Trim(secret, "\x00")) == 0 {
		return errors.New("not a secret in base64")
	}
	return nil
}

func bySignature(_ string, _ given, sum []byte) []byte { return sum }

// byMessageID knows a message again that its sender signs anew; the id is one of
// the sender's, so the key stands for it.
func byMessageID(key string, g given, _ []byte) []byte {
	sum, _ := hmacSum(key, g, []byte("message id "+g.id)) // it has no error
	return sum
}

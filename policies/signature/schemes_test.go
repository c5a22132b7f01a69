package signature

import (
	"encoding/base64"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

const hookBody = `{"id":7,"status":"processing"}`

// The signatures of hookBody were computed with OpenSSL:
//
//	printf '%s' "$BODY" | openssl dgst -sha256 -hmac wc-secret -binary | base64
//	printf '1800000000.%s' "$BODY" | openssl dgst -sha256 -hmac whsec_stripe
//	printf '1800000000.%s' "$BODY" | openssl dgst -sha256 -hmac whsec_older
//
// The others are the providers' own: GitHub's documentation ("Validating webhook
// deliveries") and the test vector of the Standard Webhooks libraries, the latter
// also with another timestamp:
//
//	printf 'msg_p5jXN8AQM9LWM0D4loKWxJek.1800000000.{"test": 2432232314}' |
//	openssl dgst -sha256 -mac HMAC -macopt hexkey:$KEY -binary | base64
const (
	wcMAC        = "95Q7rlZITO3fdOnJ+WWRW4c1UZDFcP5HYL/On9cN600="
	stripeMAC    = "717720b0b98f5437bb9a4961b256af16c88040f4f07f59cbb434e8eb454fe32f"
	olderMAC     = "8bf850362885f0baa44bac9e3940a9e91a3196b2e8160c3d0e80b8cf59d24903"
	githubMAC    = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	standardMAC  = "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	standard1800 = "AL7mOe2AhAp1OFww7CHa9hUnkzz2IafPrT57WYfzeDI="

	githubKey    = "It's a Secret to Everybody"
	githubBody   = "Hello, World!"
	standardKey  = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	standardID   = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	standardBody = `{"test": 2432232314}`
	zeros        = "0000000000000000000000000000000000000000000000000000000000000000"
)

// hook is a valid delivery; tests change one thing of it.
type hook struct {
	scheme, body string
	keys         []string
	now          int64
	headers      []string
}

func hooks() map[string]hook {
	standard := func(stamp, mac string) []string {
		return []string{"Webhook-Id: " + standardID, "Webhook-Timestamp: " + stamp, "Webhook-Signature: v1," + mac}
	}
	return map[string]hook{
		"woocommerce":  {"woocommerce", hookBody, []string{"wc-secret"}, 1_800_000_000, []string{"X-WC-Webhook-Signature: " + wcMAC}},
		"stripe":       {"stripe", hookBody, []string{"whsec_stripe"}, 1_800_000_000, []string{"Stripe-Signature: t=1800000000,v1=" + stripeMAC}},
		"github":       {"github", githubBody, []string{githubKey}, 1_800_000_000, []string{"X-Hub-Signature-256: sha256=" + githubMAC}},
		"standard":     {"standard", standardBody, []string{standardKey}, 1614265330, standard("1614265330", standardMAC)},
		"standard now": {"standard", standardBody, []string{standardKey}, 1_800_000_000, standard("1800000000", standard1800)},
		"without whsec_": {
			"standard", standardBody, []string{strings.TrimPrefix(standardKey, "whsec_")}, 1614265330, standard("1614265330", standardMAC),
		},
		"several standard": {"standard", standardBody, []string{standardKey}, 1614265330, []string{
			"Webhook-Id: " + standardID, "Webhook-Timestamp: 1614265330",
			"Webhook-Signature: v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc= v2,xyz v1a,abc v1," + standardMAC,
		}},
		"several stripe": {"stripe", hookBody, []string{"whsec_stripe"}, 1_800_000_000, []string{
			"Stripe-Signature: t=1800000000,v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39,v1=" + zeros + ",v1=" + stripeMAC,
		}},
		"stripe, rotated": {"stripe", hookBody, []string{"whsec_stripe", "whsec_older"}, 1_800_000_000, []string{"Stripe-Signature: t=1800000000,v1=" + olderMAC}},
		"woocommerce, rotated": {
			"woocommerce", hookBody, []string{"new", "wc-secret"}, 1_800_000_000, []string{"X-WC-Webhook-Signature: " + wcMAC},
		},
	}
}

// verify tells whether the delivery passes, at a site with one signature.
func (h hook) verify(tb testing.TB, s *policy.Site, p *Signatures) bool {
	tb.Helper()
	s.Now = func() time.Time { return time.Unix(h.now, 0) }
	r := policytest.Request(tb, s, nil, "POST", "/wp-json/cookie/v1/hook", h.body, append([]string{"Content-Type: application/octet-stream"}, h.headers...)...)
	r.Matched.Rule = signedRule(s)
	v, err := p.Check(tb.Context(), r)
	if err != nil {
		tb.Fatal(err)
	}
	return !v.Refused()
}

func (h hook) signature() *Signature {
	return &Signature{Name: "cookie", Scheme: h.scheme, Keys: h.keys}
}

func TestSignature_Vectors(t *testing.T) {
	for name, h := range hooks() {
		s, p := signed(t, h.signature())
		if !h.verify(t, s, p) {
			t.Errorf("%s: refused", name)
		}
	}
}

// TestSignature_Tampered: no part of a valid delivery can be changed.
func TestSignature_Tampered(t *testing.T) {
	for name, h := range hooks() {
		t.Run(name, func(t *testing.T) {
			s, p := signed(t, h.signature())
			refused := func(what string, change func(*hook)) {
				t.Helper()
				changed := h
				changed.headers = append([]string(nil), h.headers...)
				changed.keys = append([]string(nil), h.keys...)
				change(&changed)
				if changed.verify(t, s, p) {
					t.Errorf("%s: passes", what)
				}
			}
			last := len(h.headers) - 1
			refused("another body", func(h *hook) { h.body += " " })
			refused("no body", func(h *hook) { h.body = "" })
			refused("no header", func(h *hook) { h.headers = nil })
			refused("header twice", func(h *hook) { h.headers = append(h.headers, h.headers[last]) })
			refused("joined header", func(h *hook) {
				_, value, _ := strings.Cut(h.headers[last], ": ")
				h.headers[last] += "," + value
			})
			refused("an alias beside it", func(h *hook) {
				name, value, _ := strings.Cut(h.headers[last], ": ")
				h.headers = append(h.headers, strings.ReplaceAll(name, "-", "_")+": "+value)
			})
			refused("an alias with a dot", func(h *hook) {
				name, value, _ := strings.Cut(h.headers[last], ": ")
				h.headers = append(h.headers, strings.Replace(name, "-", ".", 1)+": "+value)
			})
			refused("only an alias", func(h *hook) { h.headers[last] = strings.ReplaceAll(h.headers[last], "-", "_") })
			refused("trailing blank", func(h *hook) { h.headers[last] += " " })
			refused("cut", func(h *hook) { h.headers[last] = h.headers[last][:len(h.headers[last])-1] })
			refused("upper case", func(h *hook) {
				name, value, _ := strings.Cut(h.headers[last], ": ")
				h.headers[last] = name + ": " + strings.ToUpper(value)
			})
			elsewhere, other := signed(t, &Signature{Name: "cookie", Scheme: h.scheme, Keys: []string{base64.StdEncoding.EncodeToString([]byte("another key"))}})
			if h.verify(t, elsewhere, other) {
				t.Error("another key: passes")
			}
		})
	}
}

// TestSignature_Timed: a timestamp counts within the tolerance in either direction, and
// in one spelling.
func TestSignature_Timed(t *testing.T) {
	all := hooks()
	for _, name := range []string{"stripe", "standard"} {
		h := all[name]
		s, p := signed(t, h.signature())
		for off, right := range map[int64]bool{-301: false, -300: true, 300: true, 301: false} {
			moved := h
			moved.now += off
			if moved.verify(t, s, p) != right {
				t.Errorf("%s, %d seconds off: passes %v", name, off, !right)
			}
		}
		for _, stamp := range []string{"+", "-", "0", " ", "1e9", "0x", ""} {
			odd := h
			odd.headers = strings.Split(strings.ReplaceAll(strings.Join(h.headers, "|"), "1800000000", stamp+"1800000000"), "|")
			odd.headers = strings.Split(strings.ReplaceAll(strings.Join(odd.headers, "|"), "1614265330", stamp+"1614265330"), "|")
			if odd.verify(t, s, p) != (stamp == "") {
				t.Errorf("%s: timestamp after %q", name, stamp)
			}
		}
	}
}

func TestSignature_StandardID(t *testing.T) {
	h := hooks()["standard"]
	s, p := signed(t, h.signature())
	for _, id := range []string{"", "a.b", standardID + " ", "ä", "x"} {
		h.headers[0] = "Webhook-Id: " + id
		if h.verify(t, s, p) {
			t.Errorf("id %q passes", id)
		}
	}
}

// TestSignature_OnceEverywhere: a delivery counts once, in any of its spellings, under
// any name and at any host.
func TestSignature_OnceEverywhere(t *testing.T) {
	for name, h := range hooks() {
		t.Run(name, func(t *testing.T) {
			sig, twin := h.signature(), h.signature()
			sig.Once, twin.Once = true, true
			twin.Name = "twin"
			s := policytest.NewSite(t)
			p := policytest.Provision(t, s, &Signatures{Signatures: []*Signature{sig, twin}})
			if !h.verify(t, s, p) {
				t.Fatal("the first use is refused")
			}
			if h.verify(t, s, p) {
				t.Error("the second use passes")
			}
			r := policytest.Request(t, s, nil, "POST", "http://alias.example/wp-json/cookie/v1/other", h.body, h.headers...)
			rule := policy.MustRule("signed cookie,twin", nil, "/cookie/v1/**")
			if err := rule.CheckNames(s); err != nil {
				t.Fatal(err)
			}
			r.Matched = policy.Match{Rule: &rule}
			if v, err := p.Check(t.Context(), r); err != nil || !v.Refused() {
				t.Errorf("under another name, host and route: %+v, %v", v, err)
			}
		})
	}
}

// TestSignature_OnceOfTwo: using one of two valid signatures uses both.
func TestSignature_OnceOfTwo(t *testing.T) {
	sig := &Signature{Name: "cookie", Scheme: "stripe", Keys: []string{"whsec_stripe", "whsec_older"}, Once: true}
	s, p := signed(t, sig)
	h := hook{"stripe", hookBody, nil, 1_800_000_000, []string{"Stripe-Signature: t=1800000000,v1=" + stripeMAC + ",v1=" + olderMAC}}
	if !h.verify(t, s, p) {
		t.Fatal("the first use is refused")
	}
	for _, mac := range []string{stripeMAC, olderMAC} {
		h.headers = []string{"Stripe-Signature: t=1800000000,v1=" + mac}
		if h.verify(t, s, p) {
			t.Errorf("%s is used again", mac)
		}
	}
}

// TestSignature_OnceWithOneKeyTwice: before a rotation the old key may equal the new one.
func TestSignature_OnceWithOneKeyTwice(t *testing.T) {
	h := hooks()["github"]
	s, p := signed(t, &Signature{Name: "cookie", Scheme: h.scheme, Keys: []string{githubKey, "other", githubKey}, Once: true})
	if !h.verify(t, s, p) || h.verify(t, s, p) {
		t.Error("it should count once")
	}
}

// TestSignature_OnceByMessageID: a message that its sender signs anew is the same
// message.
func TestSignature_OnceByMessageID(t *testing.T) {
	all := hooks()
	sig := all["standard"].signature()
	sig.Once = true
	s, p := signed(t, sig)
	if !all["standard"].verify(t, s, p) {
		t.Fatal("the first use is refused")
	}
	if all["standard now"].verify(t, s, p) {
		t.Error("the message counts twice")
	}
}

// TestSignature_Spellings: a sum has one spelling, that of the provider.
func TestSignature_Spellings(t *testing.T) {
	t.Parallel()
	hex32, short := strings.Repeat("ab", 32), strings.Repeat("ab", 31)
	base32 := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 32)))
	for name, tt := range map[string]struct {
		read  func(string, *given) bool
		right string
		wrong []string
	}{
		"hex":    {readHex, hex32, []string{"", short, hex32 + "ab", strings.ToUpper(hex32), hex32[:63], hex32 + "x", "x" + hex32[1:], hex32 + "\n"}},
		"github": {readGitHub, "sha256=" + hex32, []string{"", hex32, "sha1=" + hex32, "SHA256=" + hex32, "sha256=" + short, " sha256=" + hex32}},
		"base64": {readBase64, base32, []string{
			"", base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 31))), base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 33))),
			strings.TrimRight(base32, "="), base32[:20] + "\n" + base32[20:], base32 + "\r\n", base32 + base32, base32[:42] + "h=", "!" + base32[1:],
		}},
	} {
		if g := (given{}); !tt.read(tt.right, &g) || len(g.macs) != 1 || len(g.macs[0]) != 32 {
			t.Errorf("%s: %s is not read", name, tt.right)
		}
		for _, text := range tt.wrong {
			if tt.read(text, new(given)) {
				t.Errorf("%s: %q is read", name, text)
			}
		}
	}
	for id, right := range map[string]bool{"msg~1": true, "!": true, "msg\x7f": false, "msg\x80": false, " msg": false} {
		if g := (given{id: id}); readStandard("v1,"+base32, &g) != right {
			t.Errorf("the id %q: %v", id, !right)
		}
	}
}

// TestSignature_OneOfTwoUsed: a delivery with two valid signatures is a repeated one where either was used before.
func TestSignature_OneOfTwoUsed(t *testing.T) {
	t.Parallel()
	for used, other := range map[string]string{stripeMAC: olderMAC, olderMAC: stripeMAC} {
		h := hooks()["stripe, rotated"]
		signature := h.signature()
		signature.Once = true
		s, p := signed(t, signature)
		if h.headers = []string{"Stripe-Signature: t=1800000000,v1=" + used}; !h.verify(t, s, p) {
			t.Fatal("the first use is refused")
		}
		if h.headers = []string{"Stripe-Signature: t=1800000000,v1=" + used + ",v1=" + other}; h.verify(t, s, p) {
			t.Errorf("%s counts twice beside another", used)
		}
	}
}

// TestSignature_NoSum: a header without a sum of the scheme's version is no signature.
func TestSignature_NoSum(t *testing.T) {
	t.Parallel()
	for _, tt := range []hook{
		{scheme: "stripe", keys: []string{"k"}, headers: []string{"Stripe-Signature", "t=1800000000"}},
		{scheme: "stripe", keys: []string{"k"}, headers: []string{"Stripe-Signature", "t=1800000000,v0=" + stripeMAC}},
	} {
		_, p := signed(t, tt.signature())
		if _, ok := p.Signatures[0].given(http.Header{tt.headers[0]: tt.headers[1:]}); ok {
			t.Errorf("%q is taken for a signature", tt.headers)
		}
	}
}

// TestSignature_OwnHeaders: schemes that no provider has take headers under other names, and a tolerance of a day at most.
func TestSignature_OwnHeaders(t *testing.T) {
	t.Parallel()
	p := new(Signatures)
	policytest.Configure(t, p, policytest.Line("signature a", policytest.Line("key k"), policytest.Line("tolerance 24h"), policytest.Line("header signature X-Sig"), policytest.Line("header timestamp X-Time")))
	policytest.Provision(t, policytest.NewSite(t), p)
	if s := p.Signatures[0]; s.SignatureHeader != "X-Sig" || s.TimestampHeader != "X-Time" || s.Tolerance != policy.Duration(24*time.Hour) {
		t.Errorf("%+v", s)
	}
	header := func(lines ...string) policy.Option {
		options := []policy.Option{policytest.Line("key k")}
		for _, line := range lines {
			options = append(options, policytest.Line(line))
		}
		return policytest.Line("signature a", options...)
	}
	block := header("header signature X-Sig")
	block.Block[1].Block = []policy.Option{policytest.Line("x")}
	key := policytest.Line("signature a", policytest.Line("key k", policytest.Line("x")))
	for want, o := range map[string]policy.Option{
		"header takes signature or timestamp and a name":  header("header signature"),
		"header takes signature or timestamp and a name ": header("header signature X-Sig X-Other"),
		"header takes signature or timestamp and a name.": block,
		"signature":                     header("header signatur X-Sig"),
		"header":                        header("header signature X-Sig", "header signature X-Other"),
		"takes one secret or several":   key,
		"needs a name before its block": policytest.Line("signature", policytest.Line("key k")),
		"takes one name":                policytest.Line("signature a b"),
	} {
		if err := new(Signatures).Configure(o); err == nil || !strings.Contains(err.Error(), strings.TrimRight(want, " .")) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := new(Signatures).Configure(policytest.Line("signature", policytest.Line("lock on"))); err == nil || strings.Contains(err.Error(), "needs a name") {
		t.Errorf("a block without a name and with no option of a signature: %v", err)
	}
}

func TestSignature_SchemeOptions(t *testing.T) {
	for name, s := range map[string]*Signature{
		"tolerance without timestamp": {Name: "a", Keys: []string{"k"}, Scheme: "github", Tolerance: policy.Duration(time.Minute)},
		"tolerance, woocommerce":      {Name: "a", Keys: []string{"k"}, Scheme: "woocommerce", Tolerance: policy.Duration(time.Minute)},
		"header of a provider":        {Name: "a", Keys: []string{"k"}, Scheme: "stripe", SignatureHeader: "X-Sig"},
		"timestamp header":            {Name: "a", Keys: []string{"k"}, Scheme: "github", TimestampHeader: "X-Time"},
		"one header for both":         {Name: "a", Keys: []string{"k"}, SignatureHeader: "X-S", TimestampHeader: "x-s"},
		"standard key":                {Name: "a", Keys: []string{"whsec_not base64"}, Scheme: "standard"},
		"empty standard key":          {Name: "a", Keys: []string{"whsec_"}, Scheme: "standard"},
		"standard key with a tail":    {Name: "a", Keys: []string{standardKey + "!!"}, Scheme: "standard"},
		"zero standard key":           {Name: "a", Keys: []string{"whsec_AAAAAAAAAAAAAAAA"}, Scheme: "standard"},
		"too long":                    {Name: "a", Keys: []string{"k"}, Tolerance: policy.Duration(25 * time.Hour)},
	} {
		err := policytest.ProvisionError(policytest.NewSite(t), (&Signatures{Signatures: []*Signature{s}}))
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if strings.Contains(err.Error(), "whsec_") {
			t.Errorf("%s: the key shows: %v", name, err)
		}
	}
	for _, scheme := range schemeNames {
		if _, ok := schemes[scheme]; !ok {
			t.Errorf("scheme %s is not there", scheme)
		}
	}
	page, err := os.ReadFile("../../docs/policies/signature.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range schemeNames {
		if !strings.Contains(string(page), "\n| `"+scheme+"` | ") {
			t.Errorf("scheme %s: no row in docs/policies/signature.md", scheme)
		}
	}
	if len(schemes) != len(schemeNames) {
		t.Error("a scheme has no name")
	}
}

func BenchmarkSignature_Schemes(b *testing.B) {
	for name, h := range hooks() {
		b.Run(name, func(b *testing.B) {
			s := policytest.NewSite(b)
			p := policytest.Provision(b, s, &Signatures{Signatures: []*Signature{h.signature()}})
			s.Now = func() time.Time { return time.Unix(h.now, 0) }
			r := policytest.Request(b, s, nil, "POST", "/wp-json/cookie/v1/hook", h.body, h.headers...)
			r.Matched.Rule = signedRule(s)
			b.ReportAllocs()
			for b.Loop() {
				if v, err := p.Check(b.Context(), r); err != nil || v.Refused() {
					b.Fatal(v, err)
				}
			}
		})
	}
}

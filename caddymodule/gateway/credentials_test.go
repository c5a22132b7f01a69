package gateway

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/lists"
	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/signature"
)

// staffToken is a credential of a site's own.
var staffToken = caller.Own{Headers: []string{"X-Staff-Token"}, Cookies: []string{"staff"}}

const staffSite = "\trestwarden wordpress {\n\t\tlogin_only\n\t\tcredentials header X-Staff-Token\n\t\tcredentials cookie staff\n\t}\n"

// credentialsOf are the header lines for each place of a credential in the header.
func credentialsOf(p *platforms.Platform, value string) (lines []string) {
	for _, name := range caller.Headers(p, staffToken) {
		if name != "Cookie" {
			lines = append(lines, name+": "+value)
		}
	}
	return append(lines, "Cookie: staff="+value, "Cookie: "+p.LoginCookie()+"x="+value, "Cookie: "+p.AuthCookie+"test_cookie="+value, "Cookie: a="+value)
}

// TestCredentials_Changed: W12 is said of a configuration that sets, adds or deletes a header that
// decides on the way to the platform, whichever header it is, and of no other header.
func TestCredentials_Changed(t *testing.T) {
	for _, p := range platforms.All() {
		names := policies.Deciding(&p, staffToken, []*signature.Signature{{SignatureHeader: "X-Acme-Sign", TimestampHeader: "X-Acme-Time"}})
		for _, name := range append(names, "X-Other", "Accept") {
			want := "W12 Caddyfile:2"
			if !slices.Contains(names, name) {
				want = ""
			}
			for _, change := range []string{name + " x", "-" + name, "+" + name + " x", strings.ReplaceAll(name, "-", "_") + " x"} {
				source := "example.com {\n\trestwarden " + p.Name + " {\n\t\tcredentials header X-Staff-Token\n\t\tsignature acme {\n\t\t\tkey k\n" +
					"\t\t\theader signature X-Acme-Sign\n\t\t\theader timestamp X-Acme-Time\n\t\t}\n\t}\n\treverse_proxy 127.0.0.1:8080 {\n\t\theader_up " + change + "\n\t}\n}\n"
				if got := foundIn(surveyed(t, source)); got != want {
					t.Errorf("%s: header_up %s: %q, want %q", p.Name, change, got, want)
				}
			}
		}
	}
}

// TestCredentials_Record: no credential stands in a record, a log line or a refusal.
func TestCredentials_Record(t *testing.T) {
	const secret = "5ecret0fsomebody"
	p := newPlatform(t)
	g := startGateway(t, strings.Replace(staffSite, "wordpress", "cms", 1)+p.proxied())
	names, _ := platforms.ByName("cms")
	lines := credentialsOf(&names, secret)
	for i, line := range lines {
		for _, target := range []string{"/cms-json/cms/v2/posts", "/cms-json/batch/v1", "/cms-json/x/v1/y?consumer_key=" + secret + "&consumer_secret=" + secret + "&_cmsnonce=" + secret} {
			for _, header := range [][]string{{line}, {line, line}} {
				r := g.do(fmt.Sprintf("PUT %s", target), "", header...)
				if strings.Contains(r.body, secret) {
					t.Errorf("%s %s: %s", target, line, r.body)
				}
				if name, _, _ := strings.Cut(line, ": "); len(header) == 2 && name != "Cookie" && r.status != http.StatusBadRequest {
					t.Errorf("%s twice: %d", name, r.status)
				}
			}
		}
		if n := strings.Count(g.logged(), `"refused"`); n < i {
			t.Fatalf("%s: %d records", line, n)
		}
	}
	for line := range strings.Lines(g.logged()) {
		if strings.Contains(line, secret) && !strings.Contains(line, `"http.log.access`) { // Caddy's own, see Caddyfile.example
			t.Error(line)
		}
	}
}

// TestCredentials_Alias: a header that the site names is refused under another name that some server folds onto it, as one of the
// platform's is. Another header is not.
func TestCredentials_Alias(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, "\trestwarden wordpress {\n\t\tcredentials header x-staff-token\n\t}\n"+p.proxied())
	for name, want := range map[string]int{
		"X-Staff-Token": http.StatusOK, "X~Staff~Token": http.StatusBadRequest, "X-Staff!Token": http.StatusBadRequest, "X~Other": http.StatusOK,
	} {
		if r := g.do("GET /wp-json/wp/v2/posts", "", name+": a"); r.status != want {
			t.Errorf("%s: %d, want %d", name, r.status, want)
		}
	}
}

// TestCredentials_Documented: the page of W12 lists the headers that decide, and the example hides
// those that are secret from the access log. Caddy itself hides two of them.
func TestCredentials_Documented(t *testing.T) {
	text, err := os.ReadFile("../../docs/commands/checks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(text), "a header that decides what a call is or who makes it:\n")
	part, _, _ = strings.Cut(part, "PHP reads")
	var listed, want []string
	for _, m := range regexp.MustCompile("`([A-Z][A-Za-z0-9-]+)`").FindAllStringSubmatch(part, -1) {
		listed = append(listed, http.CanonicalHeaderKey(m[1]))
	}
	for _, p := range platforms.All() {
		want = append(want, policies.Deciding(&p, caller.Own{}, nil)...)
	}
	slices.Sort(listed)
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(listed, want) {
		t.Errorf("docs/commands/checks.md lists %q, want %q", listed, want)
	}

	example, err := os.ReadFile("../../Caddyfile.example")
	if err != nil {
		t.Fatal(err)
	}
	p, _ := platforms.ByName("wordpress")
	for _, name := range caller.Headers(&p, staffToken) {
		plain := name == "Origin" || name == "Cookie" || name == "Authorization"
		if hidden := strings.Contains(string(example), "request>headers>"+name+" delete"); hidden == plain {
			t.Errorf("Caddyfile.example hides %s: %t", name, hidden)
		}
	}
}

// TestCredentials_OneList: no other file lists credentials, or headers that decide. sign.go makes them.
func TestCredentials_OneList(t *testing.T) {
	var names []string
	var sites []*caller.Site
	for _, p := range platforms.All() {
		names = append(names, policies.Deciding(&p, caller.Own{}, nil)...)
		sites = append(sites, caller.NewSite(p, caller.Own{}))
	}
	known := func(name string) bool {
		return slices.Contains(names, http.CanonicalHeaderKey(name)) || sites[0].IsCredential(name) || sites[1].IsCredential(name)
	}
	lists.Alone(t, known, lists.Sources(t, "../..", "caddymodule", "policies"),
		"frame.go", "table.go", "shop_key.go", "message.go", "sign.go")
}

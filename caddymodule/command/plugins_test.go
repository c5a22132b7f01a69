package command_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	"github.com/restwarden/restwarden/caddymodule/command"
	"github.com/restwarden/restwarden/policies/plugins"
)

// pluginList is the JSON of "plugins".
type pluginList struct {
	V    int
	Site *struct {
		Name, Home, Address string
		Routes              int
	}
	Plugins []struct {
		Slug, Name string
		Needs      []struct {
			Group string
			Rows  int
		}
		Risky, CVEs  int
		RecognisedBy []string `json:"recognised_by"`
	}
	Unknown []string `json:"unknown_namespaces"`
	Unseen  int      `json:"unrecognisable"`
	Plugin  *struct {
		Slug       string
		Needed     []struct{ Route, Why, Auth, Caller string }
		Risky      []struct{ CVE []struct{ ID string } }
		Sources    []struct{ Repo string }
		Lines      []struct{ Line, Does string }
		Recognised bool
	}
}

// listedPlugins runs "plugins" with --format json.
func listedPlugins(t *testing.T, status int, args ...string) (list pluginList) {
	t.Helper()
	out, problems, got := command.Run(strings.NewReader(""), append([]string{"plugins", "--format", "json"}, args...)...)
	if got != status {
		t.Fatalf("%v: exit status %d\n%s\n%s", args, got, out, problems)
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || list.V != 1 {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return list
}

// TestPlugins_All: the whole catalogue, with what it says of each plugin.
func TestPlugins_All(t *testing.T) {
	t.Parallel()
	list := listedPlugins(t, 0)
	if len(list.Plugins) != len(plugins.All()) || list.Site != nil || list.Plugin != nil {
		t.Fatalf("%d plugins", len(list.Plugins))
	}
	for i, p := range plugins.All() {
		row, rows := list.Plugins[i], 0
		for _, n := range row.Needs {
			rows += n.Rows
		}
		if row.Slug != p.Slug || row.Name != p.Name || rows != len(p.Needed) || row.Risky != len(p.Risky) {
			t.Errorf("%+v", row)
		}
	}
	out, _, status := command.Run(nil, "plugins")
	again, _, _ := command.Run(nil, "plugins")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if status != 0 || out != again || len(lines) != len(plugins.All())+1 {
		t.Fatalf("exit status %d, %d lines", status, len(lines))
	}
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "buddypress ") })
	if i < 0 || strings.Join(strings.Fields(lines[i]), " ") != "buddypress BuddyPress visitors 1 6 (1 CVE) buddypress/v1" {
		t.Errorf("%q", lines[i])
	}
}

// TestPlugins_One: one plugin with its routes, reasons, holes, lines and sources, also by its
// short name.
func TestPlugins_One(t *testing.T) {
	t.Parallel()
	out, problems, status := command.Run(nil, "plugins", "BuddyPress")
	for _, want := range []string{
		"BuddyPress (buddypress", "Recognised by buddypress/v1.\n", "What it needs open to callers without a login\n  visitors: ", "    caller: visitor; known by: ",
		"What is risky\n  ", "CVE-20", "Lines to write\n  allow plugin buddypress\n    lets callers", "  deny plugin buddypress\n", "Sources\n  ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in %s", want, out)
		}
	}
	if status != 0 || problems != "" {
		t.Errorf("exit status %d: %s", status, problems)
	}
	out, _, _ = command.Run(nil, "plugins", "payment-plugins-for-stripe")
	if want := "  allow plugin woo-stripe-payment {\n  \tkey {env.WOO_STRIPE_PAYMENT_KEY}\n  }\n"; !strings.Contains(out, want) {
		t.Errorf("there is no %q in %s", want, out)
	}
	out, _, _ = command.Run(nil, "plugins", "activitypub")
	if want := "as aliases\n  alias ^.well-known/webfinger /activitypub/1.0/webfinger\n"; !strings.Contains(out, want) || !strings.Contains(out, `  alias ^@([\w\-\.]+) /`) {
		t.Errorf("there is no %q in %s", want, out)
	}
	cf7 := listedPlugins(t, 0, "cf7").Plugin
	if cf7 == nil || cf7.Slug != "contact-form-7" || len(cf7.Needed) != 3 || cf7.Needed[0].Why == "" || len(cf7.Lines) != 2 || len(cf7.Sources) == 0 {
		t.Errorf("%+v", cf7)
	}
	for _, p := range plugins.All() {
		if out, problems, status := command.Run(nil, "plugins", p.Slug); status != 0 || problems != "" || !strings.Contains(out, p.Name+" ("+p.Slug) {
			t.Errorf("%s: exit status %d, %s\n%s", p.Slug, status, problems, out)
		}
	}
}

const somePlugins = `{"name":"Shop \u001b[31m","home":"https://shop.example.com","namespaces":["contact-form-7/v1","jetpack/v4","acme/v1\u001b"],` +
	`"routes":{"/":{},"/contact-form-7/v1/contact-forms/(?P<id>\\d+)/feedback":{"methods":["POST"]},"/wc/v3/payments/charges":{},"/acme/v1/x":{}}}`

// TestPlugins_Site: what a root shows and what nobody knows, from a site and from a file. No
// site moves the cursor of a terminal.
func TestPlugins_Site(t *testing.T) {
	t.Parallel()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path != "/cms-json/" || r.Header.Get("X-Token") != "open" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprint(w, somePlugins)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "root.json")
	if err := os.WriteFile(file, []byte(somePlugins), 0o600); err != nil {
		t.Fatal(err)
	}
	live := []string{"--for", server.URL, "--prefix", "cms-json", "-H", "X-Token: open"}
	for _, args := range [][]string{live, {"--index", file}} {
		list := listedPlugins(t, 0, args...)
		var slugs []string
		for _, p := range list.Plugins {
			slugs = append(slugs, p.Slug)
		}
		if !slices.Equal(slugs, []string{"contact-form-7", "woocommerce-payments"}) || !slices.Equal(list.Unknown, []string{"jetpack/v4", "acme/v1\x1b"}) ||
			list.Site.Routes != 4 || list.Site.Home != "https://shop.example.com" || (list.Site.Address != "") != (args[0] == "--for") || list.Unseen < 20 {
			t.Errorf("%v: %+v", args, list)
		}
		out, problems, status := command.Run(nil, append([]string{"plugins"}, args...)...)
		for _, want := range []string{"https://shop.example.com lists 4 routes", "\nNamespaces that are of none of them:\n  jetpack/v4\n  acme/v1\\x1b\n", "is not recognised: that is "} {
			if !strings.Contains(out, want) {
				t.Errorf("there is no %q in %s", want, out)
			}
		}
		if status != 0 || problems != "" || strings.Contains(out, "\x1b") {
			t.Errorf("exit status %d, %s\n%q", status, problems, out)
		}
	}
	for _, p := range listedPlugins(t, 0, "--index", file).Plugins {
		if want := map[string]string{"contact-form-7": "contact-form-7/v1", "woocommerce-payments": "/wc/v3/payments/**"}[p.Slug]; strings.Join(p.RecognisedBy, " ") != want {
			t.Errorf("%s is recognised by %q, not %s", p.Slug, p.RecognisedBy, want)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
	if one := listedPlugins(t, 0, "--index", file, "cf7"); !one.Plugin.Recognised || one.Plugins != nil {
		t.Errorf("%+v", one)
	}
	if out, _, status := command.Run(nil, "plugins", "--index", file, "woocommerce"); status != 3 || !strings.Contains(out, "It is not recognised on https://shop.example.com, which does not say that it is not there.\n") {
		t.Errorf("exit status %d\n%s", status, out)
	}
	if out, problems, status := command.Run(nil, "plugins", "--for", server.URL); status != 3 || out != "" || !strings.Contains(problems, "closed to callers without a login") {
		t.Errorf("exit status %d\n%s\n%s", status, out, problems)
	}
}

// TestPlugins_Usage: what cannot be meant exits with 2 and has no result.
func TestPlugins_Usage(t *testing.T) {
	t.Parallel()
	for want, args := range map[string]string{
		"did you mean contact-form-7?":  "contcat-form-7",
		"accepts at most 1 arg(s)":      "cf7 woocommerce",
		"did you mean json?":            "--format jsno",
		`"shop" is no address`:          "--for shop",
		"not both":                      "--for https://shop.example.com --index nowhere.json",
		"nowhere.json: no such file":    "--index nowhere.json",
		"unknown flag: --plugin":        "--plugin x",
		"flag needs an argument: --for": "--for",
	} {
		out, problems, status := command.Run(nil, append([]string{"plugins"}, strings.Fields(args)...)...)
		if status != 2 || out != "" || !strings.Contains(problems, want) {
			t.Errorf("%s: exit status %d\n%s\n%s", args, status, out, problems)
		}
	}
}

// TestPlugins_Completion: the shell completes names, short ones as well.
func TestPlugins_Completion(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{"contact-f": "contact-form-7\tContact Form 7\n", "CF": "cf7\tContact Form 7\n"} {
		if out, _, _ := command.Run(nil, "__complete", "plugins", typed); !strings.HasPrefix(out, want) && !strings.Contains(out, "\n"+want) {
			t.Errorf("%s: %q", typed, out)
		}
	}
	if out, _, _ := command.Run(nil, "__complete", "plugins", "cf7", "c"); strings.Contains(out, "Contact") {
		t.Error(out)
	}
}

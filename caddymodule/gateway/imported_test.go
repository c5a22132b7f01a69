package gateway

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// loadError returns why a Caddyfile does not load, without what Caddy puts before it.
// @ stands for the directory of the files, but not with the Caddyfile.
func loadError(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(files["Caddyfile"]), map[string]any{"filename": filepath.Join(dir, "Caddyfile")})
	if err == nil {
		var cfg caddy.Config
		if err := json.Unmarshal(b, &cfg); err != nil {
			t.Fatal(err)
		}
		err = caddy.Validate(&cfg)
		if err == nil {
			return ""
		}
	}
	text := strings.NewReplacer(dir+"/Caddyfile", "Caddyfile", dir, "@").Replace(err.Error())
	for _, before := range []string{"parsing caddyfile tokens for 'restwarden': ", "provision http.handlers.restwarden: "} {
		if _, after, ok := strings.Cut(text, before); ok {
			return after
		}
	}
	return text
}

// snippet is a Caddyfile with a snippet of the given lines, which two sites import.
func snippet(lines, first, second string) map[string]string {
	return map[string]string{"Caddyfile": "(guard) {\n" + lines + "}\nhttp://a.example {\n\timport guard " + first + "\n}\nhttp://b.example {\n\timport guard " + second + "\n}\n"}
}

func oneSite(lines string) map[string]string {
	return map[string]string{"Caddyfile": "http://a.example {\n\trestwarden cms {\n" + lines + "\n\t}\n}\n"}
}

// placeErrors are Caddyfiles that do not load, with the whole message.
var placeErrors = map[string]struct {
	files map[string]string
	want  string
}{
	"no import": {
		oneSite("\tlogin-only"),
		"login-only: unknown option, did you mean login_only? at Caddyfile:3",
	},
	"two sites, one bad snippet": {
		snippet("\trestwarden cms {\n\t\tlogin-only\n\t}\n", "", ""),
		"login-only: unknown option, did you mean login_only? at Caddyfile:3, imported at Caddyfile:7, in the site http://a.example",
	},
	"the second site's argument": {
		snippet("\trestwarden cms {\n\t\tbase {args[0]}\n\t}\n", "/blog", "shop"),
		`base: "shop" is not a sub-folder such as /blog, at Caddyfile:3, imported at Caddyfile:10, in the site http://b.example`,
	},
	"the second site gives no argument": {
		snippet("\trestwarden cms {\n\t\tbase {args[0]}\n\t}\n", "/blog", ""),
		"base: the import of the snippet gives no argument for {args[0]}, at Caddyfile:3, imported at Caddyfile:10, in the site http://b.example",
	},
	"the second site's block": {
		snippet("\trestwarden cms {\n\t\t{block}\n\t}\n", "{\n\t\tlogin_only\n\t}", "{\n\t\tloginonly\n\t}"),
		"loginonly: unknown option, did you mean login_only? at Caddyfile:13, for restwarden at Caddyfile:2, imported at Caddyfile:14, in the site http://b.example",
	},
	"when it is loaded": {
		snippet("\trestwarden cms {\n\t\tallow signed {args[0]} /x\n\t\tsignature hook {\n\t\t\tkey k\n\t\t}\n\t}\n", "hook", "hok"),
		`restwarden: access: allow signed hok /x: there is no signature "hok": did you mean hook? at Caddyfile:3, imported at Caddyfile:13`,
	},
	"when it is loaded, the directive as a whole": {
		snippet("\trestwarden cms {\n\t\tsession_cookies {\n\t\t\tpath {args[0]}\n\t\t}\n\t}\n", "/", "x"),
		"restwarden: session_cookies: path does not begin with /, at Caddyfile:3, imported at Caddyfile:12",
	},
	"a secret": {
		snippet("\trestwarden cms {\n\t\tsignature hook {\n\t\t\tkey {env.{args[0]}}\n\t\t}\n\t}\n", "HOME", "RESTWARDEN_TEST_UNSET"),
		"restwarden: signature: evaluated placeholder {env.RESTWARDEN_TEST_UNSET} is empty, at Caddyfile:3, imported at Caddyfile:12",
	},
	"rules in a file, imported by a directive": {
		map[string]string{
			"Caddyfile":   "http://a.example {\n\trestwarden cms {\n\t\timport rules.caddy\n\t}\n}\n",
			"rules.caddy": "login_only\nallow any_one /x\n",
		},
		`allow: "any_one" is not one of anyone, users, role, capability, signed, scope, plugin: did you mean anyone? at @/rules.caddy:2, imported at Caddyfile:3, for restwarden at Caddyfile:2`,
	},
	"a snippet out of another file": {
		map[string]string{
			"Caddyfile":      "import snippets.caddy\nhttp://a.example {\n\timport guard\n}\n",
			"snippets.caddy": "(guard) {\n\trestwarden cms {\n\t\tlogin-only\n\t}\n}\n",
		},
		"login-only: unknown option, did you mean login_only? at @/snippets.caddy:3, imported at Caddyfile:3, Caddyfile:1, in the site http://a.example",
	},
	"a site in its own file": {
		map[string]string{
			"Caddyfile": "(guard) {\n\trestwarden cms {\n\t\tlogin-only\n\t}\n}\nimport *.site\n",
			"a.site":    "http://a.example {\n\timport guard\n}\n",
		},
		"login-only: unknown option, did you mean login_only? at Caddyfile:3, imported at @/a.site:2, in the site http://a.example",
	},
	"a snippet in a snippet": {
		map[string]string{"Caddyfile": "(inner) {\n\trestwarden {args[0]}\n}\n(outer) {\n\timport inner {args[0]}\n}\nhttp://a.example {\n\timport outer cms\n}\nhttp://b.example {\n\timport outer wordpres\n}\n"},
		`platform: "wordpres" is neither cms nor wordpress: did you mean wordpress? at Caddyfile:2, imported at Caddyfile:5, in the site http://b.example`,
	},
	"a matcher": {
		snippet("\t@x rest_call get /x\n\trestwarden @x cms\n", "", ""),
		`rest_call: "get" is neither a method (in upper case) nor a route (with a leading /): did you mean GET? at Caddyfile:2, imported at Caddyfile:6`,
	},
	"the global option": {
		map[string]string{
			"Caddyfile":   "{\n\trestwarden {\n\t\timport store.caddy\n\t}\n}\n:8080 {\n}\n",
			"store.caddy": "store reddis 127.0.0.1:1\n",
		},
		`store: "reddis" is neither memory nor redis: did you mean redis? at @/store.caddy:1, imported at Caddyfile:3`,
	},
	"the global option when it is loaded": {
		map[string]string{
			"Caddyfile":   "{\n\trestwarden {\n\t\timport store.caddy\n\t}\n}\n:8080 {\n\trestwarden cms\n}\n",
			"store.caddy": "store redis 127.0.0.1\n",
		},
		`loading restwarden app module: provision restwarden: store: "127.0.0.1" is not an address such as 10.0.0.5:6379, at @/store.caddy:1, imported at Caddyfile:3`,
	},
}

// TestErrors_Place: errors say where the line stands, where it was imported, and for
// which site.
func TestErrors_Place(t *testing.T) {
	for name, c := range placeErrors {
		t.Run(name, func(t *testing.T) {
			// Caddy loads apps in no order: where the server comes first, it names the app too.
			got := strings.Replace(loadError(t, c.files), "restwarden: loading restwarden app", "loading restwarden app", 1)
			if got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// directives returns the handlers of a Caddyfile.
func directives(t *testing.T, source string) (all []*Gateway) {
	t.Helper()
	b, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(source), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		t.Fatal(err)
	}
	var config any
	if err := json.Unmarshal(b, &config); err != nil {
		t.Fatal(err)
	}
	var find func(any)
	find = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if v["handler"] == "restwarden" {
				g := new(Gateway)
				if err := json.Unmarshal(caddyconfig.JSON(v, nil), g); err != nil {
					t.Fatal(err)
				}
				all = append(all, g)
			}
			for _, inner := range v {
				find(inner)
			}
		case []any:
			for _, inner := range v {
				find(inner)
			}
		}
	}
	find(config)
	return all
}

// TestGateway_Imported: the JSON says where each line of the directive was imported, the
// JSON of the policies does not.
func TestGateway_Imported(t *testing.T) {
	const source = `(rules) {
	allow users {args[0]}
}
(guard) {
	restwarden cms {
		login_only
		import rules /a
		import rules /b
		{block}
	}
}
http://a.example {
	import guard {
		deny /c
	}
}
http://b.example {
	import guard {
		deny /c
	}
}
`
	all := directives(t, source)
	if len(all) != 2 {
		t.Fatalf("%d directives", len(all))
	}
	for _, g := range all {
		deny := map[string]string{"Caddyfile:15": "Caddyfile:14", "Caddyfile:20": "Caddyfile:19"}[g.Imported[""]]
		want := map[string]string{"": g.Imported[""], "Caddyfile:2": "Caddyfile:7 or Caddyfile:8", deny: ""}
		if deny == "" || !maps.Equal(g.Imported, want) {
			t.Errorf("got %q, want %q", g.Imported, want)
		}
		for at, want := range map[string]string{
			"": g.Imported[""], "Caddyfile:6": g.Imported[""], "Caddyfile:2": "Caddyfile:7 or Caddyfile:8", deny: "",
		} {
			if got := g.Imported.At(at); got != want {
				t.Errorf("%q: got %q, want %q", at, got, want)
			}
		}
		for name, policy := range g.PoliciesRaw {
			if strings.Contains(string(policy), "imported") {
				t.Errorf("%s: %s", name, policy)
			}
		}
	}
	plain := directives(t, "http://a.example {\n\trestwarden cms {\n\t\tdeny /c\n\t}\n}\n")[0]
	if plain.Imported != nil || plain.Imported.At("Caddyfile:3") != "" {
		t.Errorf("nothing is imported: %q", plain.Imported)
	}
}

// TestRecord_Imported: the record of a refusal says where the file with the rule was
// imported; a built-in rule stands in no file.
func TestRecord_Imported(t *testing.T) {
	p := newPlatform(t)
	rules := filepath.Join(t.TempDir(), "rules.caddy")
	if err := os.WriteFile(rules, []byte("login_only\ndeny /cms/v2/posts\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := startGateway(t, "\trestwarden cms {\n\t\timport "+rules+"\n\t\tdeny /cms/v2/pages\n\t}\n"+p.proxied())
	imported := regexp.MustCompile(`"at":"([^"]*)".*?"imported":"([^"]*:[0-9]+)"`)
	g.do("GET /cms-json/cms/v2/posts", "").want(t, 403, "rest_forbidden")
	if found := imported.FindStringSubmatch(g.logged()); found == nil || found[1] != rules+":2" {
		t.Errorf("%q in %s", found, g.logged())
	}
	before := len(g.logged())
	g.do("GET /cms-json/cms/v2/pages", "").want(t, 403, "rest_forbidden")
	if log := g.logged()[before:]; !strings.Contains(log, `"outcome":"refused"`) || strings.Contains(log, `"imported"`) {
		t.Error(log)
	}
}

package gateway

import (
	"strings"
	"testing"
)

// TestSurvey_Rules: each load says what is odd in rules, of each directive that has them
// from a snippet, with the line of the rule, the import and the sites. A note is neither
// logged nor counted.
func TestSurvey_Rules(t *testing.T) {
	p := newPlatform(t)
	s := startSites(t, `(rw) {
	restwarden cms {
		login_only
		deny /shop/v1/**
		allow anyone /shop/v1/cart
		{block}
	}
	`+strings.TrimSpace(p.proxied())+`
}
http://anton.example:PORT, http://www.anton.example:PORT {
	import rw
}
http://berta.example:PORT {
	import rw {
		mode observe
	}
}
http://metrics.example:PORT {
	metrics
}
`)
	found := lines(t, s.log, `"code":"W04"`)
	if len(found) != 2 {
		t.Fatalf("%v", found)
	}
	imports := map[string]string{}
	for _, f := range found {
		if f["level"] != "warn" || f["msg"] != "the configuration is odd" || !strings.Contains(f["problem"].(string), "allow anyone /shop/v1/cart") {
			t.Errorf("%v", f)
		}
		sites := ""
		for _, host := range f["sites"].([]any) {
			sites += host.(string) + " "
		}
		imports[sites] = f["imported"].(string)
		if at := f["at"].(string); !strings.HasPrefix(at, "Caddyfile:") || at == f["imported"] || at != found[0]["at"] {
			t.Errorf("%v", f)
		}
	}
	if a, b := imports["anton.example www.anton.example "], imports["berta.example "]; len(imports) != 2 || a == b || !strings.HasPrefix(a, "Caddyfile:") || !strings.HasPrefix(b, "Caddyfile:") {
		t.Errorf("%v", imports)
	}
	metrics := s.at("metrics.example", "GET /", "").body
	for _, site := range []string{"anton.example", "berta.example"} {
		if want := `caddy_restwarden_misconfigured{problem="W04",site="` + site + `"} 1` + "\n"; !strings.Contains(metrics, want) {
			t.Errorf("no %s in %s", want, metrics)
		}
	}
	if strings.Contains(metrics, "W11") || len(lines(t, s.log, `"code":"W11"`)) > 0 {
		t.Errorf("W11 is no finding: %s", metrics)
	}
}

// TestSurvey_SharedRules: directives that share an engine each have their findings.
func TestSurvey_SharedRules(t *testing.T) {
	p := newPlatform(t)
	s := startSites(t, `(rw) {
	restwarden cms {
		allow anyone /shop/v1/cart
	}
	`+strings.TrimSpace(p.proxied())+`
}
http://anton.example:PORT {
	import rw
}
http://berta.example:PORT {
	import rw
}
`)
	found := lines(t, s.log, `"code":"W05"`)
	if len(found) != 2 || found[0]["imported"] == found[1]["imported"] || found[0]["sites"].([]any)[0] == found[1]["sites"].([]any)[0] {
		t.Errorf("%v", found)
	}
}

// TestSurvey_Plugins: a load says in an INFO line that a line for a plugin changes nothing. It
// is no finding: no metric counts it. A line that does something is not named.
func TestSurvey_Plugins(t *testing.T) {
	p := newPlatform(t)
	s := startSites(t, `(rw) {
	restwarden cms {
		login_only
		allow plugin polylang contact-form-7
		allow plugin indieauth
		deny plugin bbpress wordpress
	}
	`+strings.TrimSpace(p.proxied())+`
}
http://anton.example:PORT {
	import rw
}
http://berta.example:PORT {
	import rw
}
http://metrics.example:PORT {
	metrics
}
`)
	problems, imports := map[string]int{}, map[any]bool{}
	for _, line := range lines(t, s.log, `"code":"W17"`) {
		if line["level"] != "info" || line["msg"] != "a line of the configuration changes nothing" || !strings.HasPrefix(line["at"].(string), "Caddyfile:") {
			t.Errorf("%v", line)
		}
		problem, _, _ := strings.Cut(line["problem"].(string), ":")
		problems[problem]++
		imports[line["imported"]] = true
	}
	if len(problems) != 3 || problems["allow plugin polylang"] != 2 || problems["allow plugin indieauth"] != 2 || problems["deny plugin bbpress"] != 2 || len(imports) != 2 {
		t.Errorf("%v, %v", problems, imports)
	}
	for _, line := range lines(t, s.log, `"the configuration is odd"`) {
		if line["code"] != "W13" { // of this machine
			t.Errorf("%v", line)
		}
	}
	if metrics := s.at("metrics.example", "GET /", "").body; !strings.Contains(metrics, "caddy_restwarden_site_info") || strings.Contains(metrics, "W17") {
		t.Error(metrics)
	}
}

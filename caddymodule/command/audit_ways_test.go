package command_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
	"github.com/restwarden/restwarden/caddymodule/command/audit"
)

// block is a site of a Caddyfile with these lines before its backend.
func block(address string, lines ...string) string {
	return address + " {\n\troute {\n\t\t" + strings.Join(lines, "\n\t\t") + "\n\t\treverse_proxy 127.0.0.1:8080\n\t}\n}\n"
}

const (
	closing  = "restwarden wordpress {\n\t\t\tlogin_only\n\t\t}"
	leaving  = "restwarden wordpress"
	onPosts  = "@posts path /wp-json/wp/v2/posts*\n\t\t@other not path /wp-json/wp/v2/posts*\n\t\t"
	shopHome = "http://shop.example.com"
)

// TestAudit_Several: what several directives of a site do not agree on is not known, and the
// port of the address says which of them count.
func TestAudit_Several(t *testing.T) {
	matcher := func(directive, name string) string {
		return strings.Replace(directive, "restwarden", "restwarden "+name, 1)
	}
	ports := block(shopHome+":8081", closing) + block(shopHome+":8082", leaving)
	reversed := block(shopHome+":8082", leaving) + block(shopHome+":8081", closing)
	for name, test := range map[string]struct {
		config, address string
		want            audit.Reach // of POST /wp/v2/posts
		limits          int
	}{
		"apart, the closing one first":       {block(shopHome, onPosts+matcher(closing, "@other"), matcher(leaving, "@posts")), "", audit.Unknown, 1},
		"apart, the closing one last":        {block(shopHome, onPosts+matcher(leaving, "@posts"), matcher(closing, "@other")), "", audit.Unknown, 1},
		"by the address of the client":       {block(shopHome, "@own remote_ip 10.0.0.0/8", matcher(leaving, "@own"), matcher(closing, "")), "", audit.Unknown, 1},
		"both close":                         {block(shopHome, closing, strings.Replace(closing, "login_only", "login_only\n\t\t\tdeny /x", 1)), "", audit.None, 1},
		"equal ones":                         {block(shopHome+":8081, "+shopHome+":8082", closing), "", audit.None, 0},
		"two ports":                          {ports, "", audit.Unknown, 1},
		"two ports, reversed":                {reversed, "", audit.Unknown, 1},
		"two ports and an address":           {ports, shopHome + ":8082/", audit.All, 0},
		"two ports, reversed and an address": {reversed, shopHome + ":8082/", audit.All, 0},
		"two ports and the closed one":       {reversed, shopHome + ":8081", audit.None, 0},
		"a port of a proxy in front":         {reversed, shopHome, audit.Unknown, 1},
		"a site for all other hosts":         {block(shopHome+":8081", closing) + block("http://:8081", leaving), shopHome + ":8081", audit.None, 0},
	} {
		args := []string{"--index", savedRoot, "--config", write(t, "Caddyfile", "{\n\tauto_https off\n}\n"+test.config)}
		if test.address != "" {
			args = append(args, test.address)
		}
		report := auditJSON(t, args...)
		limits := slices.DeleteFunc(report.Limits, func(l string) bool { return !strings.HasPrefix(l, "Several directives") })
		if got := anonymous(report, "POST /wp/v2/posts"); got != test.want || len(limits) != test.limits {
			t.Errorf("%s: %s, %q", name, got, report.Limits)
		}
		if len(report.Propose) == 0 || report.Proposed.Anonymous.All == 0 {
			t.Errorf("%s: %q, %+v", name, report.Propose, report.Proposed.Anonymous)
		}
	}
}

// anonymous returns what callers without a login reach of an endpoint.
func anonymous(r *audit.Report, endpoint string) audit.Reach {
	for i := range r.Routes {
		for _, m := range r.Routes[i].Methods {
			if m.Method+" "+r.Routes[i].Name == endpoint {
				return m.Anonymous
			}
		}
	}
	return "absent"
}

// TestAudit_NotGuarded: of an address that the configuration serves without the directive, no
// rules are told; only of one that it does not know, the only site is taken.
func TestAudit_NotGuarded(t *testing.T) {
	shop := block(shopHome+":8081", closing)
	for name, test := range map[string]struct {
		config, address string
		status          int
		says            string
	}{
		"another host":         {shop + block("http://other.example.com:8081"), "http://other.example.com:8081", 4, "reverse_proxy 127.0.0.1:8080 answers there"},
		"another port":         {shop + block(shopHome+":8082"), shopHome + ":8082", 4, "reverse_proxy 127.0.0.1:8080 answers there"},
		"one host of two":      {block(shopHome+":8081, http://www.shop.example.com:8081", "@www host www.shop.example.com", "restwarden @www wordpress {\n\t\t\tlogin_only\n\t\t}"), shopHome + ":8081", 4, "answers there"},
		"a folder":             {block(shopHome+":8081", "restwarden wordpress {\n\t\t\tbase /blog\n\t\t}"), shopHome + ":8081", 4, ", which guards /blog alone, answers there"},
		"the folder's site":    {block(shopHome+":8081", "restwarden wordpress {\n\t\t\tbase /blog\n\t\t}"), shopHome + ":8081/blog/", 0, `"site": "shop.example.com/blog"`},
		"an answer":            {shop + "http://other.example.com:8081 {\n\trespond 204\n}\n", "http://other.example.com:8081", 4, "respond 204 answers there"},
		"an unknown host":      {shop, "http://127.0.0.1:8080", 0, "Site assumed: "},
		"an unknown host, too": {shop, "http://other.example.com:8081", 0, "Site assumed: "},
		"the site is named":    {shop + block("http://other.example.com:8081"), "--site shop.example.com http://other.example.com:8081", 0, `"limits": [`},
		"the site itself":      {shop, shopHome + ":8081/wp-json/", 0, `"limits": []`},
	} {
		file := write(t, "Caddyfile", "{\n\tauto_https off\n}\n"+test.config)
		line := append([]string{"audit", "--format", "json", "--index", savedRoot, "--config", file}, strings.Fields(test.address)...)
		out, problems, status := command.Run(strings.NewReader(""), line...)
		if status != test.status || !strings.Contains(out+problems, test.says) || status == 4 && out != "" {
			t.Errorf("%s: %d %s %.400s", name, status, problems, out)
		}
	}
}

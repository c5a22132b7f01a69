package policies

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
)

// TestWhy_Words: each word that stands for a rule on the page of the policy call has a sentence
// of its own, and no other has one.
func TestWhy_Words(t *testing.T) {
	page, err := os.ReadFile("../docs/policies/call.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tables, _ := strings.Cut(string(page), "The word in `rule`")
	tables, _, _ = strings.Cut(tables, "\n## ")
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| (`[^|]+) \\|").FindAllStringSubmatch(tables, -1) {
		for word := range strings.SplitSeq(m[1], ", ") {
			listed[strings.Trim(word, "`")] = true
		}
	}
	for word := range listed {
		why := Decision{Outcome: Refuse, Policy: "call", Verdict: fromRefusal(call.Ambiguous(word))}.Why()
		if words[word] == "" || why != words[word] || !strings.HasSuffix(why, ".") {
			t.Errorf("%s: %q", word, why)
		}
	}
	for word := range words {
		if !listed[word] {
			t.Errorf("%s is not on the page", word)
		}
	}
}

// TestWhy_BuiltIn: a refusal by a built-in rule does not read as if the owner had allowed it.
func TestWhy_BuiltIn(t *testing.T) {
	s := newSite(t)
	c, err := NewChain(s, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	d := c.Judge(t.Context(), request(t, s, asktest.Answering(401, ""), "GET", "/wp-json/wp/v2/users", ""))
	if d.Outcome != Refuse || !strings.HasPrefix(d.Verdict.Rule, builtIn) || !strings.HasPrefix(d.Why(), "A built-in rule ") {
		t.Errorf("%+v: %s", d.Verdict, d.Why())
	}
}

// TestWhy_Semicolon: a query that some sites' PHP splits at ";" is not called too long.
func TestWhy_Semicolon(t *testing.T) {
	s := newSite(t)
	c, err := NewChain(s, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	d := c.Judge(t.Context(), request(t, s, asktest.Answering(401, ""), "GET", "/wp-json/wp/v2/posts?a=1;_method=DELETE", ""))
	if d.Outcome != Refuse || d.Verdict.Rule != "variables" || !strings.Contains(d.Why(), "semicolon") {
		t.Errorf("%+v: %s", d.Verdict, d.Why())
	}
}

// TestWhy_RefusedLogin: the operator reads what the platform says of a log-in, and nothing that it
// does not say.
func TestWhy_RefusedLogin(t *testing.T) {
	for _, code := range []string{"incorrect_password", "invalid_username"} {
		why := Decision{Outcome: Refuse, Policy: "access", explainer: new(Access), Verdict: inOneWord(asktest.JSON(401, `{"code":"`+code+`","data":{"status":401}}`))}.Why()
		said := regexp.MustCompile(`\w+_\w+`).FindAllString(why, -1)
		if len(said) != 1 || said[0] != code {
			t.Errorf("%s: %s", code, why)
		}
	}
}

// TestVerdict_Origin: a refusal says where its rule comes from, whatever the rule's text.
func TestVerdict_Origin(t *testing.T) {
	const form, users, search = "/wp-json/contact-form-7/v1/contact-forms/5/feedback", "/wp-json/wp/v2/users", "/wp-json/wp/v2/search"
	for name, c := range map[string]struct {
		lines          []string
		method, target string
		origin         Origin
	}{
		"the default":        {[]string{"login_only"}, "POST", form, OriginDefault},
		"a rule":             {[]string{"deny POST /contact-form-7/v1/**"}, "POST", form, OriginOwn},
		"a rule that allows": {[]string{"allow users /contact-form-7/v1/**"}, "POST", form, OriginOwn},
		"a built-in rule":    {nil, "GET", users, OriginBuiltIn},
		"a line deny plugin": {[]string{"deny plugin wordpress"}, "GET", search, OriginPlugin},
	} {
		access := pluginAccess(t, "wordpress", c.lines...)
		r := request(t, newSite(t), nil, c.method, c.target, "")
		v, err := access.Check(t.Context(), r)
		if err != nil || !v.Refused() || v.Origin != c.origin {
			t.Errorf("%s: %q by %q, %v", name, v.Origin, v.Rule, err)
		}
	}
}

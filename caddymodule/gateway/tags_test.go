package gateway

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/option"
)

// TestSame_OwnMembers: what own gives is what OwnMembers names.
func TestSame_OwnMembers(t *testing.T) {
	t.Parallel()
	of := Gateway{At: "x", Imported: option.Imports{"": "x"}, Lines: option.Lines{"x"}, Tag: []string{"x"}, Platform: "cms", Mode: "observe", SameAs: "x", Base: "x"}
	var g Gateway
	g.own(&of)
	text, err := json.Marshal(&g)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil || !slices.Equal(slices.Sorted(maps.Keys(members)), OwnMembers) {
		t.Errorf("%v, %s", err, text)
	}
}

// TestTags: directives that differ in their tags alone say the same, and each keeps its own.
func TestTags(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("(site) {\n\trestwarden wordpress {\n\t\tlogin_only\n\t\tdeny /wp/v2/comments as 404\n\t\t{block}\n\t}\n\treverse_proxy 127.0.0.1:1\n}\n")
	for host, line := range map[string]string{"a": "tag shops", "b": "tag blogs", "c": ""} {
		b.WriteString("http://" + host + ".example {\n\timport site {\n\t\t" + line + "\n\t}\n}\n")
	}
	all := directives(t, b.String())
	said := map[string]*Gateway{}
	refer := 0
	for _, g := range all {
		if g.SameAs == "" {
			said[g.Content()] = g
		} else {
			refer++
		}
	}
	var tags []string
	for _, g := range all {
		if err := g.resolve(said); err != nil {
			t.Fatal(err)
		}
		tags = append(tags, strings.Join(g.Tag, " "))
	}
	slices.Sort(tags)
	if refer != 2 || !slices.Equal(tags, []string{"", "blogs", "shops"}) {
		t.Errorf("%d refer, %q", refer, tags)
	}
}

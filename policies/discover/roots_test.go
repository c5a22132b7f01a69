package discover

import (
	"testing"

	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
)

// TestRoots_Tools: a host without servers of tools is known to have none.
func TestRoots_Tools(t *testing.T) {
	s := new(policy.Site)
	Keep(s, new(Roots))
	LearnTools(s, new(index.Root), "shop.example.com")
	if x, known := Of(s).tools.Get("shop.example.com"); !known || x != nil {
		t.Errorf("%v, %v", x, known)
	}
	if _, known := Of(s).tools.Get("other.example.com"); known {
		t.Error("a host that was not asked is known")
	}
}

// TestRoots_None: a site that keeps nothing has nothing.
func TestRoots_None(t *testing.T) {
	s := new(policy.Site)
	LearnTools(s, new(index.Root), "h")
	if r := Of(s); r.Index("h") != nil || r.HasTools("h", "/") || r.ScriptDir("h") != "" || r.Index("h").Lists("wp/v2") {
		t.Error("something is known")
	}
}

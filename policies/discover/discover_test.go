package discover_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policytest"
)

func TestDiscover(t *testing.T) {
	index := func(home, url, self, more string) *ask.Answer {
		return asktest.JSON(200, `{"home":"`+home+`","url":"`+url+`","namespaces":["wp/v2","wc/v3"],"routes":{"/":{"_links":{"self":[{"href":"`+self+`"}]}}`+more+`}}`)
	}
	const preview = `,"/wc/v3/orders/(?P<order_id>[\\d]+)/refunds/preview":{}`
	page := asktest.JSON(404, `<html>not found</html>`)
	for name, test := range map[string]struct {
		pretty, query *ask.Answer
		base          string
		problems      []string
		released      bool
	}{
		"fits":                  {index("http://shop.example", "http://shop.example", "http://shop.example/wp-json/", ""), nil, "", nil, false},
		"11.1":                  {index("http://shop.example", "http://shop.example", "http://shop.example/wp-json/", preview), nil, "", nil, true},
		"sub-folder":            {index("http://shop.example/blog", "http://shop.example/blog", "http://shop.example/blog/wp-json/", ""), nil, "/blog", nil, false},
		"language directory":    {index("http://shop.example", "http://shop.example", "http://shop.example/de/wp-json/", ""), nil, "", nil, false},
		"plain permalinks":      {page, index("http://shop.example", "http://shop.example", "http://shop.example/index.php?rest_route=/", ""), "", nil, false},
		"stale rewrite rules":   {page, index("http://shop.example", "http://shop.example", "http://shop.example/wp-json/", ""), "", []string{"save the permalink settings"}, false},
		"a page in its place":   {asktest.JSON(200, `<html>`), index("http://shop.example", "http://shop.example", "http://shop.example/index.php?rest_route=/", ""), "", nil, false},
		"another prefix":        {page, index("http://shop.example", "http://shop.example", "http://shop.example/api/", ""), "", []string{"check prefix and base"}, false},
		"another base":          {index("http://shop.example/x", "http://shop.example/x", "http://shop.example/x/wp-json/", ""), nil, "/blog", []string{"check prefix and base", `base is "/blog"`}, false},
		"mixed schemes":         {index("http://shop.example", "https://shop.example", "http://shop.example/wp-json/", ""), nil, "", []string{"mixed schemes"}, false},
		"https behind http":     {index("https://shop.example", "https://shop.example", "https://shop.example/wp-json/", ""), nil, "", []string{"trusted_proxies"}, false},
		"another host":          {index("http://other.example", "http://other.example", "http://other.example/wp-json/", ""), nil, "", []string{"clients ask for"}, false},
		"an alias":              {index("http://www.shop.example", "http://www.shop.example", "http://www.shop.example/wp-json/", ""), nil, "", nil, false},
		"a configured host":     {index("http://b.shops.example", "http://b.shops.example", "http://b.shops.example/wp-json/", ""), nil, "", nil, false},
		"no REST at all":        {page, page, "", []string{"no REST root"}, false},
		"closed to everybody":   {asktest.JSON(401, `{"code":"rest_not_logged_in"}`), nil, "", nil, false},
		"not the same platform": {asktest.JSON(200, `{"namespaces":["cms/v2"]}`), nil, "", []string{"check the platform"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			s.Base, s.Hosts = test.base, []string{"shop.example", "*.shops.example"}
			backend := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
				if q.Form == call.Query {
					return test.query, nil
				}
				return test.pretty, nil
			}}
			root, err := discover.Discover(t.Context(), s, backend, discover.Reach{Host: "shop.example", Base: test.base, Pretty: true})
			if err != nil {
				t.Fatal(err)
			}
			problems, all := root.Problems, ""
			for _, p := range problems {
				all += p.Text + "\n"
			}
			for _, want := range test.problems {
				if !strings.Contains(all, want) {
					t.Errorf("%q lacks %q", all, want)
				}
			}
			r := policytest.Request(t, s, nil, "GET", test.base+"/wp-json/", "")
			r.HTTP.Host = "shop.example"
			if len(problems) != len(test.problems) || s.Release.AtLeast(r.Whole, 11, 1) != test.released {
				t.Errorf("got %q, 11.1: %v", problems, s.Release.AtLeast(r.Whole, 11, 1))
			}
		})
	}
	stale := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		if q.Form == call.Query {
			return index("http://shop.example", "http://shop.example", "http://shop.example/wp-json/", ""), nil
		}
		return page, nil
	}}
	root, err := discover.Discover(t.Context(), policytest.NewSite(t), stale, discover.Reach{Host: "shop.example"})
	if err != nil || !root.QueryOnly || len(root.Problems) > 0 {
		t.Errorf("where a rewrite may make the pretty form work: %+v, %v", root, err)
	}
	if _, err := discover.Discover(t.Context(), policytest.NewSite(t), asktest.Failing(ask.ErrUndecided), discover.Reach{}); !errors.Is(err, ask.ErrUndecided) {
		t.Errorf("got error %v", err)
	}
}

// TestRelease_IsOfOneShop: a directive may serve several shops; the root of one counts
// for it alone.
func TestRelease_IsOfOneShop(t *testing.T) {
	s := policytest.NewSite(t)
	s.Release.Learn("new.example", "", true)
	for target, want := range map[string]bool{
		"http://new.example/wp-json/wc/v3/orders":                        true,
		"http://new.example/?rest_route=/wc/v3/orders":                   true,
		"http://new.example/index.php?rest_route=/wc/v3/orders":          true,
		"http://new.example./wp-json/wc/v3/orders":                       false,
		"http://new.example:8080/wp-json/wc/v3/orders":                   false,
		"http://NEW.example/wp-json/wc/v3/orders":                        false,
		"http://old.example/wp-json/wc/v3/orders":                        false,
		"http://new.example/staging/wp-json/wc/v3/orders":                false,
		"http://new.example/staging/nope.css?rest_route=/wc/v3/orders":   false,
		"http://new.example/staging/index.php?rest_route=/wc/v3/orders/": false,
	} {
		host, path, _ := strings.Cut(strings.TrimPrefix(target, "http://"), "/")
		r := policytest.Request(t, s, nil, "GET", "/"+path, "")
		if r.HTTP.Host = host; s.Release.AtLeast(r.Whole, 11, 1) != want {
			t.Errorf("%s: %v", target, !want)
		}
	}
	r := policytest.Request(t, s, nil, "GET", "/wp-json/", "")
	r.HTTP.Host = "new.example"
	if s.Release.AtLeast(r.Whole, 11, 2) {
		t.Error("more than the root tells")
	}
	s.Release.Learn("old.example", "", false)
	if !s.Release.AtLeast(r.Whole, 11, 1) {
		t.Error("forgotten after the answer of another shop")
	}
	s.Release.Learn("new.example", "", false)
	if s.Release.AtLeast(r.Whole, 11, 1) {
		t.Error("still believed after another answer")
	}
}

// TestDiscover_Scripts: an install may lie below the home, and may move.
func TestDiscover_Scripts(t *testing.T) {
	s := policytest.NewSite(t)
	for _, test := range []struct{ home, install, want string }{
		{"http://h", "http://h", ""},
		{"http://h/blog", "http://h/blog/core", "/core"},
		{"http://h", "https://other/core/", "/core"},
		{"http://h/blog", "http://h/core", ""},
		{"http://h/blog", "http://h/blogs", ""},
		{"http://h/a", "http://h/a/core", "/core"},
		{"http://h", "://", ""},
	} {
		root := asktest.Answering(200, `{"namespaces":["wp/v2"],"home":"`+test.home+`","url":"`+test.install+`","routes":{"/":{}}}`)
		if _, err := discover.Discover(t.Context(), s, root, discover.Reach{Host: "h"}); err != nil {
			t.Fatal(err)
		}
		if got := discover.Of(s).ScriptDir("h"); got != test.want || discover.Of(s).ScriptDir("other") != "" {
			t.Errorf("%s, %s: %q, want %q", test.home, test.install, got, test.want)
		}
	}
}

// TestDiscover_Routes: the root hands over its routes in the order of registration, and
// another host has an index of its own.
func TestDiscover_Routes(t *testing.T) {
	s := policytest.NewSite(t)
	read := func(host, routes string) *discover.Root {
		root, err := discover.Discover(t.Context(), s, asktest.Answering(200, `{"namespaces":["wp/v2","a/v1"],"routes":`+routes+`}`), discover.Reach{Host: host})
		if err != nil {
			t.Fatal(err)
		}
		return root
	}
	root := read("a.example", `{"/z/v1/(?P<any>[a-z]+)":{"methods":["GET"]},"/a/v1/(?P<first>\\w+)":{},"/a/v1/(?P<second>\\d+)":{},"/z/v1/(?P<any>[a-z]+)":{}}`)
	if want := []string{`/z/v1/(?P<any>[a-z]+)`, `/a/v1/(?P<first>\w+)`, `/a/v1/(?P<second>\d+)`}; !slices.Equal((&index.Root{Routes: root.Listed}).Patterns(), want) {
		t.Errorf("got %q", root.Listed)
	}
	if name, _ := discover.Of(s).Index("a.example").Pattern("/a/v1/7"); name != "/a/v1/:first" {
		t.Errorf("the order is lost: %q", name)
	}
	if discover.Of(s).Index("b.example") != nil || discover.Of(s).Index("A.example") != nil {
		t.Error("the index of another host")
	}
	if read("a.example", `[]`); discover.Of(s).Index("a.example") != nil {
		t.Error("an empty root is an index")
	}
}

package condition_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/condition"
)

// compiled returns the conditions of lines `<member> <sign> <value>` and `optional <member>`.
func compiled(t *testing.T, c condition.Conditions, comparisons ...string) *condition.Conditions {
	t.Helper()
	for _, line := range comparisons {
		words := strings.Fields(line)
		m, err := condition.ParseComparison(words[0], words[1:])
		if err != nil {
			t.Fatal(err)
		}
		c.Members = append(c.Members, m)
	}
	if err := c.Compile(false); err != nil {
		t.Fatal(err)
	}
	return &c
}

// put returns an update of an order with a body, and with a query behind a "?" in front of it.
func put(t *testing.T, body string) *call.Call {
	t.Helper()
	query, rest, has := strings.Cut(body, " ")
	if !has || query[0] != '?' {
		query, rest = "", body
	}
	r := httptest.NewRequest(http.MethodPut, "/wp-json/wc/v3/orders/5"+query, strings.NewReader(rest))
	if r.Header.Set("Content-Type", "application/json"); !strings.HasPrefix(rest, "{") {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	p, _ := platforms.ByName("wordpress")
	c := call.NewReader(call.Config{Platform: p}).Read(r, nil)
	t.Cleanup(c.Close)
	return c
}

func unmet(t *testing.T, c *condition.Conditions, body string) string {
	t.Helper()
	line, err := c.Of(put(t, body), func(name string) bool { return name == "consumer_key" })
	if err != nil {
		return err.Error()
	}
	return line
}

// TestOnly: a call that writes carries nothing else, but what goes with every call.
func TestOnly(t *testing.T) {
	t.Parallel()
	only := compiled(t, condition.Conditions{Only: []string{"status", "billing.email", "billing.name.first", "meta", "meta.x"}})
	const line = "only status billing.email billing.name.first meta meta.x"
	for body, want := range map[string]string{
		``: "", `{}`: "", `{"status":1}`: "", `status=1`: "", `{"meta":{"y":1}}`: "",
		`?_fields=id&_embed&_envelope=1&_jsonp=x&_locale=user&consumer_key=k {"status":1}`: "",
		`{"billing":{"email":1,"name":{"first":1}}}`:                                       "", `billing[name][first]=1`: "",
		`{"billing":{"name":{"last":1}}}`: line, `billing[name][last]=1`: line, `{"billing":{"name":1}}`: line,
		`{"total":1}`: line, `total=1`: line, `?total=1 {"status":1}`: line, `{"Status":1}`: line, `{"billing":1}`: line,
		`?a=1;b=2 {}`: "400 rest_ambiguous_request: variables", `{"a":1,"a":2}`: "400 rest_ambiguous_request: body",
	} {
		if got := unmet(t, only, body); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/wp-json/wc/v3/orders?total=1", nil)
	p, _ := platforms.ByName("wordpress")
	c := call.NewReader(call.Config{Platform: p}).Read(r, nil)
	defer c.Close()
	if line, err := only.Of(c, func(string) bool { return false }); line != "" || err != nil {
		t.Error("a call that only reads:", line, err)
	}
}

// digits returns a number of n digits.
func digits(n int) string { return strings.Repeat("7", n) }

// TestBounds: a member may have a lower and an upper bound, and another member the same one.
func TestBounds(t *testing.T) {
	t.Parallel()
	c := compiled(t, condition.Conditions{}, "n >= 2", "n <= 5", "m <= 5")
	for body, want := range map[string]string{
		"n=2&m=5": "", "n=5&m=0": "", "n=1&m=5": "n >= 2", "n=6&m=5": "n <= 5", "n=3&m=6": "m <= 5",
	} {
		if got := unmet(t, c, body); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// TestCompared: what `only` names, and what is behind that, can be compared.
func TestCompared(t *testing.T) {
	t.Parallel()
	for _, member := range []string{"a", "a.x", "a.x.y.z", "b.c"} {
		c := compiled(t, condition.Conditions{Only: []string{"b.c", "a"}}, member+" = 1")
		if got := unmet(t, c, `{"d":1}`); got != "only b.c a" {
			t.Error(member, got)
		}
	}
	for _, member := range []string{"d", "b.d"} {
		c := condition.Conditions{Only: []string{"b.c", "a"}, Members: []condition.Comparison{{Member: member, Is: "=", Values: []string{"1"}}}}
		if err := c.Compile(false); err == nil || err.Error() != member+" is compared, and only does not name it" {
			t.Error(member, err)
		}
	}
	reads := condition.Conditions{Members: []condition.Comparison{{Member: "a", Is: "=", Values: []string{"1"}}}}
	if err := reads.Compile(true); err != nil {
		t.Error("a rule that cannot write compares a parameter:", err)
	}
}

// TestComparisons: each place that has the member must fit, as a text or as a number that is sent.
func TestComparisons(t *testing.T) {
	t.Parallel()
	for line, bodies := range map[string]map[string]bool{
		"status = processing,completed": {
			`{"status":"processing"}`: true, `{"status":"completed"}`: true, `status=completed`: true, `?status=completed {}`: true,
			`{"status":"Completed"}`: false, `{"status":"completed "}`: false, `{"status":null}`: false, ``: false, `{}`: false,
			`{"status":["completed"]}`: false, `status[]=completed`: false, `?status=refunded {"status":"completed"}`: false,
			`?status=completed {"status":null}`: false, `{"status":"complete\u0064"}`: true, `{"STATUS":"completed"}`: false,
		},
		"n = 5":   {`{"n":5}`: true, `{"n":"5"}`: true, `n=5`: true, `{"n":5.0}`: false, `{"n":05}`: false, `{"n":true}`: false, `n=05`: false},
		"n = -":   {`{"n":"-"}`: true, `{"n":-1}`: false},
		"n <= 10": {`{"n":10}`: true, `{"n":10.0}`: true, `{"n":1e1}`: true, `{"n":"10"}`: true, `{"n":"-3"}`: true, `n=9.99`: true, `{"n":-1e3}`: true, `{"n":"10.000"}`: true, `{"n":".5"}`: true, `{"n":"5."}`: true, `{"n":10.000000000000000000001}`: false, `{"n":"1e1"}`: false, `{"n":"0x1"}`: false, `{"n":" 1"}`: false, `{"n":"+1"}`: false, `{"n":""}`: false, `{"n":"-"}`: false, `{"n":"."}`: false, `{"n":"1,5"}`: false, `{"n":"--1"}`: false, `{"n":false}`: false, `{"n":null}`: false, `{"n":1e-65}`: false, `{"n":-1e999999999}`: false, `{"n":11}`: false},
		"n >= 0": {
			`{"n":1e64}`: true, `{"n":1E64}`: true, `{"n":1e65}`: false, `{"n":1e-64}`: true, `{"n":1e-65}`: false,
			`{"n":` + digits(64) + `}`: true, `{"n":` + digits(65) + `}`: false, `n=` + digits(64): true, `n=` + digits(65): false,
		},
		"n >= -2": {`{"n":-2}`: true, `{"n":"-2.0"}`: true, `{"n":-2.1}`: false, `{"n":"-3"}`: false},
		"a.b = x": {`{"a":{"b":"x"}}`: true, `a[b]=x`: true, `{"a":{"b":"y"}}`: false, `{"a":[]}`: false, `{"a.b":"x"}`: false, `{"a":{"b":"x","b":"x"}}`: false},
	} {
		c := compiled(t, condition.Conditions{}, line)
		for body, holds := range bodies {
			want := line
			if holds {
				want = ""
			}
			if got := unmet(t, c, body); got != want && (holds || !strings.Contains(got, "400")) {
				t.Errorf("%s, %s: %q", line, body, got)
			}
		}
	}
}

// TestOptional: a member may be absent, but not be something else.
func TestOptional(t *testing.T) {
	t.Parallel()
	c := compiled(t, condition.Conditions{Optional: []string{"a.b"}}, "a.b = x")
	for body, want := range map[string]string{
		``: "", `{}`: "", `{"a":{}}`: "", `{"a":[]}`: "", `{"a":{"b":"x"}}`: "", `{"a":{"b":"y"}}`: "a.b = x",
		`{"a":{"b":"x"},"a":{"b":"x"}}`: "400 rest_ambiguous_request: body",
		`{"a":null}`:                    "a.b = x", `{"a":{"b":null}}`: "a.b = x", `{"a":"b"}`: "a.b = x", `{"a":[{"b":"x"}]}`: "a.b = x",
	} {
		if got := unmet(t, c, body); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// TestAround: addresses and hours.
func TestAround(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC) // 14:00 in Berlin
	c := compiled(t, condition.Conditions{From: []string{"203.0.113.0/24", "2001:db8::/32"}})
	for client, want := range map[string]bool{
		"203.0.113.9": true, "::ffff:203.0.113.9": true, "2001:db8::1": true, "2001:db8::1%eth0": true, "203.0.114.1": false, "::1": false,
	} {
		if got := c.Around(netip.MustParseAddr(client), noon) == ""; got != want {
			t.Error(client, got)
		}
	}
	if line := c.Around(netip.Addr{}, noon); line != "from 203.0.113.0/24 2001:db8::/32" {
		t.Error("a client without an address:", line)
	}
	for between, want := range map[string]bool{
		"12:00-12:01 UTC": true, "11:59-12:00 UTC": false, "22:00-06:00 UTC": false, "11:00-06:00 UTC": true, "22:00-13:00 UTC": true, "13:00-14:00 UTC": false,
		"12:00-06:00 UTC": true, "22:00-12:00 UTC": false, "12:00-24:00 UTC": true,
		"00:00-24:00 UTC": true, "14:00-15:00 Europe/Berlin": true, "12:00-14:00 Europe/Berlin": false, "12:30-00:00 UTC": false,
	} {
		c := compiled(t, condition.Conditions{Between: between})
		if got := c.Around(netip.Addr{}, noon) == ""; got != want {
			t.Error(between, got)
		}
	}
	half := compiled(t, condition.Conditions{Between: "12:15-12:45 UTC"})
	if line := half.Around(netip.Addr{}, noon.Add(30*time.Minute)); line != "" {
		t.Error("half past twelve:", line)
	}
	winter := compiled(t, condition.Conditions{Between: "13:00-14:00 Europe/Berlin"})
	if line := winter.Around(netip.Addr{}, time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)); line != "" {
		t.Error("an hour of winter:", line)
	}
}

// TestCompile: what is no condition is refused in words.
func TestCompile(t *testing.T) {
	t.Parallel()
	compare := func(member, is string, values ...string) condition.Conditions {
		return condition.Conditions{Members: []condition.Comparison{{Member: member, Is: is, Values: values}}}
	}
	for want, c := range map[string]condition.Conditions{
		"from 203.0.113.9: the mask is missing, 203.0.113.9/32 is this address alone":                               {From: []string{"203.0.113.9"}},
		"from 203.0.113.9/24: bits behind the mask are set, the network is 203.0.113.0/24":                          {From: []string{"203.0.113.9/24"}},
		"from x: not a network such as 203.0.113.0/24 or 2001:db8::/32":                                             {From: []string{"x"}},
		"from ::ffff:203.0.113.0/120: write the network as one of IPv4":                                             {From: []string{"::ffff:203.0.113.0/120"}},
		"between 8-18: the hours are written as 08:00-18:00":                                                        {Between: "8-18"},
		"between 8-18:00: the hours are written as 08:00-18:00":                                                     {Between: "8-18:00"},
		"between 08:00-25:00: the hours are written as 08:00-18:00":                                                 {Between: "08:00-25:00"},
		"between 24:00-08:00: the hours are written as 08:00-18:00":                                                 {Between: "24:00-08:00"},
		"between 08:00-08:00: no time is between the two":                                                           {Between: "08:00-08:00"},
		`between 08:00-09:00 Berlin: this machine knows no zone "Berlin", which is written as Europe/Berlin or UTC`: {Between: "08:00-09:00 Berlin"},
		"n <= x: not a number of a minus, digits and one point":                                                     compare("n", "<=", "x"),
		"n <= takes one number":                                      compare("n", "<=", "1", "2"),
		"n =: a value is empty":                                      compare("n", "=", "a", ""),
		"m =: a value is empty":                                      compare("m", "="),
		`"a..b" is not the name of a member`:                         compare("a..b", "=", "x"),
		"a.b.c.d.e: a member is at most 4 names deep":                compare("a.b.c.d.e", "=", "x"),
		`optional statuz: nothing compares it: did you mean status?`: {Optional: []string{"statuz"}, Members: compare("status", "=", "x").Members},
		"b is compared, and only does not name it":                   {Only: []string{"a"}, Members: compare("b", "=", "x").Members},
		"n = stands twice":                                           {Members: slices.Concat(compare("n", "=", "x").Members, compare("n", "=", "y").Members)},
	} {
		if err := c.Compile(false); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	only := condition.Conditions{Only: []string{"a"}}
	if err := only.Compile(true); err == nil {
		t.Error("only, for a rule that cannot write")
	}
}

// TestParseComparison: slips of the pen are told.
func TestParseComparison(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"onlly status":         `did you mean only?`,
		"status == x":          "status ==: a condition is",
		"status":               "status: a condition is",
		"status = a, b":        "values stand behind each other",
		"status = a,,b":        "status =: a value is empty",
		"betweeen 08:00-18:00": `did you mean between?`,
	} {
		words := strings.Fields(line)
		if _, err := condition.ParseComparison(words[0], words[1:]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

var decimal = regexp.MustCompile(`^-?([0-9]+\.?[0-9]*|\.[0-9]+)$`)

// FuzzComparison: of two bounds the wider one holds wherever the narrower does; every number is on one side of a bound;
// and a form and JSON say the same of a text.
func FuzzComparison(f *testing.F) {
	for _, seed := range [][3]string{{"1", "1", "2"}, {"-1.5", "-1", "3"}, {"1e3", "5", "5"}, {".5", "0", "0.5"}, {"x", "1", "1"}, {"", "1", "1"}, {"00012", "12", "13"}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, text, narrow, wide string) {
		isBound := func(text string) bool { return decimal.MatchString(text) && len(text) <= 64 }
		if !isBound(narrow) || !isBound(wide) || strings.Trim(text, "0123456789.-eE+x") != "" {
			return
		}
		member := func(is, bound string) *condition.Conditions {
			return compiled(t, condition.Conditions{}, "n "+is+" "+bound)
		}
		holds := func(c *condition.Conditions) bool { return unmet(t, c, `{"n":"`+text+`"}`) == "" }
		if form := unmet(t, member("<=", narrow), "n="+strings.ReplaceAll(text, "+", "%2B")) == ""; form != holds(member("<=", narrow)) {
			t.Fatalf("%q is compared in a form and not in JSON, or the other way round", text)
		}
		below, above := holds(member("<=", narrow)), holds(member(">=", narrow))
		if number := isBound(text); number != (below || above) || number != (holds(member("<=", wide)) || holds(member(">=", wide))) {
			t.Fatalf("%q: a number is on one side of each bound, and nothing else is", text)
		}
		if ordered := unmet(t, member("<=", wide), `{"n":"`+narrow+`"}`) == ""; ordered && below && !holds(member("<=", wide)) {
			t.Fatalf("%s <= %s <= %s, and not the first below the last", text, narrow, wide)
		}
	})
}

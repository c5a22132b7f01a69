package testfile

import (
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

// TestRead reads every key.
func TestRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "all.test.yaml")
	text, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = text.Close() })
	f, err := Read(path, text)
	if err != nil {
		t.Fatal(err)
	}
	if f.Config != "testdata/Caddyfile" || f.Index != "testdata/index.json" || f.Adapter != "caddyfile" || len(f.Tests) != 5 {
		t.Fatalf("%+v", f)
	}
	first := f.Tests[0]
	if got := first.At.String(); got != "testdata/all.test.yaml:6" || first.Name != "named" || !first.Spellings {
		t.Error(got, first)
	}
	if want := (Expect{Answer: dryrun.Refused, Code: "rest_forbidden", By: "access", Rule: "12"}); first.Expect != want {
		t.Errorf("%+v", first.Expect)
	}
	r := first.Request
	if r.As != (dryrun.As{Kind: dryrun.Role, Name: "editor"}) || r.Client != netip.MustParseAddr("203.0.113.7") ||
		!reflect.DeepEqual(r.Records, map[uint64]dryrun.RecordKind{4711: dryrun.Order, 4712: dryrun.Subscription, 4713: dryrun.NoRecord}) {
		t.Errorf("%+v", r)
	}
	const body = `{"status":"completed","total":1.0,"list":[1,true,null,"2001-01-01"]}`
	if got := string(r.Raw); got != "POST /wp-json/wc/v3/orders/4711 HTTP/1.1\r\nHost: shop.example.com\r\nX-One: a\r\nX-Two: b\r\nX-Two: c\r\n"+
		"Content-Type: application/json\r\nContent-Length: 68\r\n\r\n"+body {
		t.Errorf("%q", got)
	}
	if got := string(f.Tests[1].Raw); !strings.HasSuffix(got, "\r\n\r\nrest_route=%2Fwp%2Fv2%2Fusers&ids%5B%5D=1&ids%5B%5D=2") ||
		!strings.Contains(got, "Cookie: b=c\r\n") || f.Tests[1].Name != "POST https://shop.example.com/" {
		t.Errorf("%q", got)
	}
	if got := f.Tests[2]; got.Expect.Answer != dryrun.Page || strings.Contains(string(got.Raw), "Content-Type") {
		t.Errorf("%+v %s", got, got.Raw)
	}
	never, always := f.Tests[3], f.Tests[4]
	if never.Name != "never anonymous,user POST,PUT /wp/v2/** at https://shop.example.com" || len(never.As) != 2 || never.Request != nil {
		t.Errorf("%+v", never)
	}
	if p := always.Proof; always.Name != "editors read" || !p.Always || p.Calls != nil || p.Routes[0] != "/wp/v2/**" {
		t.Errorf("%+v", always)
	}
}

// TestRead_Errors: each error names its line, and a near word.
func TestRead_Errors(t *testing.T) {
	t.Parallel()
	const request = "tests:\n- request: GET http://a/\n"
	for text, want := range map[string]string{
		"":                             `1: the file is empty: it needs the key tests`,
		"tests: [":                     `1: this is not YAML: did not find expected node content`,
		"config: a\ntests:\n  - x\n :": `3: this is not YAML: `,
		"tests: []\n---\ntests: []":    `2: a second document: a file holds one`,
		"config: a\ntest: []":          `2: a file of tests has no key "test": did you mean tests?`,
		"config: a":                    `1: a file of tests needs the key tests`,
		"config: [a]\ntests: [1]":      `1: config is text, this is a list`,
		"tests: 1":                     `1: tests is a list, this is "1"`,
		"tests: []":                    `1: tests is empty`,
		"tests:\n- 1":                  `2: a test has keys with values, this is "1"`,
		"tests:\n- name: a":            `2: a test needs request and expect, or never, or always`,
		request:                        `2: a test with request needs expect`,
		request + "  expects: pass":    `3: a test has no key "expects": did you mean expect?`,
		request + "  expect: passes":   `3: expect: "passes" is not one of pass, page, refused, would_refuse: did you mean pass?`,
		request + "  expect: pass\n  expect: pass":                                `4: a test has the key "expect" twice`,
		request + "  expect: {by: access}":                                        `3: expect has a code under either refused or would_refuse`,
		request + "  expect: {refuse: x}":                                         `3: expect has no key "refuse": did you mean refused?`,
		request + "  expect: {refused: x, by: acces}":                             `3: by: "acces" is not one of`,
		request + "  expect: pass\n  as: admin":                                   `4: as: `,
		request + "  expect: pass\n  as: role:editr":                              `did you mean editor?`,
		request + "  expect: pass\n  body: a\n  json: 1":                          `5: a request has one body: body or json`,
		request + "  expect: pass\n  ids: {x: order}":                             `4: ids: "x" is no id`,
		request + "  expect: pass\n  ids: {1: oder}":                              `4: ids: "oder" is not one of order, subscription, none: did you mean order?`,
		request + "  expect: pass\n  from: here":                                  `4: from: "here" is no address`,
		request + "  expect: pass\n  spellings: true":                             `4: spellings: "true" is not all`,
		request + "  expect: page\n  spellings: all":                              `4: spellings goes with pass`,
		request + "  expect: pass\n  headers: [a]":                                `4: a header is written Name: value, this is "a"`,
		request + "  expect: pass\n  headers: {\"a b\": c}":                       `4: "a b: c" is no header`,
		request + "  expect: pass\n  json: .nan":                                  `4: json: ".nan" has no form in JSON`,
		request + "  expect: pass\n  json: {a: 1, a: 2}":                          `4: json has the key "a" twice`,
		request + "  expect: pass\n  json: &a [*a]":                               `json: more than 100 values inside each other`,
		"tests:\n- request: http://a/\n  expect: pass":                            `2: request is a method and a URL`,
		"tests:\n- request: GET a/b\n  expect: pass":                              `2: "a/b" is no URL`,
		"tests:\n- never: {as: anonymous}":                                        `2: never needs the key routes`,
		"tests:\n- never: {as: anonymous, routes: [], at: http://a}":              `2: routes is empty`,
		"tests:\n- never: {as: anonymous, routes: wp, at: http://a}":              `2: routes: `,
		"tests:\n- never: {as: anonymous, calls: [GTE], routes: /, at: http://a}": `2: calls: `,
		"tests:\n- always:\n    as: anonymous\n    routes: /**\n    at: shop":     `5: "shop" is no URL`,
		"tests:\n- never: {as: user, routes: /**, at: 'tag:'}":                    `2: at: write the tag behind tag:, such as tag:shops`,
		"tests:\n- never: {as: user, routes: /**, at: All}":                       `2: "All" is no URL`,
		"tests:\n- request: GET /\n  at: tag:\n  expect: pass":                    `3: `,
		"tests:\n- request: GET /\n  at: http://a\n  expect: pass":                `3: at: "http://a" is neither all nor tag: with a tag`,
		"tests:\n- request: GET http://a/\n  at: all\n  expect: pass":             `2: with at, a request names what stands behind the address of a site`,
		"tests:\n- request: GET /\n  expect: pass":                                `2: "/" is no URL`,
		"tests:\n- request: GET /%zz\n  at: all\n  expect: pass":                  `2: request: `,
		"tests:\n- never: {as: user, routes: /**, at: http://a}\n  expect: pass":  `3: expect does not go with never`,
	} {
		_, err := Read("a.yaml", strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "a.yaml:") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestRead_AllErrors: an error does not hide those of the next tests.
func TestRead_AllErrors(t *testing.T) {
	t.Parallel()
	_, err := Read("a.yaml", strings.NewReader("confg: a\ntests:\n- request: x\n- expect: y\n"))
	if got := len(flatten(err)); got != 3 {
		t.Errorf("%d errors: %v", got, err)
	}
}

// TestRead_Aliases: aliases repeat what was written, within bounds.
func TestRead_Aliases(t *testing.T) {
	t.Parallel()
	f, err := Read("a.yaml", strings.NewReader("tests:\n- {request: GET http://a/, headers: &h {A: b}, expect: pass}\n- {request: GET http://a/, headers: *h, expect: pass}\n"))
	if err != nil || !strings.Contains(string(f.Tests[1].Raw), "A: b\r\n") {
		t.Errorf("%+v, %v", f, err)
	}
	bomb := "tests:\n- request: POST http://a/\n  expect: pass\n  json:\n    a0: &a0 [1, 1]\n"
	for i := range 30 {
		n := string(rune('a'+i%26)) + string(rune('a'+i/26))
		last := "a0"
		if i > 0 {
			last = string(rune('a'+(i-1)%26)) + string(rune('a'+(i-1)/26))
		}
		bomb += "    " + n + ": &" + n + " [*" + last + ", *" + last + "]\n"
	}
	if _, err := Read("a.yaml", strings.NewReader(bomb)); err == nil || !strings.Contains(err.Error(), "too many values") {
		t.Error(err)
	}
}

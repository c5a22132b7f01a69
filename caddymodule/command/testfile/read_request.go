package testfile

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/net/http/httpguts"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/mcp"
)

// builder collects the parts of a request.
type builder struct {
	*document
	t       *Test
	target  *yaml.Node // method and URL
	headers []string
	body    []byte
	kind    string // the Content-Type that goes with json and form
	as      dryrun.As
	records map[uint64]dryrun.RecordKind
	ability map[string]dryrun.Ability
	client  netip.Addr
}

// request adds the readers of the keys of a request.
func (d *document) request(t *Test, readers map[string]func(*yaml.Node) error) *builder {
	t.Request = new(Request)
	b := &builder{document: d, t: t, as: dryrun.As{Kind: dryrun.Anonymous}}
	readers["request"] = b.line
	readers["at"] = func(n *yaml.Node) error {
		other, err := d.sites(n, t)
		if err == nil && t.Sites == nil {
			err = d.fail(n, "at: %q is neither all nor tag: with a tag; the URL of a request names one site", other)
		}
		return err
	}
	readers["headers"] = b.header
	readers["body"] = func(n *yaml.Node) error {
		text, err := d.text(n, "body")
		b.body = []byte(text)
		return err
	}
	readers["json"] = func(n *yaml.Node) (err error) {
		b.kind = "application/json"
		b.body, err = d.json(n)
		return err
	}
	readers["form"] = func(n *yaml.Node) (err error) {
		b.kind = "application/x-www-form-urlencoded"
		b.body, err = d.form(n)
		return err
	}
	readers["as"] = func(n *yaml.Node) (err error) {
		b.as, _, err = d.caller(n)
		return err
	}
	readers["ids"] = b.ids
	readers["abilities"] = b.abilities
	readers["from"] = b.from
	readers["spellings"] = b.spellings
	readers["expect"] = func(n *yaml.Node) error { return d.expect(n, &t.Expect) }
	return b
}

// build makes the request of what was read.
func (b *builder) build(given map[string]*yaml.Node) error {
	var bodies []string
	for _, key := range []string{"body", "json", "form"} {
		if given[key] != nil {
			bodies = append(bodies, key)
		}
	}
	if len(bodies) > 1 {
		return b.fail(given[bodies[1]], "a request has one body: %s or %s", bodies[0], bodies[1])
	}
	if b.kind != "" && !slices.ContainsFunc(b.headers, isContentType) {
		b.headers = append(b.headers, "Content-Type: "+b.kind)
	}
	r := b.t.Request
	address := r.URL
	if b.t.Sites == nil {
		if err := b.site(b.target, r.URL); err != nil {
			return err
		}
	} else {
		if !strings.HasPrefix(r.URL, "/") {
			return b.fail(b.target, "with at, a request names what stands behind the address of a site, such as GET /wp-json/, this is %q", r.Text)
		}
		address = "https://site.invalid" + r.URL
	}
	built, err := dryrun.Build(r.Method, address, b.headers, b.body)
	if b.t.Spellings && b.t.Expect.Answer == dryrun.Page {
		return b.fail(given["spellings"], "spellings goes with pass, refused or would_refuse: a page is no call")
	}
	if err != nil {
		return b.fail(given["request"], "request: %v", err)
	}
	built.As, built.Records, built.Abilities, built.Client = b.as, b.records, b.ability, b.client
	r.Request, r.Headers, r.Body = built, b.headers, b.body
	if b.t.Name == "" {
		b.t.Name = r.Text
	}
	return nil
}

// line reads "METHOD URL".
func (b *builder) line(n *yaml.Node) error {
	text, err := b.text(n, "request")
	if err != nil {
		return err
	}
	r := b.t.Request
	words := strings.Fields(text)
	if len(words) != 2 || strings.Contains(words[0], "/") {
		return b.fail(n, "request is a method and a URL, such as GET https://shop.example.com/wp-json/, this is %q", text)
	}
	r.Method, r.URL, r.Text = words[0], words[1], strings.Join(words, " ")
	if !httpguts.ValidHeaderFieldName(r.Method) { // the same letters as in a method
		return b.fail(n, "request: %q is no method", r.Method)
	}
	b.target = n
	return nil
}

// site checks a URL with scheme and host.
func (d *document) site(n *yaml.Node, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return d.fail(n, "%q is no URL that begins with http:// or https:// and has a host", text)
	}
	return nil
}

// header reads headers as a mapping, or as a list of "Name: value".
func (b *builder) header(n *yaml.Node) error {
	n, err := b.value(n)
	if err != nil {
		return err
	}
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			line, err := b.text(item, "a header")
			if err != nil {
				return err
			}
			name, value, ok := strings.Cut(line, ":")
			if !ok {
				return b.fail(item, "a header is written Name: value, this is %q", line)
			}
			if err := b.addHeader(item, name, strings.TrimSpace(value)); err != nil {
				return err
			}
		}
		return nil
	}
	return b.pairs(n, "headers", func(key, value *yaml.Node) error {
		values, err := b.texts(value, "the header "+key.Value)
		for _, v := range values {
			if err := b.addHeader(key, key.Value, v); err != nil {
				return err
			}
		}
		return err
	})
}

func (b *builder) addHeader(n *yaml.Node, name, value string) error {
	if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
		return b.fail(n, "%q is no header", name+": "+value)
	}
	b.headers = append(b.headers, name+": "+value)
	return nil
}

// ids reads which records the site has.
func (b *builder) ids(n *yaml.Node) error {
	b.records = map[uint64]dryrun.RecordKind{}
	return b.pairs(n, "ids", func(key, value *yaml.Node) error {
		id, err := strconv.ParseUint(key.Value, 10, 64)
		if err != nil {
			return b.fail(key, "ids: %q is no id, such as 4711", key.Value)
		}
		word, err := b.word(value, "ids", string(dryrun.Order), string(dryrun.Subscription), string(dryrun.NoRecord))
		b.records[id] = dryrun.RecordKind(word)
		return err
	})
}

// abilities reads what the site says of abilities.
func (b *builder) abilities(n *yaml.Node) error {
	b.ability = map[string]dryrun.Ability{}
	return b.pairs(n, "abilities", func(key, value *yaml.Node) error {
		if !mcp.AbilityID(key.Value) {
			return b.fail(key, "abilities: %q is no id, such as shop/orders-query", key.Value)
		}
		word, err := b.word(value, "abilities", dryrun.Abilities()...)
		b.ability[key.Value] = dryrun.Ability(word)
		return err
	})
}

// from reads the address of the client.
func (b *builder) from(n *yaml.Node) error {
	text, err := b.text(n, "from")
	if err != nil {
		return err
	}
	if b.client, err = netip.ParseAddr(text); err != nil {
		return b.fail(n, "from: %q is no address, such as 203.0.113.7", text)
	}
	return nil
}

func (b *builder) spellings(n *yaml.Node) error {
	text, err := b.text(n, "spellings")
	if err != nil {
		return err
	}
	if text != "all" {
		return b.fail(n, "spellings: %q is not all", text)
	}
	b.t.Spellings = true
	return nil
}

// caller reads who is calling, with the words for it.
func (d *document) caller(n *yaml.Node) (dryrun.As, string, error) {
	text, err := d.text(n, "as")
	if err != nil {
		return dryrun.As{}, "", err
	}
	as, err := dryrun.ParseAs(text)
	if err != nil {
		return as, "", d.fail(n, "as: %v", err)
	}
	return as, text, nil
}

// expect reads a word, or a mapping with a code.
func (d *document) expect(n *yaml.Node, e *Expect) error {
	n, err := d.value(n)
	if err != nil {
		return err
	}
	if n.Kind == yaml.ScalarNode {
		word, err := d.word(n, "expect", string(dryrun.Pass), string(dryrun.Page), string(dryrun.Refused), string(dryrun.WouldRefuse))
		e.Answer = dryrun.Answer(word)
		return err
	}
	given, err := d.fields(n, "expect", map[string]func(*yaml.Node) error{
		"refused":      d.string(&e.Code, "refused"),
		"would_refuse": d.string(&e.Code, "would_refuse"),
		"by":           func(n *yaml.Node) error { return d.policy(n, &e.By) },
		"at":           d.string(&e.Rule, "at"),
	})
	switch refused, would := given["refused"] != nil, given["would_refuse"] != nil; {
	case err != nil:
		return err
	case refused == would:
		return d.fail(n, "expect has a code under either refused or would_refuse")
	case refused:
		e.Answer = dryrun.Refused
	default:
		e.Answer = dryrun.WouldRefuse
	}
	return nil
}

// policy reads the name of a policy.
func (d *document) policy(n *yaml.Node, to *string) (err error) {
	names := []string{access.LockdownName} // which --running may have
	for _, e := range policies.Catalog {
		names = append(names, e.Name)
	}
	*to, err = d.word(n, "by", names...)
	return err
}

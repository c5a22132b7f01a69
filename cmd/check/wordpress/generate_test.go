package wordpress

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/grammar"
)

// generator makes requests, the same ones from the same choices. A third is what
// honest clients send; the others differ from that in a few places, each in a
// way that docs/platform I or III.4 knows.
type generator struct {
	grammar.Choices
	orders, subs []int
}

func newGenerator(c grammar.Choices, site *site) *generator {
	return &generator{c, site.Orders, site.Subscriptions}
}

// pick returns one of the alternatives, the simplest of which comes first.
func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

// rare is IntN with n-1 for the simplest.
func (g *generator) rare(n int) int { return n - 1 - g.IntN(n) }

// oneIn is true once in n times, and false in the simplest case.
func (g *generator) oneIn(n int) bool { return g.rare(n) == 0 }

// draft is a request while it is put together.
type draft struct {
	method  string
	route   string
	path    string // of the target
	query   []string
	form    []string // pairs, "" where the body is not a form
	json    []string // members
	body    string   // whole, where it is neither
	ctype   string
	headers []string
	as      string
}

// next returns the next request.
func (g *generator) next() *message {
	d := &draft{method: "GET", route: g.route()}
	g.caller(d)
	if g.oneIn(5) {
		g.batch(d)
	} else {
		g.verb(d)
		g.object(d)
	}
	g.address(d)
	if g.IntN(3) > 0 {
		for range 1 + g.IntN(3) {
			g.mutate(d)
		}
	}
	if g.oneIn(6) {
		d.query = append(d.query, pick(g, "lang=en", "_locale=user", "_envelope=1", "_jsonp=cb", "context=edit", "_fields=id", "per_page=2", "a;b", "x=%zz"))
	}
	return g.finish(d)
}

func (g *generator) id() string {
	if g.oneIn(12) {
		return pick(g, "0", "999999", "007", "9007199254740993")
	}
	return fmt.Sprint(pick(g, pick(g, g.orders...), pick(g, g.subs...)))
}

func (g *generator) route() string {
	shop := pick(g, "/wc/v1", "/wc/v2", "/wc/v3", "/wc/v3", "/wc-analytics")
	switch g.IntN(10) {
	case 0, 1, 2, 3:
		return shop + "/orders/" + g.id()
	case 4:
		return shop + "/orders" + pick(g, "", "/"+g.id()+"/notes", "/"+g.id()+"/notes/0", "/"+g.id()+"/refunds")
	case 5:
		return "/wc/v3/subscriptions/" + g.id()
	case 6:
		return pick(g, "/wp/v2/posts", "/wp/v2/types", "/wp/v2/users", "/wp/v2/users/me", "/wp/v2/users/2", "/wp/v2/taxonomies", "/wp/v2/pages")
	case 7:
		return pick(g, "/complianz/v1/track", "/wc-stripe/v1/webhook", "/feed/troubleshooting", "/cookie/v1/upload-logo", "/woocommerce/mcp")
	case 8:
		return pick(g, "/wc/store/v1/cart", "/wc/store/cart", "/wc/store/v1/checkout", "/wc/store/v1/cart/add-item", "/wc/v4/orders/"+g.id())
	}
	return pick(g, "/", "/wc/v3", "/wp/v2", "/batch/v1", "/no/such/route", "/oembed/1.0/embed", "/wc/v3/orders/batch")
}

func (g *generator) caller(d *draft) {
	switch g.rare(10) {
	case 0, 1, 2:
		d.as = "shop_manager"
	case 3:
		d.as = pick(g, "editor", "author", "subscriber")
	case 4:
		d.headers = append(d.headers, pick(g, "X-WP-Nonce: 0123456789", "Authorization: Basic eDp5", "Cookie: wordpress_logged_in_0=x"))
	}
}

func (g *generator) verb(d *draft) {
	d.method = pick(g, "GET", "GET", "POST", "PUT", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
	if !writes(d.method) {
		return
	}
	switch g.rare(3) {
	case 0:
		d.ctype, d.json = "application/json", []string{`"customer_note":"g"`}
	case 1:
		d.ctype, d.form = "application/x-www-form-urlencoded", []string{"customer_note=g"}
	}
}

func writes(method string) bool {
	switch strings.ToUpper(method) {
	case "POST", "PUT", "PATCH", "DELETE":
		return true
	}
	return false
}

// object names the record once more, in one of the places that beat the path.
func (g *generator) object(d *draft) {
	if !g.oneIn(3) {
		return
	}
	name := pick(g, "id", "id", "id", "order_id", "+id", "%20id", "id%00x", "ID", "i%64", "id[]", "order.id")
	id := g.id()
	switch {
	case d.json != nil:
		value := pick(g, id, `"`+id+`"`, id+".0", id+"e0", `" `+id+`"`, "null", `"`+id+`x"`)
		d.json = append(d.json, pick(g, `"id":`, `"id":`, `"\u0069d":`, `"order_id":`)+value)
	case d.form != nil:
		d.form = append(d.form, name+"="+id)
	default:
		d.query = append(d.query, name+"="+id)
	}
}

// batch makes d one of the three kinds of batch.
func (g *generator) batch(d *draft) {
	d.method, d.ctype = "POST", "application/json"
	switch g.IntN(3) {
	case 0:
		d.route = pick(g, "/wc/v3/orders/batch", "/wc/v2/orders/batch", "/wc-analytics/orders/batch")
		d.method = pick(g, "POST", "PUT", "PATCH")
		if g.oneIn(4) {
			d.ctype = "application/x-www-form-urlencoded"
			d.form = []string{"update[0][id]=" + g.id(), "update[1][id]=" + g.id()}
			return
		}
		for _, action := range []string{"create", "update", "delete"} {
			if !g.oneIn(2) {
				d.json = append(d.json, g.itemList(action))
			}
		}
		if d.json == nil {
			d.json = []string{`"update":[]`}
		}
		return
	case 1:
		d.route = "/batch/v1"
		if d.as == "" && g.oneIn(2) {
			d.as = pick(g, "editor", "shop_manager")
		}
	default:
		d.route = pick(g, "/wc/store/v1/batch", "/wc/store/batch")
	}
	var parts []string
	for range 1 + g.IntN(4) {
		parts = append(parts, g.part(strings.HasPrefix(d.route, "/wc/")))
	}
	d.json = []string{`"requests":[` + strings.Join(parts, ",") + `]`}
	if g.oneIn(6) {
		d.json = append(d.json, `"validation":"require-all-validate"`)
	}
}

func (g *generator) itemList(action string) string {
	var items []string
	for range g.IntN(4) {
		item := g.id()
		if action != "delete" {
			item = fmt.Sprintf(`{"id":%s,"customer_note":"b"}`, pick(g, item, item, `"`+item+`"`, item+`.0`, `"`+item+`x"`))
		}
		if action == "create" && !g.oneIn(4) {
			item = `{"customer_note":"b"}`
		}
		items = append(items, item)
	}
	return `"` + action + `":[` + strings.Join(items, ",") + `]`
}

func (g *generator) part(store bool) string {
	path := pick(g, "/wp/v2/posts", "/wp/v2/posts/"+g.id(), "/wc/v3/orders/"+g.id(), "/wp/v2/categories", "/batch/v1")
	if store {
		path = pick(g, "/wc/store/v1/cart/add-item", "/wc/store/v1/cart/update-customer", "/wc/store/cart/add-item", "/wc/v3/orders/7")
	}
	if g.oneIn(4) {
		path += pick(g, "?id="+g.id(), "#x", "/", "?_method=DELETE", "%20", "//")
	}
	if g.oneIn(12) {
		path = pick(g, "//"+path, "http://host"+path, "///", strings.ToUpper(path), path[1:])
	}
	fields := []string{`"path":"` + path + `"`}
	if !g.oneIn(3) {
		fields = append(fields, `"method":"`+pick(g, "POST", "POST", "PUT", "PATCH", "DELETE", "GET", "put")+`"`)
	}
	if g.oneIn(2) {
		fields = append(fields, `"body":{"title":"t","id":`+g.id()+`}`)
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// address decides where the route stands.
func (g *generator) address(d *draft) {
	value := d.route
	if g.oneIn(2) {
		value = url.QueryEscape(value)
	}
	switch g.rare(8) {
	default:
		d.path = "/wp-json" + d.route
	case 0, 1:
		d.path, d.query = pick(g, "/", "/index.php"), append(d.query, "rest_route="+value)
	case 2:
		if d.json != nil || d.method != "POST" {
			d.path = "/wp-json" + d.route
			return
		}
		d.path, d.form, d.ctype = pick(g, "/", "/index.php", "/visitors/"), append(d.form, "rest_route="+value), "application/x-www-form-urlencoded"
	}
}

func (g *generator) finish(d *draft) *message {
	m := &message{method: d.method, target: d.path, headers: d.headers, as: d.as, body: d.body}
	if len(d.query) > 0 {
		m.target += "?" + strings.Join(d.query, "&")
	}
	switch {
	case d.body != "":
	case d.json != nil:
		m.body = "{" + strings.Join(d.json, ",") + "}"
	case d.form != nil:
		m.body = strings.Join(d.form, "&")
	}
	if d.ctype != "" {
		m.headers = append(m.headers, "Content-Type: "+d.ctype)
	}
	return m
}

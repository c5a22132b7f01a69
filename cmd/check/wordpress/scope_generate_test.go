package wordpress

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// holder is somebody who has credentials: by role, or a key of the shop.
type holder struct {
	role, key, secret string
	account           account
	cookies           []string // "name=value", of all that a login sets
	nonce             string
	scoped            bool
}

// scoped makes requests with credentials that have a scope and others, in every place and spelling that PHP, WordPress
// or the shop may take, for calls and for the doors beside them.
type scoped struct {
	*generator
	holders []*holder
	home    string // of the site at the gate
	site    *site
	honest  bool // nothing of the request belongs to a scope, or is odd
	plain   bool // nothing of it is spelled oddly
}

func (g *scoped) next() *message {
	g.honest, g.plain = true, true
	d := &draft{method: pick(g.generator, "GET", "GET", "GET", "GET", "POST", "POST", "PUT", "DELETE", "HEAD", "OPTIONS")}
	if g.oneIn(4) {
		g.door(d)
	} else {
		g.call(d)
	}
	for range pick(g.generator, 1, 1, 1, 2) {
		g.credential(d, pick(g.generator, g.holders...))
	}
	if g.oneIn(8) {
		g.plain = false
		g.mutate(d)
	}
	if g.oneIn(8) {
		d.headers = append(d.headers, "X-HTTP-Method-Override: "+pick(g.generator, "GET", "POST", "PUT", "DELETE"))
	}
	m := g.finish(d)
	m.chunked = m.body != "" && g.oneIn(10)
	return m
}

// call is one of REST.
func (g *scoped) call(d *draft) {
	order := "/wc/v3/orders/" + strconv.Itoa(g.orders[0])
	d.route = pick(g.generator, "/wp/v2/posts", "/wp/v2/posts", "/wp/v2/posts", "/wp/v2/pages", "/wp/v2/users/me", "/wp/v2/types", "/wp/v2/settings", "/wc/v3/orders", order, order, "/wc/store/v1/cart", "/probe/v1/kept/7", "/wc/v3/probes", "/batch/v1", "/wc/v3/orders/batch", "/", "/wp/v2", "/woocommerce/mcp")
	switch g.IntN(4) {
	case 0:
		d.method, d.route = "GET", pick(g.generator, "/wp/v2/posts", "/wp/v2/posts", "/wc/v3/orders")
	case 1:
		d.method, d.route = "GET", pick(g.generator, "/wp/v2/pages", "/wp/v2/types", "/wp/v2/users/me", "/wc/v3/orders")
	}
	switch {
	case d.route == "/batch/v1":
		d.method, d.ctype = "POST", "application/json"
		d.body = fmt.Sprintf(`{"requests":[{"path":%q,"method":%q,"body":{"status":"pending"}}]}`, pick(g.generator, "/probe/v1/kept/7", "/wp/v2/posts", "/wc/v3/probes"), pick(g.generator, "POST", "PUT", "DELETE"))
	case strings.HasSuffix(d.route, "/batch"):
		d.method, d.ctype, d.body = "POST", "application/json", fmt.Sprintf(`{"update":[{"id":%d,"status":"pending"}]}`, g.orders[0])
	case d.method == "POST" || d.method == "PUT":
		if g.oneIn(2) {
			d.ctype, d.body = "application/json", pick(g.generator, `{"status":"pending"}`, `{"status":"pending","customer_note":"x"}`, "{}")
		} else {
			d.ctype, d.form = urlencoded, []string{pick(g.generator, "status=pending", "customer_note=x")}
		}
	}
	g.address(d)
	if g.oneIn(8) {
		d.query = append(d.query, pick(g.generator, "_embed", "_method=POST", "_method=GET", "_envelope=1", "_jsonp=cb", "x=wp-json/wc/", "_locale=user"))
	}
}

// door is a page, of which some are doors beside REST.
func (g *scoped) door(d *draft) {
	d.path = pick(g.generator, "/wc-api/v3/orders", "/", "/index.php", "/wp-admin/admin-ajax.php", "/wp-cron.php", "/wp-login.php", "/xmlrpc.php", "/wc-api/v2/products", "/visitors/")
	switch d.path {
	case "/", "/index.php", "/visitors/":
		d.query = append(d.query, pick(g.generator, "wc-api-version=3&wc-api-route=/orders", "x=wp-json/wc/", "wc-ajax=checkout", "wc-api=WC_Gateway_Paypal"))
	case "/wp-admin/admin-ajax.php":
		d.query = append(d.query, "action=rest-nonce", "x=wp-json/wc/")
	case "/xmlrpc.php":
		who := pick(g.generator, g.logins()...)
		d.method, d.ctype = "POST", "text/xml"
		d.body = "<?xml version=\"1.0\"?><methodCall><methodName>wp.getProfile</methodName><params><param><value><int>1</int></value></param><param><value><string>" +
			who.account.Login + "</string></value></param><param><value><string>" + who.account.Application + "</string></value></param></params></methodCall>"
		d.path = pick(g.generator, d.path, d.path, "/XMLRPC.php", "/xmlrpc%2ephp", "/%78mlrpc.php", "//xmlrpc.php", "/xmlrpc.php/x", "/x/../xmlrpc.php", "/wp-json/../xmlrpc.php")
		if g.oneIn(4) {
			d.query = append(d.query, pick(g.generator, "rest_route=/wp/v2/posts", "rest_route=/wp/v2/posts&rest_route=/x", "rest_route[]=x", "rest.route=/"))
		}
		g.plain = false
		return
	}
	if d.method == "POST" {
		d.ctype, d.form = urlencoded, []string{"a=b"}
	}
}

func (g *scoped) logins() []*holder {
	return slices.DeleteFunc(slices.Clone(g.holders), func(h *holder) bool { return h.role == "" })
}

// credential adds one of a holder.
func (g *scoped) credential(d *draft, h *holder) {
	if h.key == "" && h.role == "" {
		return
	}
	g.honest = g.honest && !h.scoped
	if h.key != "" {
		g.shopKey(d, h)
		return
	}
	if g.oneIn(3) {
		g.cookie(d, h)
		return
	}
	g.authorize(d, g.loginName(h.account.Login), g.password(h.account.Application))
}

// odd returns one of the spellings once in four times.
func (g *scoped) odd(plain string, spellings ...string) string {
	if g.IntN(4) > 0 {
		return plain
	}
	return g.spelled(spellings...)
}

func (g *scoped) spelled(spellings ...string) string {
	g.plain = false
	return pick(g.generator, spellings...)
}

func (g *scoped) loginName(login string) string {
	if g.oneIn(2) {
		return login
	}
	i := 1 + g.IntN(len(login)-1)
	return g.spelled(strings.ToUpper(login), " "+login+"\t", login+"\x00", "\x00"+login, login+"@example.test", strings.ToUpper(login)+"@EXAMPLE.TEST",
		"<_>"+login, "<b title='_'>"+login+"</b>", "%41"+login, "%"+"5f%5F"+login, login[:i]+"%0a"+login[i:], login[:i]+"<i _>"+login[i:],
		"&amp;_;"+login, "c<_>"+login, "<script>_</script>"+login, "<!-- _ -->"+login, strings.Replace(login, "a", "\u00e1", 1), strings.Replace(login, "a", "\u0101", 1), "\xe2\x80\x8b"+login, login+"\xff")
}

func (g *scoped) password(application string) string {
	return g.odd(application, strings.ReplaceAll(application, " ", ""), strings.ReplaceAll(application, " ", "-"), "_"+application+"\n", application+":", "\u00e9"+application)
}

func (g *scoped) keyName(key string) string {
	return g.odd(key, " "+key, key+"\t", "<b>"+key, "c<b>"+key[1:], "%41"+key, key+"%0a", "ck%41"+key[2:], key+"\x00", "\n"+key, strings.ToUpper(key), key+"<!-- -->", "%4"+"%411"+key)
}

// authorize adds a line of Authorization, or two.
func (g *scoped) authorize(d *draft, name, password string) {
	encoded := base64.StdEncoding.EncodeToString([]byte(name + ":" + password))
	i := g.IntN(len(encoded))
	value := "Basic " + encoded
	value = g.odd(value, "basic "+encoded, "BASIC "+encoded, "Basic  "+encoded, "Basic\t"+encoded, "Basic "+strings.TrimRight(encoded, "="), "Basic "+encoded+"=",
		"Basic "+encoded[:i]+"="+encoded[i:], "Basic "+encoded[:i]+"-_ ,"+encoded[i:], "Basic "+encoded[:i]+"\r\n "+encoded[i:], "Basic "+encoded[:i]+"\r\nAuthorization: "+encoded[i:],
		"Basic eDp5\r\nAuthorization: Basic "+encoded, "Basic "+encoded+"\r\nAuthorization: Basic eDp5", "Bearer x\r\nAuthorization: Basic "+encoded, "Basic "+encoded+", Basic eDp5", "Basic "+encoded[:i]+"\xff"+encoded[i:])
	d.headers = append(d.headers, pick(g.generator, "Authorization", "authorization", "AUTHORIZATION")+": "+value)
}

func (g *scoped) shopKey(d *draft, h *holder) {
	key := g.keyName(h.key)
	pair := []string{"consumer_key=" + url.QueryEscape(key), "consumer_secret=" + h.secret}
	switch g.IntN(7) {
	case 0, 1:
		g.authorize(d, key, h.secret)
	case 2, 3:
		pair[0] = g.odd(pair[0], "consumer.key="+url.QueryEscape(key), "consumer%5Fkey="+url.QueryEscape(key), "consumer_key=x&"+pair[0], pair[0]+"&consumer_key=x", "+"+pair[0], "consumer_key[]="+h.key)
		d.query = append(d.query, pair...)
	case 4:
		d.headers = append(d.headers, "X-MCP-API-Key: "+h.key+":"+h.secret)
	default:
		g.signature(d, h.key, h.secret)
	}
}

// signature signs the request as it is, by OAuth 1, in query, form or header.
func (g *scoped) signature(d *draft, key, secret string) {
	params := url.Values{
		"oauth_consumer_key": {key}, "oauth_timestamp": {strconv.FormatInt(time.Now().Unix(), 10)}, "oauth_signature_method": {"HMAC-SHA256"},
		"oauth_nonce": {strconv.Itoa(g.IntN(1 << 30))},
	}
	all := url.Values{}
	sent, _ := url.ParseQuery(strings.Join(append(slices.Clone(d.query), d.form...), "&")) // an odd one is signed wrongly
	for _, from := range []url.Values{params, sent} {
		for name, values := range from {
			all[name] = values[len(values)-1:]
		}
	}
	path := d.path
	if path == "/" {
		path = ""
	}
	text := d.method + "&" + percent(g.home+path) + "&" + percent(strings.ReplaceAll(all.Encode(), "+", "%20"))
	mac := hmac.New(sha256.New, []byte(secret+"&"))
	mac.Write([]byte(text))
	params.Set("oauth_signature", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	switch place := g.IntN(3); {
	case place == 0 && d.method == "POST" && (d.ctype == "" || d.form != nil):
		d.ctype, d.form = urlencoded, append(d.form, params.Encode())
	case place == 1:
		d.query = append(d.query, params.Encode())
	default:
		header := "OAuth realm=\"x\""
		for name := range params {
			header += fmt.Sprintf(", %s=\"%s\"", name, percent(params.Get(name)))
		}
		d.headers = append(d.headers, "Authorization: "+header)
	}
}

func percent(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// cookie adds login cookies, most times with their nonce.
func (g *scoped) cookie(d *draft, h *holder) {
	pair := pick(g.generator, h.cookies...)
	name, value, _ := strings.Cut(pair, "=")
	text := cmp.Or(unescaped(value), value)
	i := g.IntN(len(text))
	pair = g.odd(pair, strings.Replace(name, "_", ".", 1)+"="+value, strings.Replace(name, "_", "%5f", 1)+"="+value, name+"="+text, " \t"+pair,
		fmt.Sprintf("%s=%s%%%02x%s", name, url.PathEscape(text[:i]), text[i], url.PathEscape(text[i+1:])), "a=b;"+pair, name+"=x; "+pair, pair+"; "+name+"=x", "a=b\r\nCookie: "+pair, strings.ToUpper(name)+"="+value, name+"[]="+value, name+"="+value+"%00")
	d.headers = append(d.headers, "Cookie: "+pair)
	switch g.IntN(4) {
	case 0:
	case 1:
		d.query = append(d.query, "_wpnonce="+h.nonce)
	default:
		d.headers = append(d.headers, "X-WP-Nonce: "+h.nonce)
	}
}

func unescaped(value string) string {
	text, _ := url.QueryUnescape(value) // "" for none
	return text
}

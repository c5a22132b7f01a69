package wordpress

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
)

// message is a request as it stands on the wire, so that spellings survive which
// a client library would repair.
type message struct {
	method  string
	target  string // below the site's base, "/wp-json/…"
	whole   string // in place of it, a target that is no path
	headers []string
	body    string
	as      string // role whose application password is sent; "" for nobody
	chunked bool   // the body has no length
}

// path is the target at a gate.
func (m *message) path(g *gate) string {
	if m.whole != "" {
		return m.whole
	}
	return g.Site.Base + m.target
}

// render returns the bytes that a gate gets; tag is what the plugin reports under.
func (m *message) render(g *gate, tag string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nX-Request-Tag: %s\r\nConnection: close\r\n",
		m.method, m.path(g), g.host(), tag)
	if m.as != "" {
		account := g.Site.Accounts[m.as]
		fmt.Fprintf(&b, "Authorization: %s\r\n", basic(account.Login, account.Application))
	}
	for _, h := range m.headers {
		b.WriteString(h + "\r\n")
	}
	switch {
	case m.chunked:
		fmt.Fprintf(&b, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(m.body), m.body)
		return b.Bytes()
	case m.body != "":
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(m.body))
	}
	b.WriteString("\r\n" + m.body)
	return b.Bytes()
}

func basic(user, password string) string {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return r.Header.Get("Authorization")
}

// site is one install of WordPress, with files and a database of its own.
type site struct {
	Name       string
	Base       string // sub-folder of the site's address
	Core       string // where in it WordPress's files are
	Permalinks string
	Apache     int    // port of Apache; 0 where php-fpm or FrankenPHP serves the site
	FrankenPHP bool   // FrankenPHP serves the site
	Root       string // document root
	Index      int    // among the sites

	Release       string             `json:"release"`
	Accounts      map[string]account `json:"accounts"` // by role
	Orders        []int              `json:"orders"`
	Subscriptions []int              `json:"subscriptions"`
	Page          int                `json:"page"` // the visitors' page
	Post          int                `json:"post"` // by the author
}

// account is a user of a site.
type account struct {
	ID          int    `json:"id"`
	Login       string `json:"login"`
	Password    string `json:"password"`
	Application string `json:"application"` // application password
	UUID        string `json:"uuid"`        // its id
}

// gate is one address of a site: with the gateway in one of its modes, or bare.
type gate struct {
	Name  string
	Site  *site
	Mode  string
	Front string // one of fronts; "" for the site's own
	Port  int
	TLS   int // port of the same over TLS, with HTTP/2 and 3; 0 for none

	Scheme string // "" is http
	Domain string // "" is the loopback address
}

func (g *gate) host() string { return fmt.Sprintf("%s:%d", cmp.Or(g.Domain, "127.0.0.1"), g.Port) }

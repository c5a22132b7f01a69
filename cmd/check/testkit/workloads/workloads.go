// Package workloads has the requests by which the cost of the gateway is measured, and what
// is needed to send them at little cost of its own: a client and a platform that allocate
// nothing for a request.
package workloads

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// Directive is a usual shop.
const Directive = `	restwarden wordpress {
		login_only
		allow anyone GET /wp/v2/posts /wp/v2/pages
		allow anyone POST /complianz/v1/track
		allow anyone /wc/store/v1/**
	}
`

// Workload is one request, sent again and again.
type Workload struct {
	Name                 string
	Method, Target, Body string
	Pair                 string // of Basic authentication, or ""
	From                 string // the client's address, as a proxy tells it, or ""
}

// shopKey is a key of the shop. The platform of this package takes any.
const shopKey = "ck_0123456789abcdef0123456789abcdef01234567:cs_0123456789abcdef0123456789abcdef01234567"

// All are the workloads.
var All = []Workload{
	{Name: "page", Method: "GET", Target: "/product/shirt?colour=red"},
	{Name: "anonymous call", Method: "GET", Target: "/wp-json/wp/v2/posts?per_page=10"},
	{Name: "rest_route", Method: "GET", Target: "/?rest_route=/wp/v2/posts&per_page=10"},
	{Name: "consent post", Method: "POST", Target: "/wp-json/complianz/v1/track", Body: `{"consent":{"statistics":true,"marketing":false},"id":"8a2f"}`},
	{Name: "identified", Method: "GET", Target: "/wp-json/wp/v2/users?context=edit", Pair: "editor:abcd efgh ijkl mnop qrst uvwx"},
	{Name: "order update", Method: "PUT", Target: "/wp-json/wc/v3/orders/1234", Body: `{"status":"completed","meta_data":[{"key":"tracking","value":"1Z999"}]}`, Pair: shopKey},
}

// Request returns the bytes that a client sends to host.
func (w *Workload) Request(host string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept: */*\r\n", w.Method, w.Target, host)
	if w.Pair != "" {
		fmt.Fprintf(&b, "Authorization: Basic %s\r\n", base64.StdEncoding.EncodeToString([]byte(w.Pair)))
	}
	if w.From != "" {
		fmt.Fprintf(&b, "X-Forwarded-For: %s\r\n", w.From)
	}
	if w.Body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(w.Body))
	}
	b.WriteString("\r\n" + w.Body)
	return []byte(b.String())
}

package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
	"time"

	"github.com/restwarden/restwarden/cmd/platform/site"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// visitor sends the requests of the rows to a platform, bare or through the gateway. It
// keeps its first error, after which it sends nothing more.
type visitor struct {
	ctx    context.Context
	site   *site.Site // that it visits, to see what became of its records
	info   site.Info
	to     string            // address, with the base
	words  *strings.Replacer // of the rows, such as {core}
	client *http.Client
	login  string // that the row uses; "" for none
	err    error
}

// response is a whole answer, with the bytes of its request.
type response struct {
	status  int
	header  http.Header
	body    string
	request []byte
}

func newVisitor(ctx context.Context, s *site.Site, to string) *visitor {
	info := s.Info()
	names, _ := platforms.ByName(info.Platform)
	rest, word := "/"+names.Prefix, strings.TrimSuffix(names.Core, "/v2")
	ids := func(name string, of []int) []string {
		var pairs []string
		for i, id := range of {
			pairs = append(pairs, fmt.Sprintf("{%s %d}", name, i+1), fmt.Sprint(id))
		}
		return pairs
	}
	pairs := []string{
		"{rest}", rest, "{core}", names.Core, "{shop}", names.Shop[2], "{checkout}", names.Checkout, "{word}", shopWord(info.Platform),
		"{nonce}", names.NonceHeader, "{ajax}", names.AjaxScript, "{login}", "/" + word + "-login.php",
		"{consent}", rest + info.Routes.Consent, "{notify}", rest + info.Routes.Notify, "{troubleshooting}", rest + info.Routes.Troubleshooting,
		"{upload-logo}", rest + info.Routes.UploadLogo, "{store-auth}", rest + info.Routes.StoreAuth,
		"{tools}", rest + info.Routes.Tools, "{shop-tools}", rest + info.Routes.ShopTools,
	}
	pairs = append(pairs, ids("order", info.Orders)...)
	pairs = append(pairs, ids("subscription", info.Subscriptions)...)
	pairs = append(pairs, ids("product", info.Products)...)
	return &visitor{
		ctx: ctx, site: s, info: info, to: to + s.Options().Base, words: strings.NewReplacer(pairs...),
		client: &http.Client{
			Timeout: 20 * time.Second, Transport: &http.Transport{DisableCompression: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// do makes a trial, as somebody who has not logged in yet.
func (v *visitor) do(t trial) result {
	v.login = ""
	return t.try(v)
}

// leave closes the visitor's connections, which a server that stops would wait for.
func (v *visitor) leave() { v.client.CloseIdleConnections() }

// send sends "METHOD target" with header lines "Name: value". A body that begins with a
// brace is JSON, any other a form.
func (v *visitor) send(line, body string, header ...string) (a response) {
	if v.err != nil {
		return response{}
	}
	defer func() {
		if v.err != nil {
			v.err = fmt.Errorf("%s: %w", line, v.err)
		}
	}()
	method, target, _ := strings.Cut(v.words.Replace(line), " ")
	body = v.words.Replace(body)
	var sent io.Reader
	if body != "" {
		sent = strings.NewReader(body)
	}
	var req *http.Request
	if req, v.err = http.NewRequestWithContext(v.ctx, method, v.to+target, sent); v.err != nil {
		return response{}
	}
	switch {
	case strings.HasPrefix(body, "{"):
		req.Header.Set("Content-Type", "application/json")
	case body != "":
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, h := range header {
		name, value, _ := strings.Cut(v.words.Replace(h), ": ")
		req.Header.Add(name, value)
	}
	if a.request, v.err = httputil.DumpRequestOut(req, true); v.err != nil {
		return response{}
	}
	var res *http.Response
	if res, v.err = v.client.Do(req); v.err != nil {
		return response{}
	}
	text, err := io.ReadAll(res.Body)
	v.err = errors.Join(err, res.Body.Close())
	a.status, a.header, a.body = res.StatusCode, res.Header, string(text)
	return a
}

// decode reads the JSON of the answer into value, as far as it fits.
func (a response) decode(value any) { _ = json.Unmarshal([]byte(a.body), value) }

// code returns the error code of the answer, also that of a message to an agent.
func (a response) code() string {
	var refused struct {
		Code  string
		Error struct{ Code int }
	}
	a.decode(&refused)
	if refused.Error.Code != 0 {
		return fmt.Sprintf("JSON-RPC %d", refused.Error.Code)
	}
	return refused.Code
}

// as returns the header line of a user's application password.
func (v *visitor) as(login string) string {
	v.login = login
	var r http.Request
	r.Header = http.Header{}
	r.SetBasicAuth(login, v.info.Users[login].ApplicationPassword)
	return "Authorization: " + r.Header.Get("Authorization")
}

// cookies logs a user in by the form, and returns the header line of the cookies.
func (v *visitor) cookies(login string) string {
	v.login = login
	a := v.send("POST {login}", "log="+login+"&pwd="+v.info.Users[login].Password)
	var pairs []string
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		pairs = append(pairs, c.Name+"="+c.Value)
	}
	return "Cookie: " + strings.Join(pairs, "; ")
}

func sign(key, message string) string {
	mac := hmac.New(sha256.New, []byte(key))
	_, _ = mac.Write([]byte(message))
	return hex.EncodeToString(mac.Sum(nil))
}

// now is the time as signatures have it.
func now() string { return fmt.Sprint(time.Now().Unix()) }

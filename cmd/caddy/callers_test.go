package main

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// callers are those of docs/platform III.1 and III.8, by name.
func (w *world) callers() map[string]edit {
	cookie, nonce := w.session("admin")
	return map[string]edit{
		"administrator": w.as("admin"), "manager": w.as("manager"), "editor": w.as("editor"),
		"write key": withKey(w.info.Keys.WriteKey), "read-write key": withKey(w.info.Keys.ReadWriteKey),
		"cookie": func(r *http.Request) { cookie(r); nonce(r) }, "OAuth 1": oauth1(w.info.Keys.ReadWriteKey),
		"read key": withKey(w.info.Keys.ReadKey), "customer": w.as("customer"), "anonymous": func(*http.Request) {},
	}
}

var oauthNonce atomic.Int64

// oauth1 signs a request with a shop key in its Authorization header.
func oauth1(pair string) edit { return oauth1At(pair, "") }

// oauth1At signs a request to a site with this base. The address of the site itself has no
// slash at its end.
func oauth1At(pair, base string) edit {
	key, secret, _ := strings.Cut(pair, ":")
	return func(r *http.Request) {
		given := url.Values{}
		for name, values := range r.URL.Query() {
			given[name] = values[:1]
		}
		own := map[string]string{
			"oauth_consumer_key": key, "oauth_nonce": strconv.FormatInt(oauthNonce.Add(1), 10), "oauth_signature_method": "HMAC-SHA256",
			"oauth_timestamp": strconv.FormatInt(time.Now().Unix(), 10), "oauth_version": "1.0",
		}
		for name, value := range own {
			given.Set(name, value)
		}
		var pairs []string
		for _, name := range slices.Sorted(maps.Keys(given)) {
			pairs = append(pairs, percent(name)+"="+percent(given.Get(name)))
		}
		path := r.URL.EscapedPath()
		if path == base+"/" {
			path = base
		}
		text := strings.Join([]string{
			strings.ToUpper(r.Method), percent(cmp.Or(r.Header.Get("X-Forwarded-Proto"), r.URL.Scheme) + "://" + r.URL.Host + path), percent(strings.Join(pairs, "&")),
		}, "&")
		mac := hmac.New(sha256.New, []byte(secret+"&"))
		mac.Write([]byte(text))
		own["oauth_signature"] = base64.StdEncoding.EncodeToString(mac.Sum(nil))
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(own)) {
			parts = append(parts, name+`="`+percent(own[name])+`"`)
		}
		r.Header.Set("Authorization", "OAuth "+strings.Join(parts, ", "))
	}
}

func percent(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// screenRows are what the admin screens save by REST, and what their pages show (docs/project/interface
// 1, rule 10, and sections 2 and 9).
func screenRows() []row {
	const features = "/cms-admin/admin.php?page=shop-settings&tab=advanced&section=features"
	video := `{"gallery_videos":["https://video.example.test/a.mp4"]}`
	return []row{
		{of: "1 rule 10", says: "the editor publishes a page", line: "POST /cms-json/cms/v2/pages", body: `{"title":"x","status":"publish"}`, as: "editor nonce", bare: made, text: `"status":"publish"`},
		{of: "1 rule 10", says: "autosave in the editor", line: "POST /cms-json/cms/v2/posts/POST/autosaves", body: `{"title":"x"}`, as: "editor nonce", prepare: newestPost, bare: ok, text: `"raw":"x"`},
		{of: "1 rule 10", says: "an author publishes a draft", line: "PUT /cms-json/cms/v2/posts/POST", body: `{"status":"publish"}`, as: "author nonce", prepare: ownPost, bare: ok, text: `"status":"publish"`},
		{of: "1 rule 10", says: "autosave of an author's draft", line: "POST /cms-json/cms/v2/posts/POST/autosaves", body: `{"title":"x"}`, as: "author nonce", prepare: ownPost, bare: ok, text: `"rendered":"x"`},
		{of: "1 rule 10", says: "an author with another's post", line: "POST /cms-json/cms/v2/posts/POST/autosaves", body: `{"title":"x"}`, as: "author nonce", prepare: newestPost, bare: always(`403 rest_cannot_edit "Sorry, you are not allowed to edit this post."`)},
		{of: "1 rule 10", says: "saving a widget", line: "POST /cms-json/cms/v2/widgets", body: `{"sidebar":"sidebar-1","instance":{"raw":{"content":"x"}}}`, as: "admin nonce", bare: made, text: `"content":"x"`},
		{of: "1 rule 10", says: "a widget without login", line: "POST /cms-json/cms/v2/widgets", body: `{}`, bare: always(`401 rest_cannot_manage_widgets "Sorry, you are not allowed to manage widgets on this site."`)},
		{of: "1 rule 9", says: "the screen of the flags", line: "GET " + features, as: "admin cookie", bare: ok, text: "product_gallery_video", page: true},
		{of: "2 unified editor assets; names scripts of the admin", says: "off, the editor loads files per block", line: "GET /cms-admin/post.php", as: "editor cookie", bare: ok, text: "blocks/product-rating", page: true},
		{of: "2 unified editor assets", says: "on, a shared bundle", line: "GET /cms-admin/post.php", as: "editor cookie", prepare: on("unified_editor_assets"), bare: ok, text: "blocks/editor-bundle", lacks: always("blocks/product-rating"), page: true},
		{of: "2 product gallery video", says: "off, a video stays where it is", line: "PUT /cms-json/shop/v3/products/<shirt>", body: video, as: "manager", bare: ok, text: "video.example.test"},
		{of: "2 product gallery video", says: "on, it is stored internally", line: "PUT /cms-json/shop/v3/products/<shirt>", body: video, as: "manager", prepare: on("product_gallery_video"), bare: ok, lacks: always("video.example.test")},
		{of: "2 consent log entry", says: "the screen with the consent log", line: "GET /cms-admin/admin.php?page=consent-log", as: "admin cookie", prepare: func(w *world) []edit {
			w.bare("POST /cms-json/consent/v1/consent", `{"choice":"none"}`).want(http.StatusOK)
			return nil
		}, bare: ok, text: "none", page: true},
		{of: "9 output of the analytics page", says: "properties of the request are gone from 11.1", line: "GET /cms-admin/admin.php?page=shop-admin&path=/customers", as: "manager cookie", bare: ok, shows: since("11.1", "embedBreadcrumbs", ""), lacks: since("11.1", "", "embedBreadcrumbs"), page: true},
		{of: "6 A product changes; 4 rule 6", says: "a webhook with the description, its blocks rendered", line: "PUT /cms-json/shop/v3/products/<shirt>", body: `{"name":"Blouse"}`, as: "manager", bare: ok, text: `"name":"Blouse"`, after: productSent},
	}
}

// newestPost makes a post the target of a row.
func newestPost(w *world) []edit {
	id, _ := w.bare("GET /cms-json/cms/v2/posts", "").at("0", "id").(float64)
	return toPost(id)
}

// ownPost makes a draft of the author the target of a row.
func ownPost(w *world) []edit {
	id, _ := w.bare("POST /cms-json/cms/v2/posts", `{"title":"Draft"}`, w.as("author")).at("id").(float64)
	return toPost(id)
}

// toPost writes the id of a post for POST.
func toPost(id float64) []edit {
	return []edit{func(r *http.Request) {
		write := func(s string) string { return strings.Replace(s, "/POST", fmt.Sprintf("/%.0f", id), 1) }
		r.URL.Path, r.URL.RawPath, r.URL.RawQuery = write(r.URL.Path), "", write(r.URL.RawQuery)
	}}
}

// productSent checks that one of the platforms has sent its webhook.
func productSent(d *document, w *world) {
	for {
		select {
		case sent := <-d.webhooks:
			if !strings.Contains(sent, `"name":"Blouse"`) {
				continue // of another row
			}
			if !strings.Contains(sent, w.words()("cms-block-shop-product-rating")) {
				w.t.Errorf("webhook %s", sent)
			}
		case <-time.After(10 * time.Second):
			w.t.Error("no webhook")
		}
		return
	}
}

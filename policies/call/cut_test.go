package call

import "testing"

// TestBetween_Cuts: caches cut parameters of advertisers out of an address, and what stands
// around them becomes another pair.
func TestBetween_Cuts(t *testing.T) {
	const order = "/wp-json/wc/v3/orders/7"
	runReads(t, NewReader(Config{Platform: wordpress(), Variables: []string{"consumer_key"}}), []readTest{
		{"GET", "/?rest_route&utm_source=x=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?rest_route=&utm_source=x/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?rest_route&own_tracker=x=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?rest_route=", "", "", "page"},
		{"GET", "/?x&rest_route=", "", "", "page"},
		{"GET", "/?rest&utm_source=x+route=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?utm_source=x+rest_route=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?rest_rgclid=x&oute=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/wp-jsgclid=x&on/wp/v2/users", "", "", "400 path"},
		{"GET", "/wp-jsongclid=x/wp/v2/users", "", "", "400 path"},
		{"GET", "/x&utm_b=1&rest_roututm_a=b&e=/wp/v2/users", "", "", "400 path"},
		{"GET", "/?utm_source=x=/wp/v2/users&rest_route", "", "", "400 variables"}, // sorted before
		{"GET", "/?cx=1&te=/wp/v2/users&rest_rouutm_a=b", "", "", "400 variables"},
		{"GET", order + "?cx=1&d=DELETE&_methoutm_a=b", "", "", "400 variables"},
		{"GET", order + "?consumer_key=1&consumer_autm_a=b&cx=1", "", "", "GET /wc/v3/orders/7 id 7"},
		{"GET", "/?utm_source=b&a=1", "", "", "page"},
		{"GET", "/?rest_route=/wp/v2/users?", "", "", "400 variables"}, // trimmed
		{"GET", "/?rest_route=/wp/v2/users|", "", "", "400 variables"},
		{"GET", "/?rest_route=/wp/v2/users&", "", "", "GET /wp/v2/users"},
		{"GET", "/?redirect_to=/a?", "", "", "page"},
		{"GET", order + "?_method=PUT|", "", "", "400 variables"},
		{"GET", "/x%26rest_roututm_a=b&e=/wp/v2/users", "", "", "400 path"},
	})
}

// TestBetween_Chains: what stands between may do several of these things, one after the other, and caches have lists and
// expressions of their own.
func TestBetween_Chains(t *testing.T) {
	const order = "/wp-json/wc/v3/orders/7"
	runReads(t, NewReader(Config{Platform: wordpress(), Variables: []string{"consumer_key"}}), []readTest{
		// One after the other.
		{"GET", "/?CX=1&REST_ROUTUTM_A=B&E=/wp/v2/posts", "", "", "400 variables"},
		{"GET", "/?Cx=1&rest_routUtm_a=b&e=/wp/v2/posts", "", "", "400 variables"},
		{"GET", "/?XCX=1&REST_ROUTutm_a=b&E=/wp/v2/posts", "", "", "400 variables"},
		{"GET", "/WP-JSUTM_A=b&ON/wp/v2/posts?CX=1", "", "", "400 path"},
		{"GET", "/?%63x=1&rest_rout%75tm_a=b&e=/wp/v2/posts", "", "", "400 variables"},
		{"GET", "/?c%78=1&rest_roututm%5Fa=b&e=/wp/v2/posts", "", "", "400 variables"},
		{"GET", "/wp-js%75tm_a=b&on/wp/v2/posts?c%78=1", "", "", "400 path"},
		{"GET", "/?cx=1&rest_routfbclutm_a=b&id=1&e=/wp/v2/posts", "", "", "400 variables"},
		{"GET", "/wp-jsfbclutm_a=b&id=1&on/wp/v2/posts?cx=1", "", "", "400 path"},
		{"GET", "/?/.utm_a=b&./wp-json/wp/v2/posts?cx=1&y", "", "", "400 target"},
		{"GET", "/?x?cx=1&rest_roututm_a=b&e=/wp/v2/posts", "", "", "400 variables"},
		{"GET", "/?x?REST_ROUTE=/wp/v2/posts", "", "", "400 variables"},
		{"GET", "/?x?rest_route=/wp/v2/users&a?b", "", "", "400 variables"}, // sorted before
		{"GET", "/wp-json&", "", "", "400 path"},
		{"GET", "/x|?utm_a=b", "", "", "page"},
		{"GET", "/wp-json&utm_a=+", "", "", "400 path"},
		{"GET", "/?rest_rout%6CX=1&5=/wp/v2/posts", "", "", "400 variables"}, // cut in small letters, decoded after
		{"GET", "/wp-jso%6CX=1&e/wp/v2/posts?CX=1", "", "", "400 path"},
		{"GET", "/x&REST_ROUTUTM_A=B&E=/wp/v2/posts", "", "", "400 path"},
		{"POST", order + "?_METHUTM_A=b&OD=DELETE", "", "", "400 variables"},
		{"PUT", order + "?Iutm_a=b&D=9", "", "", "PUT /wc/v3/orders/7 id?"},
		{"PUT", order + "?Utm_Source=x&id=7", "", "", "PUT /wc/v3/orders/7 id 7"},
		{"GET", "/?UTM_Source=Google/CPC&utm_campaign=a+b,c&_gl=1*x*y&gclid=x-y_z~&S=What?&S=Caf%C3%A9|b", "", "", "page"},
		{"GET", "/?rest_route=/wp/v2/posts&utm_campaign=Spring_Sale&Fbclid=x", "", "", "GET /wp/v2/posts"},
		{"GET", "/?rest_route=/wp/v2/posts&utm_campaign=Spring%20Sale&Fbclid=x", "", "", "400 variables"}, // values without "%"
		{"GET", "/?cx=1&UTM_a=Bcx=1&UTM_a=B%%37%35drest_rout/../fbcl", "", "", "400 target"},
		// A cache that cuts some of the names and not others.
		{"GET", "/?xmsclkid=1&rest_routgclid=x&e=/wp/v2/users&cx=1", "", "", "400 variables"},
	})
}

// TestBetween_Examples: caches take the expressions of several published examples.
func TestBetween_Examples(t *testing.T) {
	const order = "/wp-json/wc/v3/orders/7"
	runReads(t, NewReader(Config{Platform: wordpress(), Variables: []string{"consumer_key"}}), []readTest{
		{"GET", "/?si=1&rest_rosi=x&ute=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?rest_roututm_source_platform=x&e=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/wp-jssi=x&on/wp/v2/users?si=1", "", "", "400 path"},
		{"POST", order + "?si=1&_methsi=x&od=DELETE", "", "", "400 variables"},
		{"PUT", order + "?si=1&isi=x&d=9", "", "", "PUT /wc/v3/orders/7 id?"},
		{"GET", "/?gclid=1&rest_routgclid=x%65=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?utm_a=1&restutm_b=x.route=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/wputm_b=x%2djson/wp/v2/users?utm_a=1", "", "", "400 path"},
		{"POST", order + "?gclid=1&_methogclid=x%64=DELETE", "", "", "400 variables"},
		{"GET", "/?rest_rout%cx=1&%%33%36%%33%35=/wp/v2/users", "", "", "400 variables"}, // decoded three times
		// Those that take the "?" away, too.
		{"GET", "/?gclid=x&/../wp-json/wp/v2/users", "", "", "400 target"},
		{"GET", "/&gclid=a?b&/../wp-json/wp/v2/users", "", "", "400 target"},
		{"GET", "/gclid=x?y&wp-json/wp/v2/users", "", "", "400 target"},
		{"GET", "/wp-jsgclid=x?y&on/wp/v2/users", "", "", "400 target"},
		{"GET", "/?gclid=x&a?rest_route=/wp/v2/users?c", "", "", "400 variables"},
		{"GET", "/product/&gclid=x?utm_source=a+b&s=c", "", "", "page"},
		{"GET", "/?utm_a=x%69d=y%%36%35=/a&rest_routfbsi=x&cl", "", "", "400 variables"},
		// The rest of an escape.
		{"GET", "/?%2si=x&0rest_route=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?re%1gclid=x&B(Bst_route=/wp/v2/users", "", "", "400 variables"},
		{"POST", order + "?%2gclid=x&0_method=DELETE", "", "", "400 variables"},
		{"PUT", order + "?%2gclid=x&0id=9", "", "", "PUT /wc/v3/orders/7 id?"},
		{"GET", "/product/%D7%97%D7%95/%3Futm_source=google&utm_medium=cpc", "", "", "page"},
		{"GET", "/produkt/%C3%BCber/&utm_source=google&utm_campaign=a+b&utm_term=", "", "", "page"},
		{"GET", "/product/men's-shirt/%3Fgclid=abc", "", "", "page"},
		{"GET", "/katalog.php&utm_source=google&gclid=a+b", "", "", "page"},
		{"GET", "/katalog.php&utm_source=x~/wp/", "", "", "page"},
		{"GET", "/wp-/a.php&utm_source=x/json/wp/v2/users", "", "", "400 path"},
		{"GET", "/a.php/index&utm_source=x~php", "", "", "400 path"},
		{"GET", "/wp-j%D7gclid=x&son/wp/v2/users", "", "", "400 path"}, // cut, then filtered
		{"GET", "/x%3Cgclid=x&/wp-js%3Eon/wp/v2/users", "", "", "400 path"},
		{"POST", order + "?_methfbclid=1gclid=x&od=DELETE", "", "", "400 variables"},
		{"GET", "/wp-json/wp/v2/usersgclid=x", "", "", "400 path"},
		{"GET", "/?rest_route=/wp/v2&utm_source=x/users", "", "", "400 variables"},
		{"GET", "/?rest_route=/wp/v2/usersgclid=x", "", "", "400 variables"},
		{"GET", "/?a=gclid=x&rest_route=/wp/v2/posts", "", "", "GET /wp/v2/posts"}, // or a page
		{"GET", "/?rest_route=/wp/v2/posts&movie=5", "", "", "GET /wp/v2/posts"},
		{"GET", "/?utm_source=x&rest_route=/wp/v2/users|", "", "", "400 variables"},
		{"GET", "/?utm_source=x&rest_route=/wp/v2/users?|?", "", "", "400 variables"},
		{"GET", "/?utm_source=x&rest_route=/wp/v2/users&", "", "", "GET /wp/v2/users"},
		{"GET", "/?rest_rgbraid=x&oute=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?rest_rgad_source=1&oute=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/wp-json_gl=x/wp/v2/users", "", "", "400 path"},
		{"POST", order + "?x=gclid=x&_method=DELETE", "", "", "400 variables"},
		{"POST", order + "?consumer&utm_id=x+key=ck_1", "", "", "400 variables"},
		{"PUT", order + "?i&fbclid=x&d=9", "", "", "PUT /wc/v3/orders/7 id 7"},
		{"PUT", order + "?ifbclid=x&d=9", "", "", "PUT /wc/v3/orders/7 id?"},
		{"GET", "/?utm_source=google/cpc&utm_campaign=a+b,c&gclid=x-y_z", "", "", "page"},
		{"GET", "/?rest_route=/wp/v2/posts&utm_source=google&fbclid=x", "", "", "GET /wp/v2/posts"},
		{"GET", "/?redirect_to=/wp-admin/?origin=x&rest=1", "", "", "page"},
		{"PUT", order + "?cookie=1&id=7", "", "", "PUT /wc/v3/orders/7 id?"},
		{"GET", "/?cookie=1&rest_route=/wp/v2/posts", "", "", "GET /wp/v2/posts"},
		{"GET", "/wp-json/wp/v2/users?cookie=1&rest_route=", "", "", "400 two_routes"},
		{"GET", "/wp-json/wp/v2/users?cookie=1&rest_route=/wp/v2/posts", "", "", "400 two_routes"},
		{"GET", order + "?cookie=1&consumer_key=ck_1", "", "", "GET /wc/v3/orders/7 id 7"},
		{"GET", order + "?utm_source=google&id=7", "", "", "GET /wc/v3/orders/7 id 7"},
	})
}

package site

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

const currency = "USD"

// product is one of the catalogue, with its variations.
type product struct {
	id, stock         int
	name, description string
	status, kind      string // kind: simple or variable
	price             money
	variations        []*variation
	videos            []string // of the gallery
}

// variation is a variant of a product with a price of its own.
type variation struct {
	id    int
	name  string
	price money
}

func (p *product) variation(id int) *variation {
	for _, v := range p.variations {
		if v.id == id {
			return v
		}
	}
	return nil
}

// symbol is that of a currency. Two change in release 11.1, and in every release the site
// may override them (docs/project/interface 9, rule 4).
func (s *Site) symbol(code string) string {
	if own, set := s.opt.Symbols[code]; set {
		return own
	}
	symbols := map[string]string{"USD": "$", "EUR": "€", "GBP": "£", "MOP": "P", "ZMW": "ZK"}
	if s.since("11.1") {
		symbols["MOP"], symbols["ZMW"] = "MOP$", "K"
	}
	return symbols[code]
}

var currencies = map[string]string{
	"USD": "United States (US) dollar", "EUR": "Euro", "GBP": "Pound sterling", "MOP": "Macanese pataca", "ZMW": "Zambian kwacha",
}

func (s *Site) productRoutes() {
	n := s.names
	id := args{"id": {Type: "integer"}}
	query := collection.with(args{"status": {Type: "string", Default: "any"}, "type": {Type: "string"}})
	fields := id.with(args{
		"name": {Type: "string"}, "description": {Type: "string"}, "regular_price": {Type: "string"},
		"status": {Type: "string", Enum: []string{"draft", "pending", "private", "publish"}}, "stock_quantity": {Type: "integer"},
		"gallery_videos": {Type: "array"},
	})
	list := needs("read_private_products", n.code("cannot_view"), "Sorry, you cannot list resources.")
	view := needs("read_private_products", n.code("cannot_view"), "Sorry, you cannot view this resource.")
	edit := needs("edit_products", n.code("cannot_edit"), "Sorry, you are not allowed to edit this resource.")
	for _, ns := range n.Shop {
		s.router.add(ns, "/products", reading, endpoint{args: query, allow: list, run: listProducts})
		s.router.add(ns, pathf("/products/%s", "id"), reading, endpoint{args: id, allow: view, run: getProduct})
		s.router.add(ns, pathf("/products/%s", "id"), editing, endpoint{args: fields, allow: edit, run: updateProduct})
	}
	v3 := n.Shop[2]
	s.router.add(v3, pathf("/products/%s/variations", "product_id"), reading, endpoint{
		args: collection.with(args{"product_id": {Type: "integer"}}), allow: list, run: listVariations,
	})
	s.router.add(v3, "/data/currencies", reading, endpoint{allow: view, run: func(q *request) (any, error) {
		out := []obj{}
		for _, code := range slices.Sorted(maps.Keys(currencies)) {
			out = append(out, q.site.currencyJSON(code))
		}
		return out, nil
	}})
	s.router.add(v3, `/data/currencies/(?P<currency>[\w]{3})`, reading, endpoint{allow: view, run: func(q *request) (any, error) {
		code := strings.ToUpper(q.str("currency"))
		if currencies[code] == "" {
			return nil, fail(http.StatusNotFound, n.code("data_invalid_currency"), "There are no currencies matching these parameters.")
		}
		return q.site.currencyJSON(code), nil
	}})
}

func (s *Site) currencyJSON(code string) obj {
	return obj{"code": code, "name": currencies[code], "symbol": s.symbol(code)}
}

// listProducts searches as the releases do: before 11.1 the conditions bind
// only to the last OR group of a search, from 11.1 to all (docs/project/interface
// 9).
func listProducts(q *request) (any, error) {
	include, exclude := q.ints("include"), q.ints("exclude")
	conditions := func(p *product) bool {
		status, kind := q.str("status"), q.str("type")
		return (status == "any" || status == p.status) && (kind == "" || kind == p.kind) &&
			(len(include) == 0 || slices.Contains(include, p.id)) && !slices.Contains(exclude, p.id)
	}
	groups := orGroups.Split(strings.ToLower(q.str("search")), -1)
	last := len(groups) - 1
	var found []*product
	for _, id := range slices.Sorted(maps.Keys(q.site.products)) {
		p := q.site.products[id]
		hit := func(group string) bool { return p.contains(group) }
		match := slices.ContainsFunc(groups, hit) && conditions(p)
		if !q.site.since("11.1") {
			match = slices.ContainsFunc(groups[:last], hit) || hit(groups[last]) && conditions(p)
		}
		if match {
			found = append(found, p)
		}
	}
	out := []obj{}
	for _, p := range page(q, found) {
		out = append(out, q.site.productJSON(p))
	}
	return out, nil
}

var orGroups = regexp.MustCompile(`\s+or\s+`)

// contains tells whether all words of a search group occur in p.
func (p *product) contains(group string) bool {
	content := strings.ToLower(p.name + " " + p.description)
	for word := range strings.FieldsSeq(group) {
		if !strings.Contains(content, word) {
			return false
		}
	}
	return true
}

func (q *request) product(name string, status int) (*product, error) {
	p := q.site.products[q.int(name)]
	if p == nil {
		return nil, fail(status, q.site.names.code("product_invalid_id"), "Invalid ID.")
	}
	return p, nil
}

func getProduct(q *request) (any, error) {
	p, err := q.product("id", http.StatusNotFound)
	if err != nil {
		return nil, err
	}
	return q.site.productJSON(p), nil
}

func updateProduct(q *request) (any, error) {
	p, err := q.product("id", http.StatusBadRequest)
	if err != nil {
		return nil, err
	}
	if q.has("regular_price") {
		price, ok := amount(q.str("regular_price"))
		if !ok || price < 0 {
			return nil, errInvalidParam("regular_price", "regular_price is not a price.")
		}
		p.price = price
	}
	if q.has("stock_quantity") {
		p.stock = q.int("stock_quantity")
	}
	for field, to := range map[string]*string{"name": &p.name, "description": &p.description, "status": &p.status} {
		if q.has(field) {
			*to = q.str(field)
		}
	}
	if q.has("gallery_videos") {
		p.videos = q.storeVideos(q.strings("gallery_videos"))
	}
	body := q.site.productJSON(p)
	q.site.sendProduct(body)
	return body, nil
}

// storeVideos returns the addresses of the given videos of a gallery. With their flag the
// site stores them itself (docs/project/interface 2).
func (q *request) storeVideos(videos []string) []string {
	if !q.site.features["product_gallery_video"] {
		return videos
	}
	for i, address := range videos {
		name := sign("video", address)[:16] + ".mp4"
		videos[i] = q.site.origin(q.wire) + q.site.script("content/uploads/"+name)
	}
	return videos
}

func listVariations(q *request) (any, error) {
	p, err := q.product("product_id", http.StatusNotFound)
	if err != nil {
		return nil, err
	}
	out := []obj{}
	for _, v := range page(q, p.variations) {
		out = append(out, variationJSON(v))
	}
	return out, nil
}

func variationJSON(v *variation) obj {
	return obj{"id": v.id, "name": v.name, "price": v.price.String(), "regular_price": v.price.String()}
}

func (s *Site) productJSON(p *product) obj {
	ids := []int{}
	for _, v := range p.variations {
		ids = append(ids, v.id)
	}
	return obj{
		"id": p.id, "name": p.name, "type": p.kind, "status": p.status, "description": s.renderBlocks(p.description),
		"price": p.price.String(), "regular_price": p.price.String(), "stock_quantity": p.stock, "variations": ids,
		"gallery_videos": append([]string{}, p.videos...),
	}
}

var block = regexp.MustCompile(`<!-- (?:cms|wp):([a-z]+/[a-z-]+) /-->`)

// renderBlocks renders the blocks of a description, as the product routes, the
// checkout API and the variation page do (docs/project/interface 4).
func (s *Site) renderBlocks(description string) string {
	return block.ReplaceAllStringFunc(description, func(comment string) string {
		name := strings.ReplaceAll(block.FindStringSubmatch(comment)[1], "/", "-")
		return `<div class="` + s.names.core + `-block-` + name + `"></div>`
	})
}

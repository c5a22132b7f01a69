package doors

import "strings"

// updating are the methods that update.
var updating = []string{"PUT", "PATCH", "POST"}

// updates: any update of the record converts it, even an empty one.
func updates() (list []Door) {
	bodies := []string{note, `{}`, ``, `{"status":"processing"}`, `{"meta_data":[]}`, `{"meta_data":[{"key":"a","value":"b"}]}`}
	for _, method := range updating {
		for _, body := range bodies {
			list = append(list,
				door("III.1", method+toSub, body),
				door("III.1", method+" /cms-json/shop/v2/orders/<sub>", body),
				door("III.7", method+" /cms-json/shop-analytics/orders/<sub>", body))
		}
		list = append(list,
			door("III.1", method+" /cms-json/shop/v1/orders/<sub>", note).kept(),
			door("III.1", method+" /cms-json/shop/v4/orders/<sub>", note).kept())
	}
	return list
}

// ids: a parameter names another record than the path.
func ids() (list []Door) {
	const of = "III.4"
	for _, method := range updating {
		bare := untyped(of, method+toOrder, "id=<sub>").odd()
		if method == "POST" { // its form is read by PHP, which needs a type; others' are read by the platform
			bare.Kept, bare.ByFastCGI = true, true
		}
		list = append(list, bare,
			door(of, method+toOrder, `{"id":<sub>}`), door(of, method+toOrder, "id=<sub>"), door(of, method+toOrder+"?id=<sub>", note))
	}
	for _, name := range []string{"%69d", "+id", "%20id", "id%00"} {
		list = append(list, door(of, "PUT"+toOrder+"?"+name+"=<sub>", ""), door(of, "PUT"+toOrder+"?"+name+"=<sub>", note))
	}
	for _, kind := range []string{
		"application/vnd.api+json", "application/x.y+json", "Application/JSON; charset=utf-8", "application/json;", "application/json, text/plain",
	} {
		list = append(list, door(of, "PUT"+toOrder, `{"id":<sub>}`, typed+kind))
	}
	for _, kind := range []string{"text/plain", "text/json"} {
		list = append(list, door(of, "PUT"+toOrder, `{"id":<sub>}`, typed+kind).kept())
	}
	return append(list,
		door(of, "PUT"+toOrder+"?id=<sub>", ""),
		door(of, "PUT"+toOrder+"?id=<order>&id=<sub>", "").odd(),
		door(of, "PUT"+toOrder+"?id=<order>&id=<sub>", note).odd(),
		door(of, "PUT"+toOrder+"?ID=<sub>", "").kept(),
		inParts(of, "POST"+toOrder, "id", "<sub>"),
		inParts(of, "POST"+toOrder, "id", "<sub>", "customer_note", "x"),
	)
}

// spelledIDs: the id of another record, in spellings that the platform accepts and in
// some that it does not.
func spelledIDs() (list []Door) {
	const of = "III.4"
	id := func(value string) Door { return door(of, "PUT"+toOrder, `{"id":`+value+`}`) }
	for _, value := range []string{`<sub>.0`, `<sub>e0`, `" <sub>"`, `"<sub> "`, `"+<sub>"`, `"<sub>.0"`, `"0<sub>"`, `"<sub>e0"`} {
		list = append(list, id(value).odd())
	}
	for _, value := range []string{`"<sub>abc"`, `<sub>.7`, `[<sub>]`, `true`, `"0x1f"`, `""`, `0`, `-<sub>`, `null`} {
		list = append(list, id(value).odd().kept())
	}
	return append(list,
		id(`"<sub>"`),
		door(of, "PUT"+toOrder, `{"\u0069d":<sub>}`),
		door(of, "PUT"+toOrder, `{"id":<order>,"id":<sub>}`).odd(),
		door(of, "PUT"+toSub, `{"id":null}`).odd().kept(),
	)
}

// methods: an update that does not look like one.
func methods() (list []Door) {
	const of = "III.4"
	for _, query := range []string{"_method=PUT", "_method=put", "%5Fmethod=PUT", "%5Fmethod=PATCH", ".method=PUT", ".method=POST"} {
		list = append(list, door(of, "GET"+toSub+"?"+query, ""))
	}
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "POST", "DELETE"} {
		list = append(list, door(of, method+toSub, "", put))
	}
	return append(list,
		door(of, "GET"+toSub+"?_method=DELETE&_method=PUT", "").odd(),
		door(of, "POST"+toSub, note, put),
		door(of, "put"+toSub, "").odd(),
		door(of, "put"+toSub, note).odd(),
		door(of, "GET"+toOrder+"?_method=PUT&id=<sub>", ""),
		door(of, "GET"+toOrder, `{"id":<sub>}`, put).odd(),
	)
}

// paths: the route in another spelling, or beside another apparent route.
func paths() (list []Door) {
	const of, route = "III.4", "/shop/v3/orders/<sub>"
	for _, target := range []string{
		"/cms-json/SHOP/V3/ORDERS/<sub>", "/cms-json/shop/v3/orders/000<sub>", "/cms-json" + route + "/",
		"/?rest_route=" + route, "/index.php?rest_route=" + route, "/shop/?rest_route=" + route, "/?rest.route=" + route, "/?rest_route=" + route + "/",
		"/index.php?rest.route=" + route, "/robots.txt?rest_route=" + route,
	} {
		list = append(list, door(of, "PUT "+target, ""), door(of, "PUT "+target, note))
	}
	for _, target := range []string{
		"/cms-json" + route + "//", "/cms-json" + route + "///", "/index.php/cms-json" + route, "//cms-json" + route, "/%63ms-json" + route,
		"/cms-json%2Fshop%2Fv3%2Forders%2F<sub>", "/%63ms-json%2Fshop%2Fv3%2Forders%2F<sub>", "/%63ms-json/shop%2Fv3%2Forders%2F<sub>", "/%63ms-json" + route + "%0A",
		"/?rest%5Froute=" + route, "/?rest+route=" + route, "/?rest%20route=" + route, "/?rest[route=" + route,
		"/index.php?rest%5Froute=" + route, "/index.php?rest+route=" + route, "/index.php?rest%20route=" + route, "/index.php?rest[route=" + route,
		"/?rest_route=/cms/v2/posts&rest_route=" + route, "/?rest_route=/cms/v2/types&rest_route=" + route,
		"/?rest_route=" + route + "%0A", "/?rest_route=" + route + "%5C", "/?rest_route=" + route + "&x=cms-json/shop/",
		"/cms-json/cms/v2/types?rest_route=" + route,
	} {
		list = append(list, door(of, "PUT "+target, "").odd(), door(of, "PUT "+target, note).odd())
	}
	return list
}

// forms: the route in a body.
func forms() []Door {
	const of, route = "III.4", "/shop/v3/orders/<sub>"
	return []Door{
		door(of, "POST /", "rest_route="+route),
		door(of, "POST /", "rest_route="+route+"&customer_note=x"),
		door(of, "POST /", "rest.route="+route),
		door(of, "POST /shop/", "rest.route="+route),
		door(of, "POST /", "rest_route=/shop/v3/orders/<order>&id=<sub>"),
		inParts(of, "POST /", "rest_route", route),
		inParts(of, "POST /", "rest_route", route, "customer_note", "x"),
		door(of, "POST /cms-json/cms/v2/types", "rest_route="+route).odd(),
		door(of, "POST /cms-json/cms/v2/posts", "rest_route="+route).odd(),
	}
}

// batches: the list of the shop's own batch route, however it is sent.
func batches() (list []Door) {
	const of = "III.5"
	for _, space := range []string{"shop/v3", "shop/v2", "shop-analytics"} {
		batch := " /cms-json/" + space + "/orders/batch"
		for _, method := range updating {
			list = append(list,
				door(of, method+batch, `{"update":[{"id":<sub>,"customer_note":"x"}]}`),
				door(of, method+batch, `{"update":[{"id":<sub>}]}`))
		}
		for _, id := range []string{`"<sub>"`, `"<sub>abc"`, `<sub>.9`} {
			list = append(list, door(of, "POST"+batch, `{"update":[{"id":`+id+`}]}`).odd())
		}
		list = append(list,
			door(of, "GET"+batch+"?_method=POST&update[0][id]=<sub>", ""),
			door(of, "POST"+batch, "update[0][id]=<sub>"),
			inParts(of, "POST"+batch, "update[0][id]", "<sub>"),
			inParts(of, "POST"+batch, "update[0][id]", "<sub>", "update[0][customer_note]", "x"),
			door(of, "POST"+batch+"?update[0][id]=<sub>", ""),
			door(of, "POST"+batch+"?update[0][id]=<sub>", `{"create":[]}`),
			door(of, "POST"+batch+"?%20update[0][id]=<sub>", `{"create":[]}`),
			door(of, "POST"+batch, `{"update":{"a":{"id":<sub>}}}`).odd(),
			door(of, "POST"+batch, `{"update":[{"id":<order>},{"id":<sub>}]}`),
		)
	}
	return list
}

// partsOfBatches: parts that the batch routes do not take for an update of the record.
func partsOfBatches() (list []Door) {
	const part = `{"requests":[{"method":"PUT","path":"/shop/v3/orders/<sub>"}]}`
	list = []Door{
		door("III.5", "POST /cms-json/shop/v3/orders/batch", `{"update":[{"id":[<sub>]}]}`).kept(),
		door("III.5", "POST /cms-json/shop/v1/orders/batch", `{"update":[{"id":<sub>}]}`).kept(),
	}
	for _, target := range []string{"/cms-json/batch/v1", "/cms-json/shop/store/v1/batch"} {
		list = append(list, door("III.7", "POST "+target, part).kept())
	}
	return list
}

// others are batches that name an order route after another path.
func others() []Door {
	path := strings.Replace(`{"requests":[{"method":"PUT","path":"/shop/v3/orders/<sub>"}]}`, "/shop/v3", "/shop/v3/orders/../../store", 1)
	return []Door{door("III.7", "POST /cms-json/shop/store/v1/batch", path).kept()}
}

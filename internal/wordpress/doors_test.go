//go:build wordpress

package wordpress

import (
	"fmt"
	"strings"
)

// door is one way to aim an order update at a subscription.
type door struct {
	name string
	message
	kept bool // the bare platform does not convert here either
}

const (
	jsonType = "Content-Type: application/json"
	formType = "Content-Type: application/x-www-form-urlencoded"
)

// doors are all ways of docs/platform III.1, III.4, III.5 and III.7 to reach the
// update of order with the id of sub.
func doors(order, sub int) []door {
	list := updateDoors(sub)
	list = append(list, idDoors(order, sub)...)
	list = append(list, routeDoors(sub)...)
	list = append(list, batchDoors(order, sub)...)
	return append(list, otherDoors(sub)...)
}

func shopManager(method, target, body string, headers ...string) message {
	return message{method: method, target: target, body: body, headers: headers, as: "administrator"}
}

// updateDoors are those of III.1: any body converts, none too.
func updateDoors(sub int) (list []door) {
	bodies := []string{`{"status":"processing"}`, `{"customer_note":"x"}`, `{"meta_data":[]}`, `{}`, ``}
	for _, ns := range []string{"wc/v2", "wc/v3"} {
		for _, method := range []string{"PUT", "PATCH", "POST"} {
			for _, body := range bodies {
				m := shopManager(method, fmt.Sprintf("/wp-json/%s/orders/%d", ns, sub), body, jsonType)
				list = append(list, door{name: fmt.Sprintf("%s %s %s", method, ns, body), message: m})
			}
		}
	}
	v1 := shopManager("PUT", fmt.Sprintf("/wp-json/wc/v1/orders/%d", sub), `{}`, jsonType)
	own := shopManager("PUT", fmt.Sprintf("/wp-json/wc/v3/subscriptions/%d", sub), `{"customer_note":"x"}`, jsonType)
	return append(list, door{name: "v1", message: v1, kept: true}, door{name: "own route", message: own, kept: true})
}

// idDoors are those of III.4 whose path names an order.
func idDoors(order, sub int) (list []door) {
	path := fmt.Sprintf("/wp-json/wc/v3/orders/%d", order)
	add := func(kept bool, method, target, body string, headers ...string) {
		name := strings.Join(append([]string{method, target, body}, headers...), " ")
		list = append(list, door{name: name, message: shopManager(method, target, body, headers...), kept: kept})
	}
	id := func(format string) string { return fmt.Sprintf(format, sub) }
	for _, method := range []string{"PUT", "PATCH", "POST"} {
		add(false, method, path, id(`{"id":%d}`), jsonType)
		add(false, method, path, id("id=%d"), formType)
	}
	for _, value := range []string{`"%d"`, `%d.0`, `%de0`, `" %d"`, `"%d "`, `"+%d"`, `"%d.0"`} {
		add(false, "PUT", path, `{"id":`+id(value)+`}`, jsonType)
	}
	for _, value := range []string{`"%dabc"`, `[%d]`, `%d.7`} {
		add(true, "PUT", path, `{"id":`+id(value)+`}`, jsonType)
	}
	add(false, "PUT", path, id(`{"\u0069d":%d}`), jsonType)
	add(false, "PUT", path, fmt.Sprintf(`{"id":%d,"id":%d}`, order, sub), jsonType)
	for _, name := range []string{"id", "%%69d", "%%20id", "+id", "id%%00"} {
		add(false, "PUT", path+"?"+id(name+"=%d"), "")
	}
	add(false, "PUT", fmt.Sprintf("%s?id=%d&id=%d", path, order, sub), "")
	add(true, "PUT", path+id("?ID=%d"), "")
	add(false, "PUT", path, id("id=%d"))
	add(false, "POST", path, multipart("id", id("%d")), "Content-Type: multipart/form-data; boundary=b")
	for _, ctype := range []string{
		"application/vnd.api+json", "application/x.y+json", "Application/JSON; charset=utf-8", "application/json;", "application/json, text/plain",
	} {
		add(false, "PUT", path, id(`{"id":%d}`), "Content-Type: "+ctype)
	}
	for _, ctype := range []string{"text/plain", "text/json"} {
		add(true, "PUT", path, id(`{"id":%d}`), "Content-Type: "+ctype)
	}
	return list
}

func multipart(name, value string) string {
	return fmt.Sprintf("--b\r\nContent-Disposition: form-data; name=%q\r\n\r\n%s\r\n--b--\r\n", name, value)
}

// routeDoors are those of III.4 that hide the method or the route.
func routeDoors(sub int) (list []door) {
	route := fmt.Sprintf("/wc/v3/orders/%d", sub)
	add := func(method, target, body string, headers ...string) {
		name := strings.Join(append([]string{method, target, body}, headers...), " ")
		list = append(list, door{name: name, message: shopManager(method, target, body, headers...)})
	}
	for _, query := range []string{"_method=PUT", "_method=put", "%5Fmethod=PUT", ".method=PUT"} {
		add("GET", "/wp-json"+route+"?"+query, "")
	}
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "POST"} {
		add(method, "/wp-json"+route, "", "X-HTTP-Method-Override: PUT")
	}
	add("put", "/wp-json"+route, "")
	encoded := strings.ReplaceAll(route, "/", "%2F")
	for _, path := range []string{
		strings.ToUpper(route), fmt.Sprintf("/wc/v3/orders/000%d", sub), route + "/", route + "///",
	} {
		add("PUT", "/wp-json"+path, "")
	}
	for _, target := range []string{"/index.php/wp-json" + route, "/%77p-json" + route, "/wp-json" + encoded, "/%77p-json" + encoded, "//wp-json" + route} {
		add("PUT", target, "")
	}
	for _, name := range []string{"rest_route", "rest%5Froute", "rest.route", "rest+route", "rest%20route", "rest[route"} {
		add("PUT", "/index.php?"+name+"="+route, "")
	}
	for _, target := range []string{
		"/wp-json/wp/v2/types?rest_route=" + route, "/?rest_route=" + route + "%0A", "/?rest_route=" + route + "/",
		"/?rest_route=/wp/v2/types&rest_route=" + route, "/robots.txt?rest_route=" + route, "/?rest_route=" + route + "&x=wp-json/wc/",
	} {
		add("PUT", target, "")
	}
	add("POST", "/", "rest_route="+route, formType)
	add("POST", "/", "rest.route="+route, formType)
	add("POST", "/wp-json/wp/v2/types", "rest_route="+route, formType)
	add("POST", "/", multipart("rest_route", route), "Content-Type: multipart/form-data; boundary=b")
	return list
}

// batchDoors are those of III.5.
func batchDoors(order, sub int) (list []door) {
	add := func(method, target, body string, headers ...string) {
		name := strings.Join(append([]string{method, target, body}, headers...), " ")
		list = append(list, door{name: name, message: shopManager(method, target, body, headers...)})
	}
	one := fmt.Sprintf(`{"update":[{"id":%d,"customer_note":"x"}]}`, sub)
	for _, ns := range []string{"wc/v2", "wc/v3", "wc-analytics"} {
		path := "/wp-json/" + ns + "/orders/batch"
		for _, method := range []string{"POST", "PUT", "PATCH"} {
			add(method, path, one, jsonType)
		}
		add("GET", path+"?_method=POST&"+fmt.Sprintf("update[0][id]=%d", sub), "")
		add("POST", path, fmt.Sprintf("update[0][id]=%d", sub), formType)
		add("POST", path, multipart("update[0][id]", fmt.Sprint(sub)), "Content-Type: multipart/form-data; boundary=b")
		add("POST", path+fmt.Sprintf("?update[0][id]=%d", sub), "")
		add("POST", path+fmt.Sprintf("?%%20update[0][id]=%d", sub), `{"create":[]}`, jsonType)
		add("POST", path, fmt.Sprintf(`{"update":{"a":{"id":%d}}}`, sub), jsonType)
		add("POST", path, fmt.Sprintf(`{"update":[{"id":"%dabc"}]}`, sub), jsonType)
		add("POST", path, fmt.Sprintf(`{"update":[{"id":%d.9}]}`, sub), jsonType)
		add("POST", path, fmt.Sprintf(`{"update":[{"id":%d},{"id":%d}]}`, order, sub), jsonType)
	}
	return list
}

// otherDoors are those of III.7.
func otherDoors(sub int) []door {
	path := fmt.Sprintf("/wp-json/wc-analytics/orders/%d", sub)
	core := fmt.Sprintf(`{"requests":[{"path":"/wc/v3/orders/%d","method":"PUT"}]}`, sub)
	store := strings.Replace(core, "/wc/v3", "/wc/v3/orders/../../store", 1)
	tool := func(params string) message {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+params+`}`, sub)
		return message{method: "POST", target: "/wp-json/woocommerce/mcp", body: body, headers: []string{jsonType, "X-MCP-API-Key: " + shopKey}}
	}
	key := message{method: "PUT", target: fmt.Sprintf("/wp-json/wc/v3/orders/%d", sub), headers: []string{"Authorization: " + basic("ck_standin", "cs_standin")}}
	return []door{
		{name: "analytics", message: shopManager("PUT", path, `{}`, jsonType)},
		{name: "core batch", message: shopManager("POST", "/wp-json/batch/v1", core, jsonType), kept: true},
		{name: "checkout batch", message: shopManager("POST", "/wp-json/wc/store/v1/batch", core, jsonType), kept: true},
		{name: "checkout batch, other path", message: shopManager("POST", "/wp-json/wc/store/v1/batch", store, jsonType), kept: true},
		{name: "tool server", message: tool(`{"name":"woocommerce-orders-update","arguments":{"id":%d}}`)},
		{name: "tool server, params in params", message: tool(`{"name":"read","params":{"name":"woocommerce-orders-update","arguments":{"id":%d}}}`)},
		{name: "tool server, a blank behind the name", message: tool(`{"name":"woocommerce-orders-update ","arguments":{"id":%d}}`)},
		{name: "tool server, NUL before the name", message: tool(`{"name":"\u0000woocommerce-orders-update","arguments":{"id":%d}}`)},
		{name: "shop key", message: key},
		{name: "v4", message: shopManager("PUT", fmt.Sprintf("/wp-json/wc/v4/orders/%d", sub), `{"customer_note":"x"}`, jsonType), kept: true},
	}
}

// shopKey is what the stand-ins take for a read and write key.
const shopKey = "ck_standin:cs_standin"

package scopes

import (
	"fmt"
	"strings"
)

// batch makes a batch of the core, of the checkout or of the shop.
func (d *draw) batch() {
	switch d.IntN(3) {
	case 0:
		d.parts("/batch/v1", func() *Call {
			of := pick(d, routes)
			for of.rpc || !strings.Contains(of.methods, "POST") {
				of = pick(d, routes)
			}
			return &Call{Route: of.route, Method: pick(d, strings.Fields("POST PUT PATCH DELETE")), Members: d.placed(JSON)}
		})
	case 1:
		d.parts("/wc/store/v1/batch", func() *Call {
			return &Call{Route: pick(d, []string{"/wc/store/v1/cart/add-item", "/wc/store/v1/cart/remove-item"}), Method: "POST", Members: d.placed(JSON)}
		})
	default:
		d.collection()
	}
}

func (d *draw) parts(route string, next func() *Call) {
	own := &Call{Route: route, Method: "POST"}
	d.r.Calls = []*Call{own}
	var items []string
	for range 1 + d.IntN(3) {
		part := next()
		for i, m := range part.Members {
			part.Members[i].Place = JSON
			if m.Place == Query {
				part.Members = part.Members[:i]
				break
			}
		}
		d.r.Calls = append(d.r.Calls, part)
		items = append(items, fmt.Sprintf(`{"method":%q,"path":%q,"body":%s}`, part.Method, part.Route, object(part.Members)))
	}
	own.Members = []Member{{Path: "requests", Value: Value{Text: "[]", Literal: true}}}
	d.carry(false)
	d.spell(own, `{"requests":[`+strings.Join(items, ",")+`]}`, "")
}

// collection makes a batch of the shop's orders.
func (d *draw) collection() {
	own := &Call{Route: "/wc/v3/orders/batch", Method: "POST"}
	d.r.Calls = []*Call{own}
	var lists []string
	list := func(name, items string) {
		lists = append(lists, fmt.Sprintf("%q:[%s]", name, items))
		own.Members = append(own.Members, Member{Path: name, Value: Value{Text: "[]", Literal: true}})
	}
	item := func() (members []Member) {
		for _, m := range d.placed(JSON) {
			if m.Place == JSON {
				members = append(members, m)
			}
		}
		return members
	}
	kinds := 1 + d.IntN(7)
	if kinds&1 != 0 {
		part := &Call{Route: "/wc/v3/orders", Method: "POST", Members: item()}
		d.r.Calls = append(d.r.Calls, part)
		list("create", object(part.Members))
	}
	if kinds&2 != 0 {
		part := &Call{Route: "/wc/v3/orders/5", Method: "PUT", Members: item()}
		d.r.Calls = append(d.r.Calls, part)
		list("update", object(append([]Member{{Path: "id", Value: Value{Text: "5", Literal: true}}}, part.Members...)))
	}
	if kinds&4 != 0 {
		d.r.Calls = append(d.r.Calls, &Call{Route: "/wc/v3/orders/7", Method: "DELETE"})
		list("delete", "7")
	}
	d.carry(false)
	d.spell(own, "{"+strings.Join(lists, ",")+"}", "")
}

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

func (r reply) abilityNames() []string {
	var names []string
	list, _ := r.at().([]any)
	for i := range list {
		name, _ := r.at(fmt.Sprint(i), "name").(string)
		names = append(names, name)
	}
	return names
}

// TestAbilities: who may run which ability, and how (docs/project/interface E11).
func TestAbilities(t *testing.T) {
	w := newWorld(t, site.Options{Release: "11.1", Core: "6.9"}, "abilities {\nallow core/* shop/orders-query shop/order-update-status\n}")
	run := func(line, id, body string, edits ...edit) reply {
		method, query, _ := strings.Cut(line, "?")
		target := method + " /cms-json/cms-abilities/v1/abilities/" + id + "/run"
		if query != "" {
			target += "?" + query
		}
		return w.gate(target, body, edits...)
	}
	admin := w.as("admin")
	t.Run("allowed", func(_ *testing.T) {
		run("GET", "core/get-site-info", "", admin).want(200, "Reference shop").passed()
		run("GET?input[status]=processing", "shop/orders-query", "", w.as("manager")).want(200, `"status":"processing"`).passed()
		status := fmt.Sprintf(`{"input":{"id":%d,"status":"completed"}}`, w.info.Orders[0])
		run("POST", "shop/order-update-status", status, admin).want(200, `"completed"`).passed()
		run("GET", "core/get-user-info", "", w.as("customer")).want(200, `"customer"`).passed()
		run("POST?_method=GET", "core/get-site-info", "", admin).want(200).passed()
		w.gate("GET /?rest_route=/cms-abilities/v1/abilities/core/get-site-info/run", "", admin).want(200).passed()
	})
	t.Run("not allowed", func(t *testing.T) {
		product := w.info.Products[0]
		remove := fmt.Sprintf("DELETE?input[id]=%d", product)
		run(remove, "shop/product-delete", "").refusedWith(403, "rest_forbidden").unasked()
		run(remove, "shop/product-delete", "", admin).refusedWith(403, "rest_forbidden")
		run("GET?_method=DELETE&"+remove[7:], "shop/product-delete", "", admin).refusedWith(403, "rest_forbidden")
		if _, there := w.site.Record(product); !there {
			t.Error("the product is gone")
		}
	})
	t.Run("wrong method", func(_ *testing.T) {
		for _, method := range []string{"POST", "PUT", "DELETE"} {
			run(method, "core/get-site-info", "", admin).stopped().want(400, "rest_invalid_param")
		}
		run("GET", "shop/order-update-status", "", admin).stopped().want(400, "rest_invalid_param")
	})
	t.Run("against the schema", func(_ *testing.T) {
		for _, body := range []string{
			`{"input":{}}`, `{"input":{"id":1}}`, `{"input":{"id":"x","status":"completed"}}`, `{"input":{"id":0,"status":"completed"}}`,
			`{"input":{"id":1,"status":"nonsense"}}`, `{"input":{"id":1,"status":"completed","more":1}}`, `{"input":[1]}`, `{"input":"x"}`,
		} {
			run("POST", "shop/order-update-status", body, admin).stopped().want(400)
		}
		run("POST", "shop/order-update-status", `{}`, admin).want(400, "ability_invalid_input").passed() // nothing to check
		run("GET?input[status]=nonsense", "shop/orders-query", "", admin).stopped().want(400)
	})
	t.Run("name outside the path", func(_ *testing.T) {
		id := "core/get-user-info"
		for _, r := range []reply{
			run("GET?name=core/get-site-info", id, "", admin), run("GET?+name=core/get-site-info", id, "", admin),
			run("GET?name%00=core/get-site-info", id, "", admin), run("GET?name="+id, id, "", admin),
			run("POST", "shop/order-update-status", `{"name":"core/get-site-info"}`, admin),
			run("POST", "shop/order-update-status", "name=core/get-site-info", admin),
		} {
			r.refusedWith(400, ambiguous)
		}
		run("GET", "core/GET-site-info", "", admin).want(404, "rest_ability_not_found")
	})
	t.Run("who may not", func(_ *testing.T) {
		run("GET", "core/get-site-info", "", w.as("customer")).want(403, "rest_ability_cannot_execute").passed()
		run("GET", "core/get-site-info", "").want(403)
		run("GET", "core/get-environment-info", "", admin).want(404, "rest_ability_not_found") // not shown in REST
	})
	t.Run("the list", func(t *testing.T) {
		const list = "GET /cms-json/cms-abilities/v1/abilities"
		bare := w.bare(list, "", admin).want(200).abilityNames()
		through := w.gate(list, "", admin).want(200).abilityNames()
		want := []string{"core/get-site-info", "core/get-user-info", "shop/orders-query", "shop/order-update-status"}
		if !slices.Contains(bare, "shop/product-delete") || !slices.Equal(through, want) {
			t.Errorf("bare %q, through the gateway %q", bare, through)
		}
		w.gate(list, "").want(403, "rest_forbidden").passed()
		w.gate("GET /cms-json/cms-abilities/v1/abilities/core/get-site-info", "", admin).want(200, "input_schema").passed()
	})
}

// TestAbilities_Destructive: a pattern with * does not allow a destructive ability.
func TestAbilities_Destructive(t *testing.T) {
	for directive, runs := range map[string]bool{
		"abilities":                                              false,
		"abilities {\nallow shop/*\n}":                           false,
		"abilities {\nallow *\n}":                                false,
		"abilities {\nallow shop/product-delete\n}":              true,
		"abilities {\ndeny core/*\n}":                            false,
		"abilities {\ndeny shop/*\nallow shop/product-delete\n}": false,
		"": true, // the policy is off by default
	} {
		w := newWorld(t, site.Options{Release: "11.1"}, directive)
		product := w.info.Products[0]
		r := w.gate(fmt.Sprintf("DELETE /cms-json/cms-abilities/v1/abilities/shop/product-delete/run?input[id]=%d", product), "", w.as("admin"))
		if _, there := w.site.Record(product); there == runs || (r.reached == 1) != runs {
			t.Errorf("%q: %d %s, product there: %t", directive, r.status, r.body, there)
		}
		if !runs {
			r.refusedWith(403, "rest_forbidden")
		}
	}
}

// TestAbilities_Absent: on a core without abilities its own 404 passes.
func TestAbilities_Absent(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7", Core: "6.8"}, "abilities {\nallow core/*\n}")
	for _, target := range []string{"", "/core/get-site-info", "/core/get-site-info/run"} {
		line := "GET /cms-json/cms-abilities/v1/abilities" + target
		bare, through := w.bare(line, "", w.as("admin")).want(404, "rest_no_route"), w.gate(line, "", w.as("admin")).passed()
		if through.status != bare.status || through.body != bare.body {
			t.Errorf("%s: %d %s", line, through.status, through.body)
		}
	}
}

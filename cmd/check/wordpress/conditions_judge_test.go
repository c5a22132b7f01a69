//go:build wordpress

package wordpress

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// carried is what a handler of conditions.php could see of a call, place by place.
type carried struct {
	Route  string              `json:"route"`
	Method string              `json:"method"`
	Own    string              `json:"own"` // the id in the path
	Part   bool                `json:"part"`
	Places map[string]phpValue `json:"places"`
}

// phpValue is a value with the type that PHP has for it.
type phpValue struct {
	Kind    string     `json:"kind"` // as gettype says it, but "array" has no more levels than were asked for
	Text    base64Text `json:"text"`
	Members []struct {
		Name  base64Text `json:"name"`
		Value phpValue   `json:"value"`
	} `json:"members"`
}

// member returns what a name leads to, and whether there is anything.
func (v phpValue) member(name string) (phpValue, bool) {
	for _, m := range v.Members {
		if string(m.Name) == name {
			return m.Value, true
		}
	}
	return phpValue{}, false
}

// everywhere are the parameters that go with any call (docs/policies/access.md, Conditions).
var everywhere = []string{"_fields", "_embed", "_envelope", "_jsonp", "_method", "_locale", "rest_route", "_wpnonce", "consumer_key", "consumer_secret", "oauth_token"}

// broken tells which condition of the gate in its mode modeKept a call breaks that has run; "" for none.
func (c *carried) broken() string {
	if writes(c.Method) {
		switch route := strings.ToLower(c.Route); {
		case strings.HasPrefix(route, "/probe/v1/kept/"), strings.HasPrefix(route, "/wc/v3/probes"):
			return c.eachPlace(func(place string, v phpValue) string {
				if other := onlyThese(v, c.beside(place, "status", "order_total", "billing")...); other != "" {
					return other
				}
				if billing, has := v.member("billing"); has && (billing.Kind != "array" || onlyThese(billing, "email") != "") {
					return "billing has more than an email"
				}
				return fit(v, "status", isStatus) + fit(v, "order_total", isTotal)
			})
		case strings.HasPrefix(route, "/probe/v1/named/"):
			return c.eachPlace(func(place string, v phpValue) string {
				if id, has := v.member("id"); has && id.Kind != "NULL" && string(id.Text) != c.Own {
					return "another id"
				}
				return onlyThese(v, c.beside(place, "status", "id")...)
			})
		}
	}
	if !strings.HasPrefix(strings.ToLower(c.Route), "/probe/v1/compared/") {
		return ""
	}
	if _, has := c.Places["get_param"].member("status"); !has {
		return "there is no status"
	}
	return c.eachPlace(func(place string, v phpValue) string {
		if place == "get_body" { // a comparison is about JSON, form and query
			return ""
		}
		email := ""
		if billing, has := v.member("billing"); has {
			if email = fit(billing, "email", func(v phpValue) bool { return v.Kind == "string" && v.Text == "x" }); billing.Kind != "array" {
				email = "billing is no array"
			}
		}
		return fit(v, "status", isStatus) + fit(v, "order_total", isTotal) + email
	})
}

// beside are the names that a place may have: the path has the id for itself, and an item of a
// batch of the shop has it among its fields.
func (c *carried) beside(place string, names ...string) []string {
	names = append(names, everywhere...)
	if place == "get_params" || place == "get_param" || c.Part && c.Own == "" {
		names = append(names, "id")
	}
	return names
}

func (c *carried) eachPlace(broken func(place string, v phpValue) string) string {
	for _, place := range slices.Sorted(maps.Keys(c.Places)) {
		if how := broken(place, c.Places[place]); how != "" {
			return place + ": " + how
		}
	}
	return ""
}

func onlyThese(v phpValue, names ...string) string {
	for _, m := range v.Members {
		if !slices.Contains(names, string(m.Name)) {
			return fmt.Sprintf("there is %q", m.Name)
		}
	}
	if v.Kind != "array" && v.Kind != "NULL" {
		return "it is a " + v.Kind
	}
	return ""
}

func fit(v phpValue, name string, fits func(phpValue) bool) string {
	if m, has := v.member(name); has && !fits(m) {
		return fmt.Sprintf("%s is %s %q", name, m.Kind, m.Text)
	}
	return ""
}

func isStatus(v phpValue) bool {
	return v.Kind == "string" && slices.Contains([]string{"a", "b", "5"}, string(v.Text)) || v.Kind == "integer" && v.Text == "5"
}

var plainNumber = regexp.MustCompile(`^-?(\d+\.?\d*|\.\d+)$`)

func isTotal(v phpValue) bool {
	n, err := strconv.ParseFloat(string(v.Text), 64)
	switch v.Kind {
	case "integer", "double":
	case "string":
		if !plainNumber.MatchString(string(v.Text)) {
			return false
		}
	default:
		return false
	}
	return err == nil && n <= 10
}

package routing

import (
	"encoding/json"
	"reflect"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// hiddenInJSON returns the routes within the JSON of a handler that this package does not
// know. A route is an object with a list "handle"; a handler on its own is an object with
// a name "handler".
func hiddenInJSON(raw json.RawMessage) []branch {
	var fields map[string]json.RawMessage
	if jsonv1.Unmarshal(raw, &fields) != nil {
		return nil
	}
	var found []branch
	for _, value := range fields {
		found = append(found, hiddenInValue(value)...)
	}
	return found
}

func hiddenInValue(raw json.RawMessage) []branch {
	if len(raw) == 0 {
		return nil
	}
	var found []branch
	switch raw[0] {
	case '[':
		var elements []json.RawMessage
		_ = jsonv1.Unmarshal(raw, &elements)
		var routes caddyhttp.RouteList
		for _, element := range elements {
			if route, ok := routeIn(element); ok {
				routes = append(routes, route)
				continue
			}
			found = append(found, hiddenInValue(element)...)
		}
		if routes != nil {
			found = append(found, branch{routes: routes})
		}
	case '{':
		if route, ok := routeIn(raw); ok {
			return []branch{{routes: caddyhttp.RouteList{route}}}
		}
		return hiddenInJSON(raw)
	}
	return found
}

// routeIn returns the route or the single handler that raw is.
func routeIn(raw json.RawMessage) (caddyhttp.Route, bool) {
	var route struct {
		caddyhttp.Route
		Handler string `json:"handler"`
	}
	if len(raw) == 0 || raw[0] != '{' || jsonv1.Unmarshal(raw, &route) != nil {
		return caddyhttp.Route{}, false
	}
	if route.Handler != "" {
		return caddyhttp.Route{HandlersRaw: []json.RawMessage{raw}}, true
	}
	return route.Route, route.HandlersRaw != nil
}

var (
	routeType    = reflect.TypeFor[caddyhttp.Route]()
	routesType   = reflect.TypeFor[caddyhttp.RouteList]()
	subrouteType = reflect.TypeFor[caddyhttp.Subroute]()
	handlerType  = reflect.TypeFor[caddyhttp.MiddlewareHandler]()
)

// hiddenInModule returns the routes within the exported fields of a loaded handler that
// this package does not know.
func hiddenInModule(module caddyhttp.MiddlewareHandler) []branch {
	v := reflect.ValueOf(module)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if !v.IsValid() {
		return nil
	}
	return search{v.Type().PkgPath()}.in(v, maxDepth)
}

// maxDepth bounds the search for routes in the fields of a module.
const maxDepth = 6

// search looks for routes in the exported fields of a module of a package. It follows
// pointers to the types of this package and to subroutes only, never to Caddy's server.
type search struct{ pkg string }

func (s search) in(v reflect.Value, depth int) []branch {
	if depth == 0 {
		return nil
	}
	switch {
	case v.Type() == routesType:
		return []branch{{routes: v.Interface().(caddyhttp.RouteList)}}
	case v.Type() == routeType:
		return []branch{{routes: caddyhttp.RouteList{v.Interface().(caddyhttp.Route)}}}
	}
	var found []branch
	switch v.Kind() { //nolint:exhaustive // others hold no routes
	case reflect.Interface:
		if v.Type().Implements(handlerType) && !v.IsNil() {
			handler := v.Interface().(caddyhttp.MiddlewareHandler)
			return []branch{{routes: caddyhttp.RouteList{{Handlers: []caddyhttp.MiddlewareHandler{handler}}}}}
		}
	case reflect.Pointer:
		if to := v.Type().Elem(); !v.IsNil() && (to.PkgPath() == s.pkg || to == subrouteType) {
			return s.in(v.Elem(), depth-1)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			found = append(found, s.in(v.Index(i), depth-1)...)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			found = append(found, s.in(it.Value(), depth-1)...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				found = append(found, s.in(v.Field(i), depth-1)...)
			}
		}
	}
	return found
}

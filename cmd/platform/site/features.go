package site

import (
	"maps"
	"slices"
)

// feature is a flag of Settings, Advanced, Features; all are off by default
// (docs/project/interface 2).
type feature struct{ id, title string }

// knownFeatures are those of the running release: the document ties only the
// withdrawal flow to 11.1 (section 9).
func (s *Site) knownFeatures() []feature {
	known := []feature{
		{"unified_editor_assets", "Unified editor assets (experimental)"},
		{"product_gallery_video", "Product gallery video (beta)"},
	}
	if s.since("11.1") {
		known = append(known, feature{"order_withdrawal", "Order withdrawal (EU right of withdrawal)"})
	}
	return known
}

func (s *Site) knowsFeature(id string) bool {
	return slices.ContainsFunc(s.knownFeatures(), func(f feature) bool { return f.id == id })
}

func (s *Site) featureRoutes() {
	admin := func(q *request) error {
		if !q.can("manage_options") {
			return q.forbidden()
		}
		return nil
	}
	namespace := s.names.short() + "-admin"
	enabled := args{"enabled": {Type: "boolean", Required: true}}
	fields := args{"features": {Type: "object"}}
	for _, f := range s.knownFeatures() {
		fields[f.id] = arg{Type: "boolean", Description: f.title}
	}
	s.router.add(namespace+"/v1", "/features", reading, endpoint{allow: admin, run: listFeatures})
	s.router.add(namespace+"/v1", "/features", editing, endpoint{args: fields, allow: admin, run: setFeatures})
	const one = `/features/(?P<feature>[\w-]+)`
	s.router.add(namespace+"/v1", one, reading, endpoint{allow: admin, run: getFeature})
	s.router.add(namespace+"/v1", one, editing, endpoint{args: enabled, allow: admin, run: func(q *request) (any, error) {
		if _, err := getFeature(q); err != nil {
			return nil, err
		}
		s.features[q.str("feature")] = q.bool("enabled")
		return listFeatures(q)
	}})
}

// setFeatures switches the flags that the body names, in any of three forms:
// {"<flag>":true}, {"features":{"<flag>":true}}, {"id":"<flag>","enabled":true}.
// Either all of it is understood or nothing is changed.
func setFeatures(q *request) (any, error) {
	named := obj{}
	for name, v := range q.fields() {
		switch name {
		case "features":
			maps.Copy(named, object(v))
		case "id", "feature":
			named[text(v)] = q.fields()["enabled"]
		case "enabled": // of id or feature
			if !q.has("id") && !q.has("feature") {
				return nil, errInvalidParam(name, "enabled needs the id of a feature.")
			}
		default:
			named[name] = v
		}
	}
	for _, id := range slices.Sorted(maps.Keys(named)) {
		if !q.site.knowsFeature(id) {
			return nil, errInvalidParam(id, "There is no such feature.")
		}
		if _, ok := truth(named[id]); !ok {
			return nil, errInvalidParam(id, id+" is not of type boolean.")
		}
	}
	if len(named) == 0 {
		return nil, errMissingParam("features")
	}
	for id, v := range named {
		q.site.features[id], _ = truth(v)
	}
	return listFeatures(q)
}

func (s *Site) featureJSON(f feature) obj {
	return obj{"id": f.id, "title": f.title, "enabled": s.features[f.id]}
}

func getFeature(q *request) (any, error) {
	for _, f := range q.site.knownFeatures() {
		if f.id == q.str("feature") {
			return q.site.featureJSON(f), nil
		}
	}
	return nil, errInvalidParam("feature", "There is no such feature.")
}

func listFeatures(q *request) (any, error) {
	out := []obj{}
	for _, f := range q.site.knownFeatures() {
		out = append(out, q.site.featureJSON(f))
	}
	return out, nil
}

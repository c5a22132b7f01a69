package site

import "slices"

// feature is a flag of Settings, Advanced, Features; all are off by default
// (interface document section 2).
type feature struct{ id, title string }

// knownFeatures are those of the running release. The flags of the document
// came with 11.1; the tool server's is older.
func (s *Site) knownFeatures() []feature {
	known := []feature{{"mcp_integration", "Tool server (beta)"}}
	if s.since("11.1") {
		known = append(known,
			feature{"order_withdrawal", "Order withdrawal (EU right of withdrawal)"},
			feature{"unified_editor_assets", "Unified editor assets (experimental)"},
			feature{"product_gallery_video", "Product gallery video (beta)"})
	}
	return known
}

func (s *Site) featureRoutes() {
	admin := func(q *request) error {
		if !q.can("manage_options") {
			return q.forbidden()
		}
		return nil
	}
	namespace := s.names.shop + "-admin"
	if s.names.Name == "wordpress" {
		namespace = "wc-admin"
	}
	fields := args{}
	for _, f := range s.knownFeatures() {
		fields[f.id] = arg{Type: "boolean", Description: f.title}
	}
	s.router.add(namespace+"/v1", "/features", reading, endpoint{allow: admin, run: listFeatures})
	s.router.add(namespace+"/v1", "/features", editing, endpoint{args: fields, allow: admin, run: func(q *request) (any, error) {
		for _, f := range s.knownFeatures() {
			if q.has(f.id) {
				s.features[f.id] = q.bool(f.id)
			}
		}
		return listFeatures(q)
	}})
	s.router.add(namespace+"/v1", `/features/(?P<feature>[\w-]+)`, editing, endpoint{
		args: args{"enabled": {Type: "boolean", Required: true}}, allow: admin, run: setFeature,
	})
}

func setFeature(q *request) (any, error) {
	id := q.str("feature")
	if !slices.ContainsFunc(q.site.knownFeatures(), func(f feature) bool { return f.id == id }) {
		return nil, errInvalidParam("feature", "There is no such feature.")
	}
	q.site.features[id] = q.bool("enabled")
	return listFeatures(q)
}

func listFeatures(q *request) (any, error) {
	out := []obj{}
	for _, f := range q.site.knownFeatures() {
		out = append(out, obj{"id": f.id, "title": f.title, "enabled": q.site.features[f.id]})
	}
	return out, nil
}

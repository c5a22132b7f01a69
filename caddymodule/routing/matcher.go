package routing

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// matcher is one matcher of a route, loaded or not.
type matcher struct {
	kind  string // the module's name
	text  string // its JSON, in one form for equal matchers; "" if that cannot be known
	hosts []string
	paths []string
	inner [][]*matcher // of "not"
	uses  parts        // of a request
	pure  bool         // it says the same of the same request
	raw   json.RawMessage

	known map[*sample]truth
}

// parts are parts of a request that handlers may change.
type parts uint8

const (
	host parts = 1 << iota
	path
	other
	everything = host | path | other
)

// pure matchers depend on the request alone, and on the parts named here.
var pure = map[string]parts{
	"host": host, "path": path, "path_regexp": path, "method": other, "query": other, "header": other | host,
	"header_regexp": other | host, "protocol": other, "remote_ip": other, "client_ip": other,
}

// matcherSets returns the matchers of a route. A request passes if one of the sets holds,
// or if there are none.
func matcherSets(route *caddyhttp.Route) [][]*matcher {
	if sets := loadedSets(route.MatcherSets); sets != nil {
		return sets
	}
	var sets [][]*matcher
	for _, set := range route.MatcherSetsRaw {
		sets = append(sets, rawSet(set))
	}
	return sets
}

func loadedSets(loaded []caddyhttp.MatcherSet) (sets [][]*matcher) {
	for _, set := range loaded {
		var all []*matcher
		for _, m := range set {
			all = append(all, loadedMatcher(m))
		}
		sets = append(sets, all)
	}
	return sets
}

func rawSet(set map[string]json.RawMessage) []*matcher {
	all := []*matcher{}
	for kind, raw := range set {
		all = append(all, rawMatcher(kind, raw))
	}
	slices.SortFunc(all, func(a, b *matcher) int { return strings.Compare(a.kind, b.kind) })
	return all
}

func loadedMatcher(module any) *matcher {
	switch m := module.(type) {
	case *caddyhttp.MatchNot:
		return (&matcher{kind: "not", inner: loadedSets(m.MatcherSets)}).derive()
	case caddyhttp.MatchNot:
		return (&matcher{kind: "not", inner: loadedSets(m.MatcherSets)}).derive()
	}
	raw, _ := json.Marshal(module) // nil for what has no JSON
	return rawMatcher(moduleName(module), raw)
}

func rawMatcher(kind string, raw json.RawMessage) *matcher {
	m := &matcher{kind: kind, raw: raw}
	switch kind {
	case "not":
		var sets []map[string]json.RawMessage
		_ = jsonv1.Unmarshal(raw, &sets)
		for _, set := range sets {
			m.inner = append(m.inner, rawSet(set))
		}
	case "host":
		_ = jsonv1.Unmarshal(raw, &m.hosts)
		m.hosts = normalized(m.hosts)
	case "path":
		_ = jsonv1.Unmarshal(raw, &m.paths)
		for i, p := range m.paths {
			if !strings.Contains(p, "{") {
				m.paths[i] = strings.ToLower(p)
			}
		}
	}
	return m.derive()
}

// derive works out what m depends on.
func (m *matcher) derive() *matcher {
	m.uses, m.pure = pure[m.kind], pure[m.kind] != 0
	if m.kind == "not" {
		m.pure = true
		texts := make([]string, 0, len(m.inner))
		for _, set := range m.inner {
			for _, inner := range set {
				m.uses |= inner.uses
				m.pure = m.pure && inner.pure
				texts = append(texts, inner.kind+inner.text)
			}
			texts = append(texts, "or")
		}
		m.text = strings.Join(texts, "\x00")
	} else {
		m.text = m.canonical()
	}
	if !m.pure || m.text == "" || hasPlaceholder(m.raw) {
		m.pure, m.uses = false, everything
	}
	return m
}

// hasPlaceholder tells whether a string in raw holds a brace.
func hasPlaceholder(raw json.RawMessage) bool {
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted && c == '{':
			return true
		}
	}
	return false
}

func (m *matcher) canonical() string {
	switch {
	case m.hosts != nil:
		return strings.Join(m.hosts, " ")
	case m.paths != nil:
		return strings.Join(m.paths, " ")
	}
	var text bytes.Buffer
	if json.Compact(&text, m.raw) != nil {
		return ""
	}
	return text.String()
}

// always tells whether every request passes m.
func (m *matcher) always() bool { return m.kind == "path" && slices.Contains(m.paths, "*") }

// impliesPaths tells whether each path that fits one of these patterns fits one of those.
func impliesPaths(these, those []string) bool {
	return len(these) > 0 && !slices.ContainsFunc(these, func(p string) bool {
		return !slices.ContainsFunc(those, func(q string) bool { return p == q || q == "*" || narrower(p, q) })
	})
}

// narrower tells whether all paths that fit p begin as the prefix pattern q says.
func narrower(p, q string) bool {
	prefix, ok := strings.CutSuffix(q, "*")
	return ok && plainPath(p) && plainPath(q) && strings.HasPrefix(strings.TrimSuffix(p, "*"), prefix)
}

// plainPath tells whether a pattern is a path, or the beginning of one followed by *.
func plainPath(p string) bool {
	return strings.HasPrefix(p, "/") && !strings.ContainsAny(strings.TrimSuffix(p, "*"), "*?[\\%{") && !strings.Contains(p, "//")
}

// disjointPaths tells whether no path fits one of these patterns and one of those.
func disjointPaths(these, those []string) bool {
	for _, p := range these {
		for _, q := range those {
			if !plainPath(p) || !plainPath(q) {
				return false
			}
			a, longA := strings.CutSuffix(p, "*")
			b, longB := strings.CutSuffix(q, "*")
			if a == b || longA && strings.HasPrefix(b, a) || longB && strings.HasPrefix(a, b) {
				return false
			}
		}
	}
	return true
}

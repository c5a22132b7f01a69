package index

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Root is what a site's REST root says, as the platform writes it (docs/platform I.1).
type Root struct {
	Name, Home, URL string // of the site; "" if the root does not say
	Namespaces      []string
	Routes          []Listed // in the order of registration
}

// Listed is one route of a root.
type Listed struct {
	Pattern string          // the regular expression, "/wp/v2/posts/(?P<id>[\d]+)"
	about   json.RawMessage // what the root says of it
}

// ParseRoot reads the body of an answer to a question for the REST root. The error says that
// it is no JSON object.
func ParseRoot(text []byte) (*Root, error) {
	var said struct {
		Name       json.RawMessage `json:"name"` // plugins make numbers of titles
		Home       string          `json:"home"`
		URL        string          `json:"url"`
		Namespaces []string        `json:"namespaces"`
		Routes     ordered         `json:"routes"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &said); err != nil {
		return nil, err
	}
	r := &Root{Home: said.Home, URL: said.URL, Namespaces: said.Namespaces, Routes: said.Routes}
	_ = json.Unmarshal(said.Name, &r.Name) // else it has none
	return r, nil
}

// Patterns returns the routes alone.
func (r *Root) Patterns() []string {
	patterns := make([]string, len(r.Routes))
	for i := range r.Routes {
		patterns[i] = r.Routes[i].Pattern
	}
	return patterns
}

// Route returns the route of a pattern, or nil.
func (r *Root) Route(pattern string) *Listed {
	if i := slices.IndexFunc(r.Routes, func(l Listed) bool { return l.Pattern == pattern }); i >= 0 {
		return &r.Routes[i]
	}
	return nil
}

// Methods returns the methods that the route takes, in order, each once.
func (l *Listed) Methods() []string {
	var said struct {
		Methods   []string `json:"methods"`
		Endpoints []struct {
			Methods []string `json:"methods"`
		} `json:"endpoints"`
	}
	_ = json.Unmarshal(l.about, &said) // what has another form is not there
	methods := said.Methods
	for _, e := range said.Endpoints {
		methods = append(methods, e.Methods...)
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}

// dispatched are the methods that the platform dispatches.
var dispatched = []string{"DELETE", "GET", "PATCH", "POST", "PUT"}

// Dispatched returns those methods of the route that the platform dispatches, in order. told
// is false where the root tells none of them: then the route may take any, and all are
// returned.
func (l *Listed) Dispatched() (methods []string, told bool) {
	methods = slices.DeleteFunc(l.Methods(), func(m string) bool { return !slices.Contains(dispatched, m) })
	if len(methods) == 0 {
		return slices.Clone(dispatched), false
	}
	return methods, true
}

// ServesTools tells whether the route has one endpoint with exactly the methods POST, GET and
// DELETE, and no arguments, as a server of tools for agents has (docs/platform IV.1).
func (l *Listed) ServesTools() bool {
	var said struct {
		Endpoints []struct {
			Methods []string        `json:"methods"`
			Args    json.RawMessage `json:"args"`
		} `json:"endpoints"`
	}
	if json.Unmarshal(l.about, &said) != nil || len(said.Endpoints) != 1 {
		return false
	}
	e := &said.Endpoints[0]
	slices.Sort(e.Methods)
	return slices.Equal(e.Methods, []string{"DELETE", "GET", "POST"}) && (string(e.Args) == "[]" || string(e.Args) == "{}")
}

// Self returns the address that the site gives for the route, or "".
func (l *Listed) Self() string {
	var said struct {
		Links struct {
			Self json.RawMessage `json:"self"`
		} `json:"_links"`
	}
	_ = json.Unmarshal(l.about, &said)
	var href string
	var hrefs []struct{ Href string }
	if json.Unmarshal(said.Links.Self, &hrefs) == nil && len(hrefs) > 0 {
		return hrefs[0].Href
	}
	_ = json.Unmarshal(said.Links.Self, &href) // the platform writes a text for the root itself
	return href
}

// ordered is an object of JSON whose names have an order, as the platform's routes have.
type ordered []Listed

// UnmarshalJSON reads an object. The platform writes an empty one as an array; anything
// that is no object is empty. Of a name that stands twice the last value counts.
func (o *ordered) UnmarshalJSON(text []byte) error {
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	known := map[string]int{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var about json.RawMessage
		if err := d.Decode(&about); err != nil {
			return err
		}
		pattern, _ := name.(string)
		if i, twice := known[pattern]; twice {
			(*o)[i].about = about
			continue
		}
		known[pattern] = len(*o)
		*o = append(*o, Listed{pattern, about})
	}
	return nil
}

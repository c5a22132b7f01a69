package call

import "encoding/json"

// Prefixes are the names of the prefix of a site. The first is the one that the site itself
// uses, and that questions take. In JSON one name is a string, several are a list.
type Prefixes []string

// First returns the first name, or "" where the site has not changed the prefix.
func (p Prefixes) First() string {
	if len(p) == 0 {
		return ""
	}
	return p[0]
}

// More returns the other names.
func (p Prefixes) More() []string {
	if len(p) == 0 {
		return nil
	}
	return p[1:]
}

// MarshalJSON writes one name as a string.
func (p Prefixes) MarshalJSON() ([]byte, error) {
	if len(p) == 1 {
		return json.Marshal(p[0])
	}
	return json.Marshal([]string(p))
}

// UnmarshalJSON reads a string or a list of strings.
func (p *Prefixes) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		if *p = nil; one != "" {
			*p = Prefixes{one}
		}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(p))
}

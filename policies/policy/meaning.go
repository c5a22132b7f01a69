package policy

import "encoding/json"

// Meaning writes a part of a configuration as JSON without the places of its lines: two parts with the same text mean the
// same. It is for parts that JSON can hold.
func Meaning(part any) string {
	text, err := json.Marshal(part)
	var all any
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		panic(err) // a policy whose configuration is no JSON
	}
	text, _ = json.Marshal(unplaced(all))
	return string(text)
}

// unplaced returns v without the members "at".
func unplaced(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "at")
		for name := range v {
			v[name] = unplaced(v[name])
		}
	case []any:
		for i := range v {
			v[i] = unplaced(v[i])
		}
	}
	return v
}

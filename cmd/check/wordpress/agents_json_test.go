//go:build wordpress

package wordpress

import "strings"

// written is JSON as it stands on the wire: keys twice, escapes and odd values survive.
type written struct {
	members []member
}

// member is one of an object. Its key and value are as they are written, the key without
// quotes; object stands in place of a value.
type member struct {
	key    string
	value  string
	object *written
}

func (w *written) add(key, value string) {
	w.members = append(w.members, member{key: key, value: value})
}

func (w *written) nest(key string, o *written) {
	w.members = append(w.members, member{key: key, object: o})
}

// drop takes all members of a key away.
func (w *written) drop(key string) {
	kept := w.members[:0]
	for _, m := range w.members {
		if m.key != key {
			kept = append(kept, m)
		}
	}
	w.members = kept
}

// set puts a value in place of what a key has.
func (w *written) set(key, value string) {
	for i := range w.members {
		if w.members[i].key == key {
			w.members[i].value, w.members[i].object = value, nil
		}
	}
}

func (w *written) text() string {
	var b strings.Builder
	b.WriteByte('{')
	for i, m := range w.members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + m.key + `":`)
		if m.object != nil {
			b.WriteString(m.object.text())
			continue
		}
		b.WriteString(m.value)
	}
	b.WriteByte('}')
	return b.String()
}

// quoted is a text as JSON writes it where nothing needs an escape.
func quoted(text string) string { return `"` + text + `"` }

func dashed(id string) string { return strings.ReplaceAll(id, "/", "-") }

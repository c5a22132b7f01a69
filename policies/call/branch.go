package call

import (
	"slices"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// branch is an array within a list of a batch that comes in a form or a query. Arrays within a
// field of a part have no elements there: they are built where they are asked for.
type branch struct {
	array *phpvars.Array
	of    *source
	path  []string // to the array: the name of the list, then keys
}

// branchLevels are those of a list: the list itself, its items, and the fields of the body of
// an item, see phpvars.Variables.
const branchLevels = 4

// child returns what stands under a key: a text, or a *branch.
func (b *branch) child(key string) (any, bool) {
	v, set := b.array.Get(key)
	if array, ok := v.(*phpvars.Array); ok {
		return &branch{array, b.of, append(slices.Clone(b.path), key)}, true
	}
	return v, set
}

// get returns a field, see source.find.
func (b *branch) get(name string, levels int) (any, bool, *Refusal) {
	v, set := b.array.Get(name)
	if _, array := v.(*phpvars.Array); !array {
		return v, set, nil
	}
	if levels == scalar {
		return Compound{}, true, nil
	}
	v, _, refusal := b.of.find(b.path[0], whole)
	for _, key := range append(slices.Clone(b.path[1:]), name) {
		array, _ := v.(*phpvars.Array)
		v, _ = array.Get(key)
	}
	return v, true, refusal
}

package call

import "github.com/restwarden/restwarden/policies/call/phpvars"

// branch is an array within a list of a batch that comes in a form or a query. Arrays within a
// field of a part have no elements there.
type branch struct{ array *phpvars.Array }

// branchLevels are those of a list: the list itself, its items, and the fields of the body of
// an item, see phpvars.Variables.
const branchLevels = 4

// child returns what stands under a key: a text, or a *branch.
func (b *branch) child(key string) (any, bool) {
	v, set := b.array.Get(key)
	if array, ok := v.(*phpvars.Array); ok {
		return &branch{array}, true
	}
	return v, set
}

// get returns a field, see source.find. What is nested in one is built for nobody: clients that
// nest send JSON, and each part would read the whole form once more.
func (b *branch) get(name string, levels int) (any, bool, *Refusal) {
	v, set := b.array.Get(name)
	switch _, array := v.(*phpvars.Array); {
	case !array:
		return v, set, nil
	case levels == scalar:
		return Compound{}, true, nil
	}
	return nil, true, errBatch
}

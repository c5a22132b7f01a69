// Package keyset reasons about sets of keys, as rules name them by patterns: it decides for
// all keys at once, not for samples.
//
// An [Automaton] reads a key segment by segment. Its [State] says which patterns still may
// match, and which match already. There are finitely many states, since a pattern tells
// segments apart only by the literals that it has at that place: all other segments are
// alike. A [Space] is a set of keys: a pattern, or a route of a site by its own expression.
// [Automaton.Walk] visits every state in which a key of a space can end, with one such key.
// Two keys that end in the same state are matched by the same patterns, so that what holds
// for the one holds for the other.
//
// Keys are those of package call: in lower case, without empty segments, the old address of
// the checkout API with its version.
package keyset

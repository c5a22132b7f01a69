// Package confirm keeps the calls of a site that wait for a person.
//
// [Ledger.Ask] finds or makes the [Confirmation] that a [Call] needs. A person decides on it
// by [Ledger.Decide]; the next call that is the same in every respect uses it up. If that call
// never ran, [Ledger.GiveBack] undoes it. All state is in a [store.Store], so that any gateway
// of a site can ask, decide and use. Nothing is kept longer than the confirmation lasts, but
// for some marks as long again.
//
// An operation of the store that fails is an error here: no call passes on a guess.
package confirm

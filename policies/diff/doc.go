// Package diff says on which calls two chains decide otherwise. It reasons about all calls at once, as proofs do (see
// package review): one automaton tells apart what either chain tells apart, and the policies of both say what becomes of
// the calls of each region, for each caller that either side names.
package diff

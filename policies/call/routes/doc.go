// Package routes matches routes against patterns.
//
// A [Pattern] is a route as rules write it. It matches the [Key] of a route that was called.
// [Bent] finds routes that only the platform takes for one of a pattern. [Masked] hides the
// secrets of routes in outputs.
package routes

// Package rewrite changes the JSON of answers: it replaces fields, and the objects that
// the platform has embedded. It reads what the platform makes of _jsonp, _envelope and
// batches, and leaves the meaning of all other bytes as it is.
package rewrite

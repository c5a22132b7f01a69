// Package between knows what servers, caches and PHP's filters between a client and the platform
// make of an address (docs/platform I.13).
//
// Some decode, sort, trim or cut a path or a query, or write it in small letters, before the next
// one reads it. [ChangesOf] tells what may become of a query, [CutsOf] what may be cut out of a
// path, and [Crosses] whether a part of the one may become a part of the other. [PlainBytes] and
// [Filtered] tell which texts all of them leave alone.
package between

// Package budget divides the memory and the disk that all requests take together among sites
// and clients.
//
// [Shares] is a limit of which no site and no client may take what others need, with those
// who wait for room. [Memory] and [Spool] are such limits for the bodies of requests and for
// answers that are rewritten. A [File] is one body on disk, on the account of its [Holder].
package budget

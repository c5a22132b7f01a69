// Package call works out which REST call a request really makes.
//
// A content platform finds the route, the method and the parameters of a call in several
// places, and reads each in its own way. This package reads a request as the platform's
// PHP and router read it (docs/project/design 5, docs/platform I):
//
//	reader := call.NewReader(call.Site{Platform: platform})
//	c := reader.Read(r, nil)
//	defer c.Close()
//
// A request is a [Page], a [Single] call, a [Batch] of calls, or [Refused]. Refused is a
// request that could be read in two ways, by two releases of PHP or two web servers, or
// one that is over a limit. The [Refusal] says why.
//
// A [Call] holds the route, the method and the addressing form. It answers further
// questions from the request itself: what a parameter is ([Call.Param]), which record the
// call is about ([Call.ObjectID]), what the body says ([Call.JSON]). It reads a body only
// when a question needs it, and puts back what it has read, so that the request goes on
// byte for byte. [Limits], [budget.Memory] and [budget.Spool] bound what that takes.
// [Reader.Sources] says which place named route, method and id, and why the others did not.
//
// A [routes.Pattern] is a route as rules write it. It matches the Key of a Call.
//
// All that differs between the platforms is one row of a table, a [platforms.Platform].
//
// The package knows no server and no policy. What PHP makes of queries, forms and
// multipart bodies is in package phpvars, and what servers on the way make of addresses in
// package between.
package call

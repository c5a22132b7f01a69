// Package index knows the routes of one site as the site itself registers them, by the
// patterns of its REST root. It names a route as called by the site's own pattern,
// "/contact-form-7/v1/contact-forms/:id/feedback". No name holds a client's word: a name is
// made of the pattern alone.
//
// The platform matches "@^" + pattern + "$@i", in the order of registration, within the
// namespaces that the route begins with (docs/platform II, WP_REST_Server::match_request_to_handler).
// This package reads the part of that language that plugins use. A pattern outside it is
// opaque: a route that it might match has no name, never a guessed one.
package index

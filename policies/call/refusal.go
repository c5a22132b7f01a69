package call

import (
	"fmt"
	"net/http"
)

// Refusal is a request that has no certain reading, or one that is over a limit.
type Refusal struct {
	Status int    // 400, 404, 413, 415 or 503
	Code   string // "rest_ambiguous_request", "rest_request_too_large", "rest_no_route", …
	Reason string // one of a closed set of words, for logs and explain; never shown to clients
}

// Error lets a Refusal travel as an error.
func (r *Refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.Status, r.Code, r.Reason) }

// What a request may be refused for (docs/design 5).
var (
	badMethod     = ambiguous("method")            // unknown, empty or not in upper case
	badTarget     = ambiguous("target")            // absolute form, "#", bytes that are re-encoded on the way
	badPath       = ambiguous("path")              // the prefix in an odd spelling, or twice
	scriptPath    = ambiguous("script_path")       // ".php/"
	twoPaths      = ambiguous("rewritten_path")    // original and current path disagree
	twoRoutes     = ambiguous("two_routes")        // rest_route and path, or query and form, disagree
	badRoute      = ambiguous("route")             // a value of rest_route that needs guessing
	badVariable   = ambiguous("variables")         // beyond a limit of PHP, or an array where a string belongs
	keyMarker     = ambiguous("key_marker")        // text that makes a shop key valid on any route
	badConnection = ambiguous("connection_header") // names a header that decides
	twiceHeader   = ambiguous("repeated_header")   // a deciding header sent twice
	oddHeader     = ambiguous("header_value")      // a deciding header with blanks around it, or a very long one
	aliasHeader   = ambiguous("header_alias")      // names that PHP folds onto one
	upgradeHeader = ambiguous("upgrade")           // a call is never a tunnel
	badBody       = ambiguous("body")              // an inspected body that does not parse
	brokenBody    = ambiguous("body_read")         // the client went away or the framing is broken
	twoBodies     = ambiguous("body_type")         // a form to one front-end, none to the other
	badID         = ambiguous("id")                // anything but plain decimal digits
	badBatch      = ambiguous("batch")             // a batch, or a part of it, that needs guessing
	nestedBatch   = ambiguous("nested_batch")      //
	outside       = &Refusal{http.StatusNotFound, "rest_no_route", "outside_base"}
	tooLarge      = &Refusal{http.StatusRequestEntityTooLarge, "rest_request_too_large", "body_limit"}
	tooMany       = &Refusal{http.StatusRequestEntityTooLarge, "rest_request_too_large", "batch_limit"}
	encodedBody   = &Refusal{http.StatusUnsupportedMediaType, "rest_unsupported_media_type", "content_encoding"}
	noMemory      = &Refusal{http.StatusServiceUnavailable, "rest_policy_unavailable", "memory"}
	spoolFull     = &Refusal{http.StatusServiceUnavailable, "rest_policy_unavailable", "spool_limit"}
)

func ambiguous(reason string) *Refusal {
	return &Refusal{http.StatusBadRequest, "rest_ambiguous_request", reason}
}

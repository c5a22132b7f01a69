package call

import (
	"errors"
	"fmt"
	"net/http"
)

// Code is the code of a refusal in the platform's error object: machine-readable, and the
// same in metrics, logs and documents.
type Code string

// The codes of requests that cannot be read. Policies refuse with some of them, too.
const (
	CodeAmbiguous       Code = "rest_ambiguous_request"
	CodeTooLarge        Code = "rest_request_too_large"
	CodeNoRoute         Code = "rest_no_route"
	CodeInvalidParam    Code = "rest_invalid_param"
	CodeUnavailable     Code = "rest_policy_unavailable"
	CodeUnsupportedType Code = "rest_unsupported_media_type"
	CodeTooEarly        Code = "rest_too_early"
)

// Refusal says why a request is refused: it has no certain reading, or is over a limit.
type Refusal struct { //nolint:errname // a reading that travels as an error
	Status int    // 400, 404, 413, 415, 425 or 503
	Code   Code   // one of the codes above
	Reason string // one of a closed set of words, for logs and explain; never shown to clients
	Err    error  // the cause where it is not the client's, for the log: a full disk, a share that is used up
}

// Error lets a Refusal travel as an error.
func (r *Refusal) Error() string {
	if r.Err != nil {
		return fmt.Sprintf("%d %s: %s: %v", r.Status, r.Code, r.Reason, r.Err)
	}
	return fmt.Sprintf("%d %s: %s", r.Status, r.Code, r.Reason)
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }

// What a request may be refused for (docs/reading.md, "What is refused").
var (
	errMethod      = Ambiguous("method")            // unknown, empty or not in upper case
	errTarget      = Ambiguous("target")            // absolute form, "#", bytes that are re-encoded on the way
	errPath        = Ambiguous("path")              // the prefix in an odd spelling, or twice
	errScriptPath  = Ambiguous("script_path")       // ".php/"
	errTwoPaths    = Ambiguous("rewritten_path")    // original and current path disagree
	errTwoRoutes   = Ambiguous("two_routes")        // rest_route and path, or query and form, disagree
	errRoute       = Ambiguous("route")             // a value of rest_route that needs guessing
	errVariable    = Ambiguous("variables")         // beyond a limit of PHP, next to a ";", or an array where a string belongs
	errKeyMarker   = Ambiguous("key_marker")        // text that makes a shop key valid on any route
	errConnection  = Ambiguous("connection_header") // names a header that decides
	errTwiceHeader = Ambiguous("repeated_header")   // a deciding header sent twice
	errOddHeader   = Ambiguous("header_value")      // a deciding header with blanks around it, or a very long one
	errAliasHeader = Ambiguous("header_alias")      // names that PHP folds onto one
	errUpgrade     = Ambiguous("upgrade")           // to another protocol; a call is no web socket either
	errBody        = Ambiguous("body")              // an inspected body that does not parse
	errBrokenBody  = Ambiguous("body_read")         // the client went away or the framing is broken
	errTwoBodies   = Ambiguous("body_type")         // a form to one front-end, none to the other
	errID          = Ambiguous("id")                // anything but plain decimal digits
	errBatch       = Ambiguous("batch")             // a batch, or a part of it, that needs guessing
	errNestedBatch = Ambiguous("nested_batch")      // a part of a batch that is a batch
	errOutside     = &Refusal{Status: http.StatusNotFound, Code: CodeNoRoute, Reason: "outside_base"}
	errTooLarge    = &Refusal{Status: http.StatusRequestEntityTooLarge, Code: CodeTooLarge, Reason: "body_limit"}
	errTooMany     = &Refusal{Status: http.StatusRequestEntityTooLarge, Code: CodeTooLarge, Reason: "batch_limit"}
	errEncodedBody = &Refusal{Status: http.StatusUnsupportedMediaType, Code: CodeUnsupportedType, Reason: "content_encoding"}
	errTooEarly    = &Refusal{Status: http.StatusTooEarly, Code: CodeTooEarly, Reason: "early_data"}
	errNeverFits   = &Refusal{Status: http.StatusRequestEntityTooLarge, Code: CodeTooLarge, Reason: "spool_limit"}
)

// Ambiguous is the refusal of a request that has no certain meaning, for a reason that
// is one word of a closed set.
func Ambiguous(reason string) *Refusal {
	return &Refusal{Status: http.StatusBadRequest, Code: CodeAmbiguous, Reason: reason}
}

// noMemory refuses a body that found no memory in time.
func noMemory(cause error) *Refusal { return unavailable("memory", cause) }

// spoolFull refuses a body that finds its share of the disk used up.
func spoolFull(cause error) *Refusal { return unavailable("spool_limit", cause) }

const reasonDisk = "disk"

// diskFails refuses a body that the system cannot keep: its disk is full, or fails.
func diskFails(cause error) *Refusal { return unavailable(reasonDisk, cause) }

// DiskFails tells whether err is a refusal because of the gateway's own disk, which its operator
// must look at.
func DiskFails(err error) bool {
	refusal, ok := errors.AsType[*Refusal](err)
	return ok && refusal.Reason == reasonDisk
}

func unavailable(reason string, cause error) *Refusal {
	return &Refusal{Status: http.StatusServiceUnavailable, Code: CodeUnavailable, Reason: reason, Err: cause}
}

// Package platforms holds the names that each content platform uses on the wire.
//
// All that differs between the platforms is one row of a table, a [Platform]. [Marks] are the
// headers by which one marks its answers.
package platforms

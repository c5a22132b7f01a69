// Package confirming is for the calls that wait until a person confirms them: the page where a person
// decides, the notice that tells of a call, and what tells whether a confirmed call has run.
package confirming

// Package mcp reads messages of the Model Context Protocol, with which agents call the tools
// of a site. [Read] returns a [Message] only if every server of docs/platform IV takes the
// body for that message and no other. It refuses the rest: servers differ about duplicate
// keys, lists, params inside params, blanks around names and messages without an id.
package mcp

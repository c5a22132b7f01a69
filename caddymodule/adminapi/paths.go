package adminapi

import (
	"net/url"
	"strings"
)

// Path is what all paths begin with.
const Path = "/restwarden/"

// The paths below [Path]. The * stands for the name of a site, or the id of a confirmation.
const (
	SitesPath         = "sites"
	RefusalsPath      = "sites/*/refusals"
	ModePath          = "sites/*/mode"
	OpenPath          = "sites/*/open"
	ClosePath         = "sites/*/close"
	LockdownPath      = "lockdown"
	EventsPath        = "events"
	ConfirmationsPath = "confirmations"
	ConfirmationPath  = "confirmations/*"
)

// Named returns a path with a name in place of the *: one segment, in which a slash is written %2F.
func Named(path, name string) string { return strings.Replace(path, "*", url.PathEscape(name), 1) }

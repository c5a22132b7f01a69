// Package sitename tells which sites a command means.
package sitename

import "strings"

// Fits tells whether the name of a site fits a pattern, in which * stands for any text.
func Fits(pattern, name string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == name
	}
	name, begins := strings.CutPrefix(name, first)
	for i := 0; begins && i <= len(name); i++ {
		if Fits(rest, name[i:]) {
			return true
		}
	}
	return false
}

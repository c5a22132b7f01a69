package routing

import (
	"maps"
	"slices"
	"strings"
)

// variables are those that PHP and the platform read the call and the log-in from, beside HTTP_* of
// headers. A server sets those of env last, so that they win over what the request says.
var variables = []string{
	"REQUEST_URI", "REQUEST_METHOD", "QUERY_STRING", "PATH_INFO", "ORIG_PATH_INFO", "SCRIPT_NAME", "PHP_SELF", "CONTENT_TYPE", "CONTENT_LENGTH",
	"PHP_AUTH_USER", "PHP_AUTH_PW", "REDIRECT_HTTP_AUTHORIZATION",
}

// environment returns the changes that env of php_fastcgi and php_server makes.
func environment(env map[string]string) (found []alteration) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		header, isHeader := strings.CutPrefix(name, "HTTP_")
		switch {
		case name == "HTTP_AUTHORIZATION" && env[name] == itself: // see keeps
		case isHeader:
			found = append(found, alteration{what: "env " + name, header: header})
		case slices.Contains(variables, name):
			found = append(found, alteration{what: "env " + name})
		}
	}
	return found
}

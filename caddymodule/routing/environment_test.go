package routing

import (
	"encoding/json"
	"testing"
)

// TestEnvironment: php_fastcgi and php_server set variables in the same way.
func TestEnvironment(t *testing.T) {
	for _, s := range []step{
		{name: "php", raw: json.RawMessage(`{"root":"/srv","env":{"REQUEST_URI":"/x","QUERY":"a","HTTP_COOKIE":"b"}}`)},
		{name: "reverse_proxy", raw: json.RawMessage(`{"transport":{"protocol":"fastcgi","root":"/srv","env":{"REQUEST_URI":"/x","QUERY":"a","HTTP_COOKIE":"b"}}}`)},
	} {
		l := KindOf(s.name).leads(s)
		if !l.php || l.root != "/srv" || len(l.alters) != 2 || l.alters[0].what != "env HTTP_COOKIE" || l.alters[0].header != "COOKIE" || l.alters[1].what != "env REQUEST_URI" {
			t.Errorf("%s: %+v", s.name, l)
		}
	}
}

package routing

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// waysTests are Caddyfiles and their ways.
var waysTests = map[string]struct{ source, want string }{
	"sites": {`
		http://b.example.com, http://A.example.com:80 {
			probe 1
		}
		http://c.example.com {
			route /x/* {
				probe 2
			}
			handle_path /y/* {
				probe 3
			}
		}
		http:// {
			probe 4
		}`, "1 b.example.com,a.example.com\n3 c.example.com\n2 c.example.com\n4 any"},
	"wildcard and inner hosts": {`
		http://*.example.com {
			@one host one.example.com two.example.com
			handle @one {
				probe 1
			}
			@some {
				host three.example.com
				path /x
			}
			probe @some 2
			@not not host one.example.com
			handle @not {
				probe 3
			}
		}`, "2 three.example.com\n1 one.example.com,two.example.com\n3 *.example.com"},
	"named routes": {`
		&(shop) {
			route {
				probe 1
				invoke other
			}
		}
		&(other) {
			route {
				probe 2
				invoke shop
			}
		}
		http://one.example.com {
			invoke shop
		}
		http://two.example.com {
			invoke other
		}
		http://three.example.com {
			invoke shop
		}`, "1 three.example.com shop\n2 three.example.com other\n1 one.example.com shop\n2 one.example.com other\n" +
		"2 two.example.com other\n1 two.example.com shop"},
	"errors and answers": {`
		http://one.example.com {
			probe 1
			reverse_proxy 127.0.0.1:1 {
				@ok status 200
				handle_response @ok {
					probe 2
				}
			}
			handle_errors {
				probe 3
			}
		}
		http://two.example.com {
			forward_auth 127.0.0.1:1 {
				uri /x
			}
			intercept {
				handle_response {
					probe 4
				}
			}
		}`, "1 one.example.com\n2 one.example.com\n4 two.example.com\n3 one.example.com errors"},
}

// TestWays: the ways are the same whatever Caddy has loaded so far.
func TestWays(t *testing.T) {
	for name, tt := range waysTests {
		t.Run(name, func(t *testing.T) {
			eachTime(t, tt.source, func(when string, app *caddyhttp.App) {
				got := described(Ways(app, "probe"))
				if lines(got) != lines(tt.want) {
					t.Errorf("%s:\n%s\nwant:\n%s", when, got, tt.want)
				}
			})
		})
	}
}

func lines(s string) string { return strings.TrimSpace(s) }

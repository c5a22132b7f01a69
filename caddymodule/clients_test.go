package caddymodule

import (
	"fmt"
	"math/rand/v2"
)

// trustLoopback is the global option that lets a test say whom it calls for.
const trustLoopback = "\tservers {\n\t\ttrusted_proxies static 127.0.0.1/32\n\t}\n"

// aClient is a header that makes a request one of a client not seen before.
func aClient() string {
	n := rand.Uint32()
	return fmt.Sprintf("X-Forwarded-For: 10.%d.%d.%d", n>>16&0xff, n>>8&0xff, n&0xff)
}

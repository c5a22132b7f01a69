package gateway

import (
	"fmt"
	"sync/atomic"
)

var clients atomic.Uint32

// aClient returns a header that makes a request one of a new client; there are 16 million
// of them.
func aClient() string {
	n := clients.Add(1)
	return fmt.Sprintf("X-Forwarded-For: 10.%d.%d.%d", n>>16&0xff, n>>8&0xff, n&0xff)
}

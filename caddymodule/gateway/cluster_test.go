package gateway

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
)

func TestCluster_Site(t *testing.T) {
	nodes := redisrun.Cluster(t)
	// A busy machine may take longer than the default.
	g := startSharing(t, newPlatform(t), "redis "+strings.Join(redisrun.Addresses(nodes), " ")+" {\n\t\t\ttimeout 2s\n\t\t}")
	g.decides("a Cluster", true)
}

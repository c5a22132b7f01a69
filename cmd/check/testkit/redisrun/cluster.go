package redisrun

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
)

// masters is how many nodes Cluster starts.
const masters = 3

// Cluster runs a Cluster of three masters, each with a third of the slots, in
// their order.
func Cluster(tb testing.TB) []*Server {
	tb.Helper()
	ctx := tb.Context()
	nodes := make([]*Server, masters)
	firstBus := ""
	for i := range nodes {
		bus := machine.Port(machine.FreeAddress(tb))
		if i == 0 {
			firstBus = bus
		}
		nodes[i] = Start(tb, "--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", "1000",
			"--cluster-config-file", "nodes.conf", "--cluster-require-full-coverage", "no")
		admin := nodes[i].Admin()
		first, last := i*16384/masters, (i+1)*16384/masters-1
		if err := admin.ClusterAddSlotsRange(ctx, first, last).Err(); err != nil {
			tb.Fatal(err)
		}
		if err := admin.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
			tb.Fatal(err)
		}
		if err := admin.Do(ctx, "CLUSTER", "MEET", "127.0.0.1", machine.Port(nodes[0].Addr), firstBus).Err(); err != nil {
			tb.Fatal(err)
		}
	}
	wait.For(tb, 10*time.Second, "the cluster settles", func() bool { return settled(ctx, nodes) })
	return nodes
}

func settled(ctx context.Context, nodes []*Server) bool {
	for _, node := range nodes {
		info, err := node.Admin().ClusterInfo(ctx).Result()
		if err != nil || !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, "cluster_slots_assigned:16384") ||
			!strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d", len(nodes))) {
			return false
		}
	}
	return true
}

// Addresses are those of nodes.
func Addresses(nodes []*Server) (all []string) {
	for _, node := range nodes {
		all = append(all, node.Addr)
	}
	return all
}

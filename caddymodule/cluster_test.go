package caddymodule

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

func TestCluster_Site(t *testing.T) {
	nodes := startCluster(t)
	g := startSharing(t, newPlatform(t), "redis "+strings.Join(addresses(nodes), " "))
	g.decides("a Cluster", true)
}

// TestFailures_Cluster: slots move and a master is lost; only what that master
// held cannot be known.
func TestFailures_Cluster(t *testing.T) {
	nodes := startCluster(t)
	ctx := t.Context()
	s := openRedis(t, StoreOptions{Addresses: addresses(nodes)})
	keys := make([]string, 60)
	for i := range keys {
		keys[i] = fmt.Sprint("k", i)
		if err := s.Set(ctx, keys[i], "v", time.Hour); err != nil {
			t.Fatal(err)
		}
		if first, err := s.SetOnce(ctx, keys[i], time.Hour); !first || err != nil {
			t.Fatal(first, err)
		}
	}
	moveSlots(t, s, nodes, keys[:10])
	for _, key := range keys {
		if v, _, err := s.Get(ctx, key); v != "v" || err != nil {
			t.Errorf("%s after the move: %q, %v", key, v, err)
		}
		if first, err := s.SetOnce(ctx, key, time.Hour); first || err != nil {
			t.Errorf("%s after the move: first %v, %v", key, first, err)
		}
	}
	nodes[2].kill()
	known, lost := 0, 0
	for _, key := range keys {
		first, err := s.SetOnce(ctx, key, time.Hour)
		switch {
		case first:
			t.Errorf("%s: the first again", key)
		case err != nil:
			lost++
		default:
			known++
		}
	}
	if known == 0 || lost == 0 {
		t.Errorf("without one master %d are known, %d are not", known, lost)
	}
}

// moveSlots moves the slots of keys from their masters to another one, so that
// the client's map of them is wrong (MOVED).
func moveSlots(t *testing.T, s *redisStore, nodes []*redisServer, keys []string) {
	t.Helper()
	ctx := t.Context()
	ids := make([]string, len(nodes))
	for i, node := range nodes {
		ids[i] = node.admin().Do(ctx, "CLUSTER", "MYID").Val().(string)
	}
	target := nodes[0].admin()
	// What the others have said before must not win over what it says from here on.
	if err := target.Do(ctx, "CLUSTER", "BUMPEPOCH").Err(); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		for _, k := range []string{s.key(kindFact, key), s.key(kindOnce, key)} {
			slot := target.ClusterKeySlot(ctx, k).Val()
			owner := int(slot) * 3 / 16384
			if owner == 0 {
				continue
			}
			source := nodes[owner].admin()
			dump, err := source.Dump(ctx, k).Result()
			if err != nil {
				t.Fatal(err)
			}
			ttl := source.PTTL(ctx, k).Val()
			for _, node := range nodes { // the target first
				if err := node.admin().Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", ids[0]).Err(); err != nil && node != nodes[owner] {
					t.Fatal(err)
				}
			}
			if err := target.Restore(ctx, k, ttl, dump).Err(); err != nil {
				t.Fatal(err)
			}
			source.Del(ctx, k)
			source.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", ids[0])
		}
	}
}

// startCluster runs a Cluster of three masters.
func startCluster(t testing.TB) []*redisServer {
	t.Helper()
	ctx := context.Background()
	nodes := make([]*redisServer, 3)
	for i := range nodes {
		_, bus, _ := net.SplitHostPort(freeAddr(t))
		nodes[i] = startRedis(t, "--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", "1000",
			"--cluster-config-file", "nodes.conf", "--cluster-require-full-coverage", "no")
		first, last := i*16384/3, (i+1)*16384/3-1
		if err := nodes[i].admin().ClusterAddSlotsRange(ctx, first, last).Err(); err != nil {
			t.Fatal(err)
		}
		if err := nodes[i].admin().Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
			t.Fatal(err)
		}
		host, port, _ := net.SplitHostPort(nodes[0].addr)
		if err := nodes[i].admin().Do(ctx, "CLUSTER", "MEET", host, port, busOf(nodes[0])).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for range 500 {
		if settled(ctx, nodes) {
			return nodes
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("the cluster does not settle")
	return nil
}

func busOf(s *redisServer) string {
	for i, arg := range s.args {
		if arg == "--cluster-port" {
			return s.args[i+1]
		}
	}
	return ""
}

func settled(ctx context.Context, nodes []*redisServer) bool {
	for _, node := range nodes {
		info, err := node.admin().ClusterInfo(ctx).Result()
		if err != nil || !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, "cluster_slots_assigned:16384") ||
			!strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d", len(nodes))) {
			return false
		}
	}
	return true
}

func addresses(nodes []*redisServer) (all []string) {
	for _, node := range nodes {
		all = append(all, node.addr)
	}
	return all
}

package redisstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
)

// TestFailures_Cluster: slots move and a master is lost. Only the facts of that master
// are unknown.
func TestFailures_Cluster(t *testing.T) {
	nodes := redisrun.Cluster(t)
	ctx := t.Context()
	s := openRedis(t, Options{Addresses: redisrun.Addresses(nodes)})
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
	nodes[2].Kill()
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

// moveSlots moves the slots of keys from their masters to another master, so that the
// client's map of them is wrong (MOVED).
func moveSlots(t *testing.T, s *Store, nodes []*redisrun.Server, keys []string) {
	t.Helper()
	ctx := t.Context()
	ids := make([]string, len(nodes))
	for i, node := range nodes {
		ids[i] = node.Admin().Do(ctx, "CLUSTER", "MYID").Val().(string)
	}
	target := nodes[0].Admin()
	// Later messages of target must win over earlier ones of the other masters.
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
			source := nodes[owner].Admin()
			dump, err := source.Dump(ctx, k).Result()
			if err != nil {
				t.Fatal(err)
			}
			ttl := source.PTTL(ctx, k).Val()
			for _, node := range nodes { // the target first
				if err := node.Admin().Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", ids[0]).Err(); err != nil && node != nodes[owner] {
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

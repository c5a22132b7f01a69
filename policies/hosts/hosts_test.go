package hosts

import (
	"strconv"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	var table Table[int]
	if _, ok := table.Get("a.example"); ok {
		t.Error("something from nothing")
	}
	table.Put("shop.example", -1)
	for i := range 10_000 {
		host := strconv.Itoa(i) + ".example"
		table.Put(host, i)
		if v, ok := table.Get(host); !ok || v != i {
			t.Fatalf("%s: %d, %v", host, v, ok)
		}
		if v, ok := table.Get("shop.example"); !ok || v != -1 { // in use all the time
			t.Fatalf("after %d hosts: %d, %v", i, v, ok)
		}
	}
	n := 0
	table.Each(func(string, int) { n++ })
	if n > 2*Bound || n < Bound {
		t.Errorf("%d hosts are kept", n)
	}
	for i := 10_000 - Bound + 1; i < 10_000; i++ {
		if v, ok := table.Get(strconv.Itoa(i) + ".example"); !ok || v != i {
			t.Errorf("host %d: %d, %v", i, v, ok)
		}
	}
	if _, ok := table.Get("7.example"); ok {
		t.Error("a host that was used long ago is kept")
	}
	table.Put(strings.Repeat("x", 301), 1)
	if _, ok := table.Get(strings.Repeat("x", 301)); ok {
		t.Error("a host without a bound is kept")
	}
	if v := table.GetOrPut("9999.example", func() int { return 0 }); v != 9999 {
		t.Errorf("got %d", v)
	}
	if v := table.GetOrPut("new.example", func() int { return 5 }); v != 5 {
		t.Errorf("got %d", v)
	}
}

// sized is a value with a part of its own and one that all values share.
type sized struct{ own, shared int }

func (s *sized) Parts(f func(part any, bytes int)) {
	f(s, s.own)
	f("shared", s.shared)
}

// TestTable_Bytes: hosts that a client invents take no more than their share, however large
// what they show is, and push out no host in use.
func TestTable_Bytes(t *testing.T) {
	for name, test := range map[string]struct {
		value       sized
		least, most int
	}{
		"large values":    {sized{own: 1 << 20, shared: 1 << 20}, Bytes>>20 - 1, 2 * (Bytes>>20 - 1)},
		"too large":       {sized{own: 2 * Bytes}, 1, 2},
		"what they share": {sized{own: 100, shared: Bytes / 2}, Bound, 2 * Bound},
	} {
		t.Run(name, func(t *testing.T) {
			var table Table[*sized]
			used := test.value
			table.Put("shop.example", &used)
			for i := range 2 * Bound {
				value := test.value
				table.Put(strconv.Itoa(i)+".example", &value)
				if v, ok := table.Get("shop.example"); test.value.own < Bytes && (!ok || v != &used) {
					t.Fatalf("after %d hosts: %v, %v", i, v, ok)
				}
				if v, ok := table.Get(strconv.Itoa(i) + ".example"); !ok || v != &value {
					t.Fatalf("host %d: %v, %v", i, v, ok)
				}
			}
			hosts := map[string]bool{}
			table.Each(func(host string, _ *sized) { hosts[host] = true })
			if n := len(hosts); n < test.least || n > test.most+1 {
				t.Errorf("%d hosts are kept, want %d to %d", n, test.least, test.most)
			}
		})
	}
}

// TestTable_Replaced: a host whose value is replaced is kept once.
func TestTable_Replaced(t *testing.T) {
	var table Table[*sized]
	for range 100 {
		table.Put("shop.example", &sized{own: Bytes / 2})
		n := 0
		table.Each(func(string, *sized) { n++ })
		if n != 1 {
			t.Fatalf("it is kept %d times", n)
		}
	}
}

func TestFits(t *testing.T) {
	for _, test := range []struct {
		pattern, host string
		fits          bool
	}{
		{"shop.example", "SHOP.example", true},
		{"shop.example", "www.shop.example", false},
		{"*.example", "shop.example", true},
		{"*.example", "a.b.example", false},
		{"*.example", "example", false},
		{"a.*.example", "a.b.example", true},
	} {
		if Fits(test.pattern, test.host) != test.fits {
			t.Errorf("%s fits %s: %v", test.host, test.pattern, !test.fits)
		}
	}
}

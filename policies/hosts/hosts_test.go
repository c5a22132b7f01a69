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

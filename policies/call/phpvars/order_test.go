package phpvars

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// ordered are queries, and whether the order of their pairs matters to the variable a.
var ordered = map[string]bool{
	"": false, "a=1": false, "b=1&b=2&a=3": false, "a[0]=1&a[1]=2": false, "a[0][id]=1&a[0][status]=x&a[1][id]=2": false,
	"a=1&a=2": true, "a=1&+a=2": true, "a[0]=1&a[0]=2": true, "a[0]=1&%61%5b0%5d=2": true, "a=1&a[0]=2": true, "a[0]=1&a[0][b]=2": true,
	"a[]=1": true, "a[ ]=1": true, "a[0]x=1&a[0]=2": true, "a[0=1": true, "a[0][b=1": true, "a[0]%00=1": true, "a%00x=1&a=2": true, "a%00x[0]=1": true, "a[0[=1": true,
	"a[0]&a%00[1]": true, "a%00=1&b=2": false, "a[0][b][c]=1&b=2&a[0]=3": true, "a" + strings.Repeat("[0]", MaxDepth) + "=1": true,
}

func TestOrderMatters(t *testing.T) {
	for raw, want := range ordered {
		if got := OrderMatters(raw, "a"); got != want {
			t.Errorf("%q: %v", raw, got)
		}
	}
}

// FuzzOrderMatters: where it says no, sorted and reversed queries have the same variable.
func FuzzOrderMatters(f *testing.F) {
	for raw := range ordered {
		f.Add(raw, "a")
	}
	f.Add("rest_route=/a&b=1", "rest_route")
	f.Fuzz(func(t *testing.T, raw, name string) {
		if strings.ContainsAny(name, "[]. \x00") || Pairs(raw) > MaxPairs || OrderMatters(raw, name) {
			return
		}
		want := keyed(Query(raw), name)
		pairs := strings.Split(raw, "&")
		slices.Reverse(pairs)
		if got := keyed(Query(strings.Join(pairs, "&")), name); got != want {
			t.Errorf("reversed: %s, want %s", got, want)
		}
		slices.Sort(pairs)
		if got := keyed(Query(strings.Join(pairs, "&")), name); got != want {
			t.Errorf("sorted: %s, want %s", got, want)
		}
	})
}

// keyed writes a variable with its keys in alphabetical order.
func keyed(vars *Array, name string) string {
	v, _ := vars.Get(name)
	return sorted(v)
}

func sorted(v Value) string {
	array, ok := v.(*Array)
	if !ok {
		return fmt.Sprintf("%q", v)
	}
	var items []string
	for _, key := range array.Keys() {
		item, _ := array.Get(key)
		items = append(items, fmt.Sprintf("%q:%s", key, sorted(item)))
	}
	slices.Sort(items)
	return "{" + strings.Join(items, ",") + "}"
}

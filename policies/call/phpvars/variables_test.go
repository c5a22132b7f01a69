package phpvars

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// checkVariables fails unless variables that are asked for one by one are those of the whole
// reading, and unless what has fewer levels is the same down to there.
func checkVariables(t *testing.T, all *Array, vars Variables) {
	t.Helper()
	if names := vars.Names(); !slices.Equal(names, all.Keys()) {
		t.Fatalf("names %q, want %q", names, all.Keys())
	}
	for _, name := range append(slices.Clone(all.Keys()[:min(8, all.Len())]), "rest_route", "id", "a", "a_b", "0") {
		want, set := all.Get(name)
		if made, most := arrays(want), vars.Brackets(name); made > most {
			t.Fatalf("%q has %d arrays and %d brackets", name, made, most)
		}
		for levels := range 5 {
			got, isSet := vars.Get(name, levels)
			if isSet != set || dump(got) != dump(upTo(want, levels)) {
				t.Fatalf("%q with %d levels: %s %v, want %s %v", name, levels, dump(got), isSet, dump(upTo(want, levels)), set)
			}
		}
	}
}

// upTo returns a value with so many levels, the variables' own included; 0 is all.
func upTo(v Value, levels int) Value {
	a, ok := v.(*Array)
	if !ok || levels == 0 {
		return v
	}
	cut := new(Array)
	if levels > 1 {
		for _, key := range a.Keys() {
			member, _ := a.Get(key)
			cut.set(key, upTo(member, levels-1))
		}
	}
	return cut
}

// arrays counts the arrays of a value.
func arrays(v Value) (n int) {
	a, ok := v.(*Array)
	if !ok {
		return 0
	}
	for _, key := range a.Keys() {
		member, _ := a.Get(key)
		n += arrays(member)
	}
	return n + 1
}

func checkAllVariables(t *testing.T, raw string) {
	t.Helper()
	checkVariables(t, Query(raw), OfQuery(raw))
	checkVariables(t, Form(raw), OfForm(raw))
	checkVariables(t, RawForm(raw), OfRawForm(raw))
}

func TestVariables(t *testing.T) {
	deep := strings.Repeat("[x]", 70)
	for _, raw := range append(seeds,
		"a[]=1&a[]=2&a[5]=3&a[]=4", "a=1&a[x][y]=2", "a[x]=2&a=1", "a[x][y]=2&a[x]=1&a[x][]=7", "a[x]=1&a[__Host-x]=2", "a[9223372036854775807]=1&a[][b]=2&id=3",
		"a=1&a"+deep+"=2", "a[x]=1&b=2&a"+deep+"&a[y]", "a[b[c=1&a_b_c[]=2", strings.Repeat("f=&", 1000)+"id=1", "id=1\x00&id=2",
	) {
		checkAllVariables(t, raw)
	}
}

// TestArray: what an array holds does not depend on how many keys it has.
func TestArray(t *testing.T) {
	var raw strings.Builder
	for i := range 40 {
		fmt.Fprintf(&raw, "k%d=%d&", i, i)
		a := Query(raw.String())
		a.remove("k3")
		a.set("k5", "five")
		for j := range 40 {
			want := fmt.Sprint(j)
			if j == 5 {
				want = "five"
			}
			got, set := a.Get(fmt.Sprintf("k%d", j))
			if gone := j > i && j != 5 || j == 3; set == gone || set && got != want {
				t.Fatalf("of %d keys k%d is %v, %v", i+1, j, got, set)
			}
		}
	}
}

// TestVariables_Bytes: brackets of variables that nobody asks for take nothing, and those of
// one that is asked for only what its levels hold.
func TestVariables_Bytes(t *testing.T) {
	for _, name := range []string{"a%d", "id", "id[x%d]"} {
		var raw strings.Builder
		for i := range 999 {
			pair := name
			if strings.Contains(name, "%d") {
				pair = fmt.Sprintf(name, i)
			}
			raw.WriteString(pair + strings.Repeat("[]", 60) + "&")
		}
		vars := OfForm(raw.String())
		if n := testing.AllocsPerRun(10, func() { vars.Get("id", 1) }); n > 10 {
			t.Errorf("%s: %.0f allocations to see what id is", name, n)
		}
		if n := testing.AllocsPerRun(10, func() { vars.Brackets("id") }); n > 0 {
			t.Errorf("%s: %.0f allocations to count the brackets of id", name, n)
		}
		if n := testing.AllocsPerRun(10, func() { vars.Get("id", 2) }); n > 2100 {
			t.Errorf("%s: %.0f allocations for the keys of id", name, n)
		}
	}
}

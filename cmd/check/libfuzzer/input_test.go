package libfuzzer

import (
	"math"
	"reflect"
	"testing"
)

// TestDecode: what encode writes comes back, and any bytes are some input.
func TestDecode(t *testing.T) {
	t.Parallel()
	for _, values := range [][]any{
		{"GET", "/", true, []byte("body")},
		{[]byte{}},
		{"only"},
		{"", ""},
		{false, int8(-3), int(math.MinInt), uint32(math.MaxUint32), int16(-1), byte(200), 'x'},
		{float32(1.5), math.Inf(-1), "text", int64(-1)},
	} {
		var types []reflect.Type
		for _, v := range values {
			types = append(types, reflect.TypeOf(v))
		}
		data := encode(values)
		if got := decode(data, types); !reflect.DeepEqual(got, values) {
			t.Errorf("%#v is %#v", values, got)
		}
		for n := range data {
			if got := decode(data[:n], types); len(got) != len(types) {
				t.Errorf("%q gives %#v", data[:n], got)
			}
		}
	}
	if got, want := corpusFile([]any{"a\x00", []byte("b"), true, 3}), "go test fuzz v1\nstring(\"a\\x00\")\n[]byte(\"b\")\nbool(true)\nint(3)\n"; got != want {
		t.Errorf("got %s", got)
	}
}

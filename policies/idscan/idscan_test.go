package idscan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// scan writes all of text, in pieces of size.
func scan(shape Shape, most int, text string, size int) ([]uint64, error) {
	s := New(shape, most)
	var failed error
	for piece := range slices.Chunk([]byte(text), size) {
		if _, err := s.Write(piece); err != nil {
			failed = err
		}
	}
	return s.IDs(), failed
}

// order is a record as the shop writes it, with ids of other things in many places.
func order(id int) string {
	return fmt.Sprintf(`{"id":%d,"parent_id":0,"number":"%[1]d","customer_id":7,"customer_note":"{\"id\":21} \"id\":21, [{\"id\":21}]",`+
		`"billing":{"id":21,"first_name":"id"},"meta_data":[{"id":21,"key":"id","value":{"id":21}}],`+
		`"line_items":[{"id":21,"product_id":21,"taxes":[{"id":21}],"price":-1.5e-3}],"refunds":[{"id":21}],`+
		`"set":true,"unset":false,"none":null,"_embedded":{"up":[{"id":21}]},"_links":{"self":[{"href":"http:\/\/shop\/21"}]}}`, id)
}

func TestScanner_IDs(t *testing.T) {
	for name, test := range map[string]struct {
		shape Shape
		text  string
		want  []uint64
	}{
		"a list":                {List, "[" + order(7) + "," + order(8) + "]", []uint64{7, 8}},
		"an empty list":         {List, " [ ] ", nil},
		"ids alone":             {List, `[{"id":7},{"id":8}]`, []uint64{7, 8}},
		"white space":           {List, "\t[ { \"id\" :\r\n 7 } ,\n{\"id\":8 }] \n", []uint64{7, 8}},
		"the last member":       {List, `[{"a":[{"id":1}],"id":7}]`, []uint64{7}},
		"no id":                 {List, `[{"a":1},{"id":8}]`, []uint64{8}},
		"twice in the list":     {List, `[{"id":7},{"id":7}]`, []uint64{7}},
		"twice in a record":     {List, `[{"id":7,"id":7},{"id":8}]`, []uint64{8}},
		"a string":              {List, `[{"id":"7"},{"id":8}]`, []uint64{8}},
		"no whole number":       {List, `[{"id":7.0},{"id":7e0},{"id":8},{"id":7.5}]`, []uint64{8}},
		"no positive number":    {List, `[{"id":0},{"id":-7},{"id":-0},{"id":8}]`, []uint64{8}},
		"the largest":           {List, `[{"id":9007199254740992},{"id":9007199254740993},{"id":18446744073709551623}]`, []uint64{MaxID}},
		"many digits":           {List, `[{"id":` + strings.Repeat("9", 400) + `},{"id":8}]`, []uint64{8}},
		"no number":             {List, `[{"id":null},{"id":true},{"id":{"id":7}},{"id":[7]},{"id":8}]`, []uint64{8}},
		"a container, a number": {List, `[{"id":[],"x":7},{"id":{},"x":7},{"id":8,"x":[7]}]`, []uint64{8}},
		"other cases":           {List, `[{"ID":7},{"Id":7},{"id ":7},{" id":7},{"id_":7},{"i":7},{"":7}]`, nil},
		"escaped":               {List, `[{"\u0069d":7},{"id\u0041":7},{"i\u0064":7,"id":7},{"a\/b":1,"id":7},{"id":8}]`, []uint64{8}},
		"an error in a list":    {List, `[{"id":7,"error":1}]`, []uint64{7}},
		"bytes of no text":      {List, "[{\"\xff\":\"\xff\",\"id\":7}]", []uint64{7}},

		"an object":          {Object, order(7), []uint64{7}},
		"an object, twice":   {Object, `{"id":7,"a":{"id":8},"id":9}`, nil},
		"a list, no object":  {Object, "[" + order(7) + "]", nil},
		"an object, no list": {List, order(7), nil},

		"a batch":              {Created, `{"update":[` + order(1) + `],"create":[` + order(7) + `,{"id":0,"error":{"code":"x"}},` + order(8) + `],"delete":[{"id":2}]}`, []uint64{7, 8}},
		"a batch, no creation": {Created, `{"update":[{"id":1}],"x":{"create":[{"id":2}]}}`, nil},
		"a batch, an error":    {Created, `{"create":[{"error":null,"id":7},{"id":8},{"id":9,"error":{}}]}`, []uint64{8}},
		"a batch, twice":       {Created, `{"create":[{"id":7}],"create":[{"id":8}]}`, nil},
		"a batch, escaped":     {Created, `{"create":[{"id":7}],"\u0063reate":[{"id":8}]}`, nil},
		"a batch, no array":    {Created, `{"create":{"0":{"id":7}}}`, nil},
		"a batch, a number":    {Created, `{"create":7}`, nil},
		"a batch, deeper":      {Created, `{"create":[[{"id":7}]]}`, nil},
		"a batch, a list":      {Created, `[{"create":[{"id":7}]}]`, nil},

		"an element that is none": {List, `[{"id":7},8]`, nil},
		"a nested list":           {List, `[[{"id":7}]]`, nil},
		"an error object":         {List, `{"code":"x","data":[{"id":7}]}`, nil},
		"a string, no list":       {List, `"[{\"id\":7}]"`, nil},
		"broken off":              {List, `[{"id":7},{"id":8}`, nil},
		"broken off in a string":  {List, `[{"id":7},{"a":"`, nil},
		"nothing":                 {List, ``, nil},
		"two lists":               {List, `[{"id":7}][{"id":8}]`, nil},
		"a warning before":        {List, `<br />[{"id":7}]`, nil},
		"a warning behind":        {List, `[{"id":7}]<br />`, nil},
		"a byte order mark":       {List, "\ufeff" + `[{"id":7}]`, nil},
		"a comma too many":        {List, `[{"id":7},]`, nil},
		"a comma in an object":    {List, `[{"id":7,}]`, nil},
		"no colon":                {List, `[{"id" 7}]`, nil},
		"no quotes":               {List, `[{id:7}]`, nil},
		"brackets that differ":    {List, `[{"id":7]}`, nil},
		"a leading zero":          {List, `[{"id":07}]`, nil},
		"a plus":                  {List, `[{"id":+7}]`, nil},
		"a bare point":            {List, `[{"id":7.}]`, nil},
		"a bare e":                {List, `[{"id":7e}]`, nil},
		"a bare sign":             {List, `[{"id":7e-}]`, nil},
		"a bare minus":            {List, `[{"id":7,"a":-}]`, nil},
		"a word":                  {List, `[{"id":7,"a":nil}]`, nil},
		"a control byte":          {List, "[{\"id\":7,\"a\":\"\n\"}]", nil},
		"an unknown escape":       {List, `[{"id":7,"a":"\x"}]`, nil},
		"too few hex digits":      {List, `[{"id":7,"a":"\u12G4"}]`, nil},
		"a comment":               {List, `[{"id":7}/**/]`, nil},
		"another white space":     {List, "[{\"id\":7}\u00a0]", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for size := 1; size <= len(test.text)+1; size++ {
				if got, _ := scan(test.shape, 100, test.text, size); !slices.Equal(got, test.want) {
					t.Fatalf("in pieces of %d: got %v, want %v", size, got, test.want)
				}
			}
		})
	}
}

func TestScanner_Bounds(t *testing.T) {
	many := func(n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(`{"id":7},`, n), ",") + "]"
	}
	deep := func(n int) string {
		return `[{"id":7,"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}]"
	}
	long := func(n int) string {
		text := `[{"id":7,"a":"`
		return text + strings.Repeat("x", n-len(text)-3) + `"}]`
	}
	for name, test := range map[string]struct {
		text string
		ok   bool
	}{
		"many":     {many(100), true},
		"too many": {many(101), false},
		"deep":     {deep(MaxDepth - 2), true},
		"too deep": {deep(MaxDepth - 1), false},
		"long":     {long(MaxBytes), true},
		"too long": {long(MaxBytes + 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := scan(List, 100, test.text, 32<<10)
			if (len(got) == 1) != test.ok || (err == nil) != test.ok {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// TestScanner_NoMore: an answer of another shape is given up early, so that nothing decodes it.
func TestScanner_NoMore(t *testing.T) {
	s := New(List, 100)
	if _, err := s.Write([]byte(`{"code":"`)); !errors.Is(err, ErrNotScanned) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Write([]byte(`x"}`)); !errors.Is(err, ErrNotScanned) || s.IDs() != nil {
		t.Errorf("got %v", err)
	}
}

// page is a list of 100 orders of about 3 KB each, as a shop sends it.
func page() string {
	item := `{"id":%d,"name":"T-shirt \u2013 blue, \"L\"","product_id":93,"variation_id":0,"quantity":2,"tax_class":"","subtotal":"6.00",` +
		`"taxes":[{"id":75,"total":"0.45","subtotal":"0.45"}],"meta_data":[{"id":2095,"key":"pa_color","value":"black","display_key":"Color"}],"sku":"Bar3","price":3}`
	var orders []string
	for i := range 100 {
		items := make([]string, 6)
		for j := range items {
			items[j] = fmt.Sprintf(item, 1000+i*10+j)
		}
		orders = append(orders, strings.TrimSuffix(order(100+i), "}")+`,"lines":[`+strings.Join(items, ",")+`],"note":"`+strings.Repeat("Please ring twice. ", 40)+`"}`)
	}
	return "[" + strings.Join(orders, ",") + "]"
}

func BenchmarkScanner_Page(b *testing.B) {
	text := []byte(page())
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s := New(List, 100)
		for piece := range slices.Chunk(text, 32<<10) {
			if _, err := s.Write(piece); err != nil {
				b.Fatal(err)
			}
		}
		if len(s.IDs()) != 100 {
			b.Fatal(len(s.IDs()))
		}
	}
}

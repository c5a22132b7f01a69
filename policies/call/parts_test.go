package call

import (
	"fmt"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call/budget"
)

// cartBatches are batches of n parts, as JSON and as a form.
func cartBatches(n int) map[string]string {
	var json, form []string
	for i := range n {
		json = append(json, fmt.Sprintf(`{"path":"/wc/store/v1/cart/add-item","body":{"id":%d}}`, i))
		form = append(form, fmt.Sprintf("requests[%d][path]=/wc/store/v1/cart/add-item&requests[%[1]d][body][id]=%[1]d", i))
	}
	return map[string]string{jsonType: `{"requests":[` + strings.Join(json, ",") + "]}", formType: strings.Join(form, "&")}
}

// TestParts_Crowded: whatever others hold, a batch of a few parts is read. Beginnings of bodies take
// nothing from a large one, and other batches take no more than the share of parts.
func TestParts_Crowded(t *testing.T) {
	stranger := budget.Holder{Site: "a", Client: netip.AddrFrom4([4]byte{10, 1, 0, 1})}
	for name, test := range map[string]struct {
		full  func(*budget.Memory) *budget.Shares
		large Kind
	}{
		"beginnings":    {func(m *budget.Memory) *budget.Shares { return m.Chunks }, Batch},
		"other batches": {func(m *budget.Memory) *budget.Shares { return m.Parts }, Refused},
	} {
		memory := budget.NewMemory(1 << 20)
		rd := NewReader(Config{Platform: wordpress(), Limits: Limits{Memory: memory}})
		shares := test.full(memory)
		for i := range 2 {
			h := budget.Holder{Site: "a", Client: netip.AddrFrom4([4]byte{10, 1, 0, byte(i)})}
			if err := shares.Try(h, shares.Of(h)); err != nil {
				t.Fatal(err)
			}
		}
		if shares.Try(stranger, 1) == nil {
			t.Fatal(name, "leave room for others of the site")
		}
		for n, want := range map[int]Kind{3: Batch, 25: test.large} {
			for contentType, body := range cartBatches(n) {
				before := memory.Bytes()
				c := rd.ReadFrom(budget.Holder{Site: "a", Client: someone}, request("POST", "/wp-json/wc/store/v1/batch", contentType, body), nil)
				c.Open()
				if c.Kind != want || want == Refused && (c.Refusal.Status != http.StatusServiceUnavailable || c.Refusal.Reason != "memory") {
					t.Errorf("%s hold all, %d parts in %s: %s", name, n, contentType, describe(c))
				}
				c.Settle()
				if c.Close(); memory.Bytes() != before {
					t.Errorf("%s: %d bytes of %d parts are never given back", name, memory.Bytes()-before, n)
				}
			}
		}
	}
}

// TestParts_Counted: the parts of a batch are counted from the first chunk on, for all of the batch,
// and what is left of them while it is answered.
func TestParts_Counted(t *testing.T) {
	for contentType, body := range cartBatches(25) {
		memory := budget.NewMemory(16 << 20)
		rd := NewReader(Config{Platform: wordpress(), Limits: Limits{Memory: memory}})
		c := rd.ReadFrom(budget.Holder{Client: someone}, request("POST", "/wp-json/wc/store/v1/batch?_embed", contentType, body), nil)
		c.Open()
		if least := 25*costOfPart - chunkSize; memory.Parts.Used() < least {
			t.Errorf("%s: %d bytes are counted of %d", contentType, memory.Parts.Used(), least)
		}
		for range 2 {
			c.Settle()
			each := costOfSettled + int64(len("/wc/store/v1/cart/add-item"))
			if got := memory.Parts.Used(); got != 25*each-chunkSize {
				t.Errorf("%s: %d bytes are counted of the settled parts, each of %d", contentType, got, each)
			}
		}
		if c.Close(); memory.Bytes() != 0 {
			t.Errorf("%s: %d bytes are never given back", contentType, memory.Bytes())
		}
	}
}

// TestParts_Nested: what nests where an item to delete has its id is not built.
func TestParts_Nested(t *testing.T) {
	const size = 1<<20 - 100
	for _, unit := range []string{`{"":0},`, `[],`, `"",`} {
		list := `[` + strings.TrimSuffix(strings.Repeat(unit, size/len(unit)), ",") + `]`
		for _, item := range []string{list, `{"id":` + list + `}`} {
			r := request("POST", "/wp-json/wc/v3/products/batch", jsonType, `{"delete":[`+item+`]}`)
			c := readerFor("root").ReadFrom(budget.Holder{Client: someone}, r, nil)
			if _, _, err := c.Scalar("delete"); err != nil { // the body is read
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c.Open()
			runtime.ReadMemStats(&after)
			if c.Kind != Refused || c.Refusal != errBatch {
				t.Errorf("%.20s: %s, %v", item, c.Kind, c.Refusal)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 2*size {
				t.Errorf("%.20s: %d bytes for %d", item, n, len(item))
			}
			c.Close()
		}
	}
}

package call

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/restwarden/restwarden/policies/call/budget"
)

// TestMemory_OfBodies: a body gives back all that it took, and goes on byte for byte,
// whether there was memory for it or not.
func TestMemory_OfBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // some wait in vain
		for _, size := range []int{0, 1, 4095, 4096, 4097, 60_000, 65_536, 65_537, 300_000} {
			for _, limit := range []int64{0, 8 << 10, 128 << 20} {
				memory := budget.NewMemory(limit)
				rd := NewReader(Config{Platform: wordpress(), Limits: Limits{Memory: memory}})
				body := strings.Repeat("a", size)
				for _, length := range []int64{int64(size), -1} {
					r := request("POST", "/", formType, body)
					r.Body, r.ContentLength = io.NopCloser(&pieces{body, 1000}), length
					if length < 0 && size == 0 {
						continue
					}
					c := rd.ReadFrom(budget.Holder{Client: someone}, r, nil)
					if _, err := c.RawBody(); err != nil && 8*int64(size) <= limit {
						t.Errorf("%d bytes of %d: %v", size, limit, err)
					}
					c.Settle()
					got, err := io.ReadAll(r.Body)
					if err != nil || string(got) != body {
						t.Errorf("%d bytes arrive of %d, %v", len(got), size, err)
					}
					c.Close()
					c.Close()
					if memory.Bytes() != 0 {
						t.Errorf("%d bytes of a body of %d are never given back", memory.Bytes(), size)
					}
				}
			}
		}
	})
}

// TestMemory_OnePiece: a body in one piece is counted beside the chunks that it was sent in,
// whoever asks for it first, and so is what is read out of it.
func TestMemory_OnePiece(t *testing.T) {
	for name, tc := range map[string]struct {
		contentType, body string
		least             int64 // for each byte of the body
	}{
		"JSON":        {jsonType, `{"a":"` + strings.Repeat("x", 60_000) + `"}`, 1},
		"form":        {formType, "a=%41" + strings.Repeat("x", 60_000), budget.CostOfForm},
		"other types": {"text/plain", strings.Repeat("x", 60_000), 1},
	} {
		memory := budget.NewMemory(128 << 20)
		rd := NewReader(Config{Platform: wordpress(), Limits: Limits{Memory: memory}})
		for first := range 2 {
			c := rd.ReadFrom(budget.Holder{Client: someone}, request("POST", "/wp-json/wp/v2/posts", tc.contentType, tc.body), nil)
			if first == 0 {
				if _, err := c.RawBody(); err != nil {
					t.Error(name, err)
				}
			}
			if _, _, err := c.Param("a"); err != nil {
				t.Error(name, err)
			}
			size := int64(len(tc.body))
			if _, err := c.RawBody(); err != nil || memory.Bytes() < size-chunkSize+tc.least*size {
				t.Errorf("%s: of %d bytes, %d are counted, %v", name, size, memory.Bytes(), err)
			}
			c.Settle()
			if memory.Bytes() > size {
				t.Errorf("%s: of %d bytes, %d are counted once it is sent on", name, size, memory.Bytes())
			}
			c.Close()
			if memory.Bytes() != 0 {
				t.Errorf("%s: %d bytes are never given back", name, memory.Bytes())
			}
		}
	}
}

// TestMemory_Full: a body that finds no memory in time has no certain reading.
func TestMemory_Full(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := budget.NewMemory(4 << 20)
		rd := NewReader(Config{Platform: wordpress(), Limits: Limits{Memory: memory}})
		body := "rest_route=/a&x=" + strings.Repeat("y", 400_000)
		first := rd.ReadFrom(budget.Holder{}, request("POST", "/", formType, body), nil)
		if first.Kind != Single {
			t.Fatal(describe(first))
		}
		second := rd.ReadFrom(budget.Holder{}, request("POST", "/", formType, body), nil)
		if second.Kind != Refused || second.Refusal.Status != http.StatusServiceUnavailable {
			t.Error(describe(second))
		}
		second.Close()
		first.Settle()
		if third := rd.ReadFrom(budget.Holder{}, request("POST", "/", formType, body), nil); third.Kind != Single {
			t.Error(describe(third))
		}
		if v, set, err := first.Param("x"); err == nil || set {
			t.Error("asked again, there is no memory for it:", set, err, v)
		}
	})
}

// TestMemory_Largest: the largest body that is read in one piece fits into one client's
// share, also while half-sent ones take all that they can.
func TestMemory_Largest(t *testing.T) {
	memory := budget.NewMemory(16 << 20)
	rd := NewReader(Config{Platform: wordpress(), Limits: Limits{Memory: memory, Body: 1 << 20}})
	var others []*Call
	for range 200 {
		r := request("POST", "/", formType, strings.Repeat("x", 60_000))
		others = append(others, rd.ReadFrom(budget.Holder{Client: someone}, r, nil))
	}
	body := "rest_route=/a&x=%41" + strings.Repeat("y", 1<<20-19)
	c := rd.ReadFrom(budget.Holder{Client: someone}, request("POST", "/", formType, body), nil)
	if c.Kind != Single {
		t.Error(describe(c))
	}
	if v, set, err := c.Param("x"); err != nil || !set || len(v.(string)) != 1<<20-18 {
		t.Error(set, err)
	}
	for _, other := range append(others, c) {
		other.Close()
	}
	if memory.Bytes() != 0 {
		t.Errorf("%d bytes are never given back", memory.Bytes())
	}
}

// TestMemory_SmallLimit: an upload is read where bodies that are inspected are small.
func TestMemory_SmallLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rd := NewReader(Config{Platform: wordpress(), Limits: Limits{Body: 1 << 10}})
		body := "--B\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--B\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\n" + strings.Repeat("x", 9<<20) + "\r\n--B--\r\n"
		c := rd.ReadFrom(budget.Holder{Client: someone}, request("POST", "/wp-json/wp/v2/media", "multipart/form-data; boundary=B", body), nil)
		defer c.Close()
		if _, _, err := c.Param("b"); err != nil {
			t.Error(err)
		}
	})
}

// TestBatch_Opened: a batch is unread until it is opened.
func TestBatch_Opened(t *testing.T) {
	r := request("POST", "/wp-json/batch/v1", jsonType, "")
	r.Body, r.ContentLength = io.NopCloser(unreadable{t}), 100
	c := readerFor("root").ReadFrom(budget.Holder{}, r, nil)
	if c.Kind != Batch || c.Parts != nil {
		t.Error(describe(c))
	}
	c.Close()
	c = readerFor("root").ReadFrom(budget.Holder{}, request("POST", "/wp-json/batch/v1", jsonType, `{"requests":[{"path":"/a"},7]}`), nil)
	if c.Open(); c.Kind != Refused {
		t.Error(describe(c))
	}
}

type unreadable struct{ t *testing.T }

// Read implements io.Reader.
func (u unreadable) Read([]byte) (int, error) {
	u.t.Error("the body is read")
	return 0, io.ErrUnexpectedEOF
}

package call

import (
	"bufio"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"os"
	"strconv"
	"testing"
)

// recording is one recorded request, with what each front-end and release of
// the platform made of it.
type recording struct {
	ID       string    `json:"id"` // family/hash
	Site     string    `json:"site"`
	Request  []byte    `json:"-"`
	Outcomes []outcome `json:"outcomes"`
}

type outcome struct {
	By     []string        `json:"by"` // front-ends
	Route  *string         `json:"route"`
	Raw    string          `json:"route_b64"` // of routes that are not UTF-8
	Method string          `json:"method"`
	Match  string          `json:"match"` // first pattern that fits; "" where no route exists
	Ran    bool            `json:"ran"`   // a handler ran
	Object json.RawMessage `json:"object"`
	Parts  []struct {
		Route  string          `json:"route"`
		Method string          `json:"method"`
		Match  string          `json:"match"`
		Object json.RawMessage `json:"object"`
	} `json:"parts"`
}

func recordings(tb testing.TB) []recording {
	tb.Helper()
	f, err := os.Open("testdata/recorded.jsonl.gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	var all []recording
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var line struct {
			recording
			Request string `json:"request"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			tb.Fatal(err)
		}
		r := line.recording
		if r.Request, err = base64.StdEncoding.DecodeString(line.Request); err != nil {
			tb.Fatal(err)
		}
		for i, o := range r.Outcomes {
			if b, err := base64.StdEncoding.DecodeString(o.Raw); err == nil && o.Raw != "" {
				route := string(b)
				r.Outcomes[i].Route = &route
			}
		}
		all = append(all, r)
	}
	if err := lines.Err(); err != nil || len(all) < 10_000 {
		tb.Fatalf("%d recordings, %v", len(all), err)
	}
	return all
}

func readerFor(site string) *Reader {
	p, _ := PlatformByName("wordpress")
	s := Site{Platform: p}
	if site == "subfolder" {
		s.Base = "/blog"
	}
	s.Scripts = true // they were there
	return NewReader(s)
}

var orderParts = []Pattern{
	MustPattern("/wc/v1/orders/:order_id/**"), MustPattern("/wc/v2/orders/:order_id/**"), MustPattern("/wc/v3/orders/:order_id/**"),
}

// orderOf returns the effective id of a call on an order or subscription, and on
// an order's sub-routes the effective id of the order.
func orderOf(c *Call) (string, bool, error) {
	if id, ok, err := c.ObjectID(); ok || err != nil {
		return id, ok, err
	}
	for _, p := range orderParts {
		if p.Match(c.Key) && digits(p.Group(c.Key, "order_id")) {
			id, err := c.ID("order_id", p.Group(c.Key, "order_id"))
			return strconv.FormatUint(id, 10), true, err
		}
	}
	return "", false, nil
}

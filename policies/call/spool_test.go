package call

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/restwarden/restwarden/policies/call/budget"
)

// Clients who send bodies.
var someone, someoneElse = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")

// TestSpool_NeverFits: a body that is larger than its holder's share is refused unread where
// it announces so, and as soon as it is known where it does not.
func TestSpool_NeverFits(t *testing.T) {
	rd := NewReader(Config{Platform: wordpress(), Limits: Limits{Spool: budget.NewSpool(t.TempDir(), 8<<20)}})
	for name, c := range map[string]struct {
		budget.Holder
		size int64
		want string
	}{
		"a client's":        {budget.Holder{Site: "a", Client: someone}, 1<<20 + inMemory, "page"},
		"above":             {budget.Holder{Site: "a", Client: someone}, 1<<20 + inMemory + 1, "413 spool_limit"},
		"nobody's":          {budget.Holder{Site: "a"}, 2<<20 + inMemory, "page"},
		"above, nobody's":   {budget.Holder{Site: "a"}, 2<<20 + inMemory + 1, "413 spool_limit"},
		"large, body_limit": {budget.Holder{Site: "a"}, 9 << 20, "413 body_limit"},
	} {
		for _, announced := range []bool{true, false} {
			body := strings.NewReader(strings.Repeat("x", int(c.size)))
			r := post("/page", formType, body)
			if announced {
				r.ContentLength = c.size
			}
			got := rd.ReadFrom(c.Holder, r, nil)
			if announced && c.want == "413 spool_limit" && body.Len() != int(c.size) {
				t.Errorf("%s: it is read", name)
			}
			want := c.want
			if !announced && want == "413 body_limit" {
				want = "413 spool_limit"
			}
			if describe(got) != want {
				t.Errorf("%s, announced %v: %s, want %s", name, announced, describe(got), want)
			}
			got.Close()
		}
	}
}

// TestSpoolFor: the largest upload fits into a client's share of the default, and a limit
// beyond all numbers is one.
func TestSpoolFor(t *testing.T) {
	if s := budget.NewSpool("", budget.SpoolFor(DefaultUploadLimit)); s.Shares.Of(budget.Holder{Client: someone}) != DefaultUploadLimit || s.Shares.Of(budget.Holder{}) != 2*DefaultUploadLimit {
		t.Error("not the largest upload")
	}
	if budget.SpoolFor(1<<62) <= 0 {
		t.Error(budget.SpoolFor(1 << 62))
	}
}

// TestBody_ReadTwice: a second reading of a request shares what the first has loaded, and
// the last one to close removes it.
func TestBody_ReadTwice(t *testing.T) {
	rd, spool, _ := limited(t, 1<<30)
	size := 300_000
	r := post("/page", formType, iotest.HalfReader(strings.NewReader("a="+strings.Repeat("x", size-2))))
	first := rd.Read(r, nil)
	held := spool.Bytes()
	r.Body = unwrapped{r.Body}
	second := rd.Read(r, nil)
	if spool.Bytes() != held || held == 0 {
		t.Errorf("%d bytes on disk after one reading, %d after two", held, spool.Bytes())
	}
	first.Close()
	first.Close()
	if got, err := io.ReadAll(r.Body); len(got) != size || err != nil {
		t.Errorf("%d bytes go on, %v", len(got), err)
	}
	second.Close()
	if spool.Bytes() != 0 {
		t.Errorf("%d bytes are left", spool.Bytes())
	}
	r.Body = http.NoBody
	late := rd.Read(post("/page", formType, first.src.body), nil)
	late.Close() // what is gone is not shared
	if late.src.body == first.src.body {
		t.Error("a discarded body is shared")
	}
}

type unwrapped struct{ io.ReadCloser }

// Unwrap returns the wrapped body.
func (u unwrapped) Unwrap() io.ReadCloser { return u.ReadCloser }

// slowly sends n bytes and then nothing until it is closed.
type slowly struct {
	left int
	sent chan struct{} // closed when n bytes have been read
	end  chan struct{}
}

// Read implements io.Reader.
func (s *slowly) Read(p []byte) (int, error) {
	if s.left == 0 {
		close(s.sent)
		<-s.end
		return 0, io.ErrUnexpectedEOF
	}
	n := min(len(p), s.left)
	s.left -= n
	return n, nil
}

// TestSpool_Shares: two clients who fill the share of a site leave room on disk for other
// sites and other clients, and each refusal says whose share is used up.
func TestSpool_Shares(t *testing.T) {
	const limit = 8 << 20 // a client: 1 MiB
	rd := NewReader(Config{Platform: wordpress(), Limits: Limits{Upload: 1 << 20, Spool: budget.NewSpool(t.TempDir(), limit)}})
	var group sync.WaitGroup
	end := make(chan struct{})
	for _, client := range []netip.Addr{someone, someoneElse} {
		s := &slowly{1 << 20, make(chan struct{}), end}
		r := post("/page", partType, s)
		group.Go(func() { rd.ReadFrom(budget.Holder{Site: "a", Client: client}, r, nil).Close() })
		<-s.sent
	}
	form := "a=" + strings.Repeat("x", 300_000)
	for name, c := range map[string]struct {
		budget.Holder
		refused string
	}{
		"another site":       {budget.Holder{Site: "b", Client: netip.MustParseAddr("192.0.2.3")}, ""},
		"another client":     {budget.Holder{Site: "a", Client: netip.MustParseAddr("192.0.2.3")}, "site"}, // the two have filled it
		"the same client":    {budget.Holder{Site: "b", Client: someone}, "client"},
		"a proxy's, b":       {budget.Holder{Site: "b"}, ""},
		"the site's default": {budget.Holder{Site: ""}, ""},
	} {
		got := rd.ReadFrom(c.Holder, post("/page", formType, strings.NewReader(form)), nil)
		var full budget.FullError
		if got.Refusal != nil {
			_ = errors.As(got.Refusal, &full)
		}
		if string(full) != c.refused || (got.Kind == Refused) != (c.refused != "") {
			t.Errorf("%s: %s, %q", name, describe(got), full)
		}
		got.Close()
	}
	close(end)
	group.Wait()
	if n := rd.site.Limits.Spool.Bytes(); n != 0 {
		t.Errorf("%d bytes are never given back", n)
	}
}

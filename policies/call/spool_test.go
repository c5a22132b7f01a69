package call

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
)

// TestSpool_NeverFits: a body that is larger than its holder's share is refused unread where
// it announces so, and as soon as it is known where it does not.
func TestSpool_NeverFits(t *testing.T) {
	rd := NewReader(Site{Platform: wordpress(), Limits: Limits{Spool: NewSpool(t.TempDir(), 8<<20)}})
	for name, c := range map[string]struct {
		Holder
		size int64
		want string
	}{
		"a client's":        {Holder{"a", someone}, 1<<20 + inMemory, "page"},
		"above":             {Holder{"a", someone}, 1<<20 + inMemory + 1, "413 spool_limit"},
		"nobody's":          {Holder{Site: "a"}, 2<<20 + inMemory, "page"},
		"above, nobody's":   {Holder{Site: "a"}, 2<<20 + inMemory + 1, "413 spool_limit"},
		"large, body_limit": {Holder{Site: "a"}, 9 << 20, "413 body_limit"},
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
	if s := NewSpool("", SpoolFor(DefaultUploadLimit)); s.shares.Of(Holder{Client: someone}) != DefaultUploadLimit || s.shares.Of(Holder{}) != 2*DefaultUploadLimit {
		t.Error("not the largest upload")
	}
	if SpoolFor(1<<62) <= 0 {
		t.Error(SpoolFor(1 << 62))
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

// TestCheckSpool: a directory in which no file can be made is an error that names it; one
// without enough room is a finding.
func TestCheckSpool(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		filepath.Join(dir, "missing"): fs.ErrNotExist, file: syscall.ENOTDIR, dir: nil,
	} {
		_, err := CheckSpool(path, 1)
		if !errors.Is(err, want) || want != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "restwarden-*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

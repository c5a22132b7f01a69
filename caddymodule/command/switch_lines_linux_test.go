package command_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/restwarden/restwarden/caddymodule/command"
)

// typing returns a terminal at which somebody types a line.
func typing(t *testing.T, line string) *os.File {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keyboard.Close() })
	fd := int(keyboard.Fd())
	number, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	if _, err := io.WriteString(keyboard, line+"\n"); err != nil {
		t.Fatal(err)
	}
	return screen
}

// TestSwitches_Asks: on a terminal an open is a question, and so is any switch of several sites. Without one each open needs --yes, and
// observe at several sites.
func TestSwitches_Asks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args, typed, asks string
		sites, status     int // that were switched
	}{
		{"open --site a.example --for 1h POST /a/b", "y", "open POST /a/b for 1h at a.example? [y/N] ", 1, 0},
		{"open --site a.example --for 1h POST /a/b", "", "open POST /a/b for 1h at a.example? [y/N] ", 0, 1},
		{"open --site a.example --for 1h POST /a/b", "no", "[y/N] ", 0, 1},
		{"open --site * --for 1h POST /a/b", "YES", "at 7 sites (a.example, b1.example, b2.example, b3.example, b4.example and 2 more)? ", 7, 0},
		{"open --site * --for 1h --yes POST /a/b", "", "", 7, 0},
		{"open --site a.example --for 0s POST /a/b", "", "", 1, 0},
		{"close --site a.example POST /a/b", "", "", 1, 0},
		{"close --site a.example --site b1.example POST /a/b", "y", "close POST /a/b at 2 sites (a.example, b1.example)? [y/N] ", 2, 0},
		{"close --site b* POST /a/b", "n", "at 6 sites ", 0, 1},
		{"close --site b* POST /a/b", "nobody", "", 6, 0},
		{"open --site b1.example --for 1h POST /a/b", "nobody", "", 0, 2},
		{"observe a.example --for 1h", "", "", 1, 0},
		{"observe --site a.example --for 1h", "", "", 1, 0},
		{"observe --site b1.example --tag eu --for 1h", "y", "observe for 1h at 2 sites (b1.example, b6.example)? [y/N] ", 2, 0},
		{"observe --tag eu --site a.example --for 1h", "n", "[y/N] ", 0, 1},
		{"observe --site * --for 1h", "nobody", "", 0, 2},
		{"observe --site * --for 1h --yes", "nobody", "", 7, 0},
		{"observe --site * --for 0s", "nobody", "", 7, 0},
		{"observe --site * --for 0s", "n", "take back observe at 7 sites (", 0, 1},
		{"lockdown --for 1h --hard", "y", "hard lockdown of all sites for 1h at 7 sites (a.example, ", 1, 0},
		{"lockdown --for 1h", "n", "lockdown of all sites for 1h at 7 sites (a.example, ", 0, 1},
		{"lockdown --for 0s", "n", "take back lockdown of all sites at 7 sites (a.example, ", 0, 1},
		{"lockdown a.example --for 1h", "", "", 0, 2},
		{"lockdown --for 1h --yes", "", "", 1, 0},
		{"lockdown --for 1h", "nobody", "", 1, 0},
		{"lockdown --site b* --for 1h", "nobody", "", 6, 0},
		{"lockdown --site b* --for 1h", "y", "lockdown for 1h at 6 sites (b1.example, ", 6, 0},
		{"lockdown --tag eu --for 1h", "", "", 1, 0},
		{"lockdown --tag us --for 1h", "", "", 0, 2},
		{"lockdown --site= --for 1h", "nobody", "", 0, 2},
		{"observe a.example --site b1.example --for 1h", "", "", 0, 2},
	} {
		switched := 0
		admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				switched++
				_, _ = io.WriteString(w, `{"site":"x","line":"POST /a/b","on":true,"gateways":"all"}`)
				return
			}
			_, _ = io.WriteString(w, `{"v":1,"sites":[{"site":"a.example"},{"site":"a.example","listen":[":1"]}`)
			for i := range 5 {
				_, _ = fmt.Fprintf(w, `,{"site":"b%d.example"}`, i+1)
			}
			_, _ = io.WriteString(w, `,{"site":"b6.example","tags":["eu"]}]}`)
		}))
		var in io.Reader = strings.NewReader("y\n")
		if test.typed != "nobody" {
			in = typing(t, test.typed)
		}
		_, problems, status := command.Run(in, append(strings.Fields(test.args), "--address", strings.TrimPrefix(admin.URL, "http://"))...)
		admin.Close()
		if status != test.status || switched != test.sites || !strings.Contains(problems, test.asks) || (test.asks == "") == strings.Contains(problems, "[y/N]") {
			t.Errorf("%s, %q: %d, %d sites, %s", test.args, test.typed, status, switched, problems)
		}
	}
}

// TestSwitches_Some: what cannot be switched at one site is at the others; a line that is to be taken back need not be on at each.
func TestSwitches_Some(t *testing.T) {
	t.Parallel()
	const unkept = `{"site":"x","line":"/a/b","gateways":"all","error":"a restart undoes this"}`
	for _, test := range []struct {
		args     string
		statuses map[string]int
		want     int
		switched int
	}{
		{"open --site * --for 1h --yes /a/b", map[string]int{"b": 409}, 1, 2},
		{"open --site * --for 1h --yes /a/b", map[string]int{"b": 400}, 2, 1},
		{"open --site * --for 1h --yes /a/b", map[string]int{"b": 500}, 1, 1},
		{"close --site * --for 0h /a/b", map[string]int{"a": 404, "c": 404}, 0, 1},
		{"close --site * --for 0s /a/b", map[string]int{"a": 404, "b": 404, "c": 404}, 2, 0},
		{"close --site * /a/b", map[string]int{"b": 404}, 2, 2},
		{"close --site b --for 0s /a/b", map[string]int{"b": 404}, 2, 0},
		{"observe --site * --for 1h --yes", map[string]int{"a": 404}, 2, 2},
		{"observe --site * --for 1h --yes", map[string]int{"b": 500}, 1, 1},
		{"close --site * /a/b", map[string]int{"b": 200}, 1, 3},
	} {
		switched := 0
		admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				_, _ = io.WriteString(w, `{"v":1,"sites":[{"site":"a"},{"site":"b"},{"site":"c"}]}`)
				return
			}
			status := test.statuses[strings.Split(r.URL.Path, "/")[3]]
			if status == 200 {
				switched++
				_, _ = io.WriteString(w, unkept)
				return
			}
			if status != 0 {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, `{"error":"it passes nobody"}`)
				return
			}
			switched++
			_, _ = io.WriteString(w, `{"site":"x","line":"/a/b","gateways":"all"}`)
		}))
		_, _, status := command.Run(nil, append(strings.Fields(test.args), "--address", strings.TrimPrefix(admin.URL, "http://"))...)
		admin.Close()
		if status != test.want || switched != test.switched {
			t.Errorf("%s: %d, %d switched", test.args, status, switched)
		}
	}
}

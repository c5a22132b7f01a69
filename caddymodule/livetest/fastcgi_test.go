package livetest

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Record types of FastCGI 1.0.
const (
	fcgiEnd    = 3
	fcgiParams = 4
	fcgiStdin  = 5
	fcgiStdout = 6
)

// newFastCGI starts a FastCGI responder.
func newFastCGI(tb testing.TB) *backend { return listen(tb, (*backend).serveFastCGI) }

// php is the directive that serves a site's front controller.
func (b *backend) php(root, base string) string {
	return fmt.Sprintf("\tphp_fastcgi %s {\n\t\troot %s\n\t\ttry_files {path} {path}/index.php %s/index.php\n\t}\n", b.address, root, base)
}

// scripts makes a web root with the platform's entry points in it and under blog/.
func scripts(tb testing.TB) string {
	tb.Helper()
	root := tb.TempDir()
	for _, dir := range []string{"", "blog"} {
		for _, name := range []string{
			"index.php", "wp-login.php", "wp-trackback.php", "wp-signup.php", "wp-activate.php", "wp-blog-header.php",
			"xmlrpc.php", "readme.txt", "wp-cron.php", "wp-admin/index.php", "wp-admin/edit.php", "wp-admin/admin-ajax.php", "wp-admin/async-upload.php",
		} {
			path := filepath.Join(root, dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				tb.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("<?php\n"), 0o600); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return root
}

func (b *backend) serveFastCGI(conn net.Conn) {
	r := bufio.NewReader(conn)
	a := &arrival{params: map[string]string{}, header: map[string][]string{}, body: digestOf(nil)}
	var params []byte
	for !a.whole {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			break
		}
		content := make([]byte, binary.BigEndian.Uint16(head[4:]))
		if _, err := io.ReadFull(r, content); err != nil {
			break
		}
		if _, err := r.Discard(int(head[6])); err != nil {
			break
		}
		switch head[1] {
		case fcgiParams:
			if params = append(params, content...); len(content) == 0 {
				a.setParams(params)
			}
		case fcgiStdin:
			_, _ = a.body.Write(content)
			a.whole = len(content) == 0
		}
	}
	// PHP reads CONTENT_LENGTH bytes and takes less for an aborted upload.
	if a.length != "" && a.length != "0" {
		a.whole = a.whole && a.length == strconv.FormatInt(a.body.size, 10)
	}
	b.note(a)
	if !a.whole {
		return
	}
	status, body := b.answer(a)
	writeRecord(conn, fcgiStdout, "Status: "+status+"\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n"+body)
	writeRecord(conn, fcgiStdout, "")
	writeRecord(conn, fcgiEnd, "\x00\x00\x00\x00\x00\x00\x00\x00")
}

func writeRecord(w io.Writer, kind byte, content string) {
	head := []byte{1, kind, 0, 1, byte(len(content) >> 8), byte(len(content)), 0, 0}
	_, _ = w.Write(append(head, content...))
}

// setParams reads the name-value pairs of FastCGI.
func (a *arrival) setParams(b []byte) {
	length := func() int {
		if len(b) > 0 && b[0] < 0x80 {
			n := int(b[0])
			b = b[1:]
			return n
		}
		if len(b) < 4 {
			b = nil
			return 0
		}
		n := int(binary.BigEndian.Uint32(b) &^ (1 << 31))
		b = b[4:]
		return n
	}
	for len(b) > 0 {
		n, v := length(), length()
		if n+v > len(b) {
			break
		}
		a.params[string(b[:n])] = string(b[n : n+v])
		b = b[n+v:]
	}
	p := a.params
	a.method, a.target, a.query, a.length = p["REQUEST_METHOD"], p["REQUEST_URI"], p["QUERY_STRING"], p["CONTENT_LENGTH"]
	for name, value := range p {
		if rest, ok := strings.CutPrefix(name, "HTTP_"); ok {
			a.header[http.CanonicalHeaderKey(strings.ReplaceAll(rest, "_", "-"))] = []string{value}
		}
	}
	if t := p["CONTENT_TYPE"]; t != "" {
		a.header["Content-Type"] = []string{t}
	}
}

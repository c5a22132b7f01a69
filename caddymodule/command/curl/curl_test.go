package curl_test

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/command/curl"
)

// lines are lines of curl: flags, then the path behind the server's address.
var lines = [][]string{
	{"/a/../b/./c?x=/../y#frag"},
	{"/a/.."},
	{"/a/."},
	{"/../a//b/../c"},
	{"/%2e%2e/b"},
	{"/é"},
	{""},
	{"?x=1"},
	{"--path-as-is", "/a/../b"},
	{`/?a\[\]=1&b\{c\}=2`},
	{"-g", `/?a[]=1`},
	{"-d", "a=1", "--data-raw", "@b", "--data-binary", "c", "--data-urlencode", "n=ä b&", "--data-urlencode", "x y", "--data-urlencode", "=z=1~", "/"},
	{"-d", "a=1", "--data-urlencode", "", "/"},
	{"-d", "", "-d", "b=1", "/"},
	{"-d", "@FILE", "/"},
	{"--data-ascii", "@FILE", "/"},
	{"--data-binary", "@BINARY", "/"},
	{"--data-urlencode", "n@BINARY", "/"},
	{"--data-urlencode", "@FILE", "/"},
	{"--json", `{"a":1}`, "--json", "{}", "/"},
	{"--json", "{}", "-H", "Content-Type: text/x", "-H", "accept: text/y", "/"},
	{"-F", "a=b", "-F", "f=@BINARY", "-F", `g=@FILE;type=text/x;filename=q"x.png`, "-F", "h=<BINARY", "-F", "i=v;type=text/html", "--form-string", "j=@x;type=1", "/"},
	{"-F", `a="x;y";type=text/plain`, "-F", `b=c;filename="d\"e"`, "/"},
	{"-G", "-d", "a=1", "-d", "b=2", "/x?y=1"},
	{"-G", "-d", "a=1", "/x"},
	{"-G", "-d", "a", "-I", "/x"},
	{"-d", "x", "-G", "-X", "POST", "/"},
	{"-u", "me:pa:ss", "-A", "agent", "-e", "http://r/;auto", "-b", "a=1", "-b", "b=2; c=3", "--compressed", "/"},
	{"-u", "me:pw", "-H", "Authorization: x", "/"},
	{"--oauth2-bearer", "token", "/"},
	{"-H", "Host: shop.example", "-H", "Accept:", "-H", "X-Empty;", "-H", "User-Agent:", "-H", "No-Colon", "-H", "X-Two:  v", "/"},
	{"-A", "", "/"},
	{"-H", "cookie: a=1", "-b", "b=2", "/"},
	{"-H", "Content-Type: application/json", "-d", "{}", "/"},
	{"-H", "Content-Type:", "-d", "{}", "/"},
	{"-I", "/"},
	{"-X", "put", "-d", "", "/"},
	{"-X", "GET", "-d", "x", "/"},
	{"-X", "DELETE", "/"},
	{"-sSkiLf", "-4", "--http1.1", "--insecure", "/"},
}

// wrong are lines that curl refuses to send.
var wrong = [][]string{
	{"-I", "-d", "x", "/"}, {"-F", "a=b", "-d", "x", "/"}, {"/a b"}, {"-F", "nothing", "/"}, {"-d", "@missing", "/"},
}

// TestLikeCurl compares what the package says with what the curl of this machine sends.
func TestLikeCurl(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, binary := filepath.Join(dir, "f.txt"), filepath.Join(dir, "b.bin")
	for name, text := range map[string]string{file: "a=1\r\nb\xffc\n", binary: "a=1\r\nb\x00\xffc\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files := strings.NewReplacer("FILE", file, "BINARY", binary)
	for _, line := range lines {
		words := make([]string, len(line))
		for i, word := range line {
			words[i] = files.Replace(word)
		}
		sent, address := sentByCurl(t, words)
		got, err := read(append(slices.Clone(words[:len(words)-1]), address+words[len(words)-1]))
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		if said := written(got, address); said != sent {
			t.Errorf("%q:\n%q, curl sends\n%q", line, said, sent)
		}
	}
}

func TestWrong(t *testing.T) {
	t.Parallel()
	for _, line := range append(wrong, []string{"-b", "jar", "/"}) {
		line = append(slices.Clone(line[:len(line)-1]), "http://a"+line[len(line)-1])
		if got, err := read(line); err == nil {
			t.Errorf("%q: %q", line, got)
		}
	}
}

// TestURL: a URL without a scheme is https, and a user in it logs in.
func TestURL(t *testing.T) {
	t.Parallel()
	got, err := read([]string{"me:p%40ss@shop.example/x"})
	if err != nil || got.URL != "https://shop.example/x" || !slices.Contains(got.Header, "Authorization: Basic bWU6cEBzcw==") {
		t.Errorf("%q, %v", got, err)
	}
	for _, text := range []string{"", "ftp://a/", "http://", "http:///x"} {
		if got, err := read([]string{text}); err == nil {
			t.Errorf("%q: %q", text, got.URL)
		}
	}
}

// FuzzURL: whatever the URL, the request is one line of a request.
func FuzzURL(f *testing.F) {
	for _, line := range lines {
		f.Add("http://a"+line[len(line)-1], "x")
	}
	f.Fuzz(func(t *testing.T, url, data string) {
		l := curl.Line{}
		cmd := &cobra.Command{}
		l.AddFlags(cmd)
		if err := cmd.ParseFlags([]string{"--get", "--data-urlencode", "=" + data}); err != nil {
			t.Fatal(err)
		}
		r, err := l.Request(url)
		if err == nil && (strings.ContainsAny(r.URL, "\r\n\x00 ") || !strings.HasPrefix(r.URL, "http")) {
			t.Errorf("%q: %q", url, r.URL)
		}
	})
}

// read reads a line whose last word is the URL.
func read(line []string) (curl.Request, error) {
	l := curl.Line{Input: strings.NewReader("")}
	cmd := &cobra.Command{}
	l.AddFlags(cmd)
	if err := cmd.ParseFlags(line); err != nil {
		return curl.Request{}, err
	}
	return l.Request(cmd.Flags().Arg(0))
}

// written is a request in one text: first line, headers in order of their names, body.
func written(r curl.Request, address string) string {
	return text(r.Method, strings.TrimPrefix(r.URL, address), r.Header, string(r.Body))
}

func text(method, target string, header []string, body string) string {
	const boundary = "boundary=------------------------"
	header = slices.Clone(header)
	for i, line := range header {
		name, value, _ := strings.Cut(line, ":")
		if name == "User-Agent" && strings.HasPrefix(value, " curl/") {
			value = " curl"
		}
		if before, random, ok := strings.Cut(value, boundary); ok {
			value, body = before, strings.ReplaceAll(body, random, "BOUNDARY")
		}
		header[i] = name + ":" + value
	}
	slices.Sort(header)
	return method + " " + target + "\n" + strings.Join(header, "\n") + "\n\n" + body
}

// sentByCurl runs curl against a server that takes one request. It returns the request
// without what depends on the connection, and the address of the server.
func sentByCurl(t *testing.T, words []string) (request, address string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	address = "http://" + listener.Addr().String()
	got := make(chan string, 1)
	go func() { got <- receive(listener) }()
	words = slices.Clone(words)
	words[len(words)-1] = address + words[len(words)-1]
	out, err := exec.CommandContext(t.Context(), "curl", append([]string{"--max-time", "20", "--output", os.DevNull}, words...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", words, err, out)
	}
	return <-got, address
}

func receive(listener net.Listener) string {
	conn, err := listener.Accept()
	if err != nil {
		return err.Error()
	}
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	first, _ := in.ReadString('\n')
	var header []string
	length := 0
	for {
		line, err := in.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line == "" || err != nil {
			break
		}
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case name == "Content-Length":
			length, _ = strconv.Atoi(value)
		case name == "Host" && strings.HasPrefix(value, "127.0.0.1:"):
		default:
			header = append(header, line)
		}
	}
	body := make([]byte, length)
	_, _ = io.ReadFull(in, body)
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	method, rest, _ := strings.Cut(first, " ")
	target, _, _ := strings.Cut(rest, " HTTP/")
	return text(method, target, header, string(body))
}

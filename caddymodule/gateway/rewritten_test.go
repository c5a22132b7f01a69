package gateway

import (
	"io"
	"net/http"
	"net/http/fcgi"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// phpServer answers FastCGI as PHP does: with a 404 of its own for a script that is not
// there, and as the platform for index.php.
type phpServer struct {
	*platform
	root string
	php  string // the transport, with the variable QUERY, since net/http/fcgi hides QUERY_STRING

	mu    sync.Mutex
	asked []string // "REQUEST_URI SCRIPT_NAME QUERY_STRING" of the questions, the discovery's as well
}

func newPHPServer(t *testing.T) *phpServer {
	t.Helper()
	s := &phpServer{platform: newPlatform(t), root: t.TempDir()}
	for _, dir := range []string{"", "blog"} {
		if err := os.MkdirAll(filepath.Join(s.root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.root, dir, "index.php"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := machine.Listener(t)
	s.php = l.Addr().String() + " {\n\t\ttransport fastcgi {\n\t\t\troot " + s.root + "\n\t\t\tsplit .php\n\t\t\tenv QUERY {query}\n\t\t}\n\t}\n"
	go func() { _ = fcgi.Serve(l, http.HandlerFunc(s.serve)) }() // ends with the listener
	return s
}

func (s *phpServer) serve(w http.ResponseWriter, r *http.Request) {
	env := fcgi.ProcessEnv(r)
	query, script := env["QUERY"], strings.TrimPrefix(env["SCRIPT_FILENAME"], s.root)
	if isQuestion(r) {
		s.mu.Lock()
		s.asked = append(s.asked, strings.TrimSpace(r.URL.RequestURI()+" "+script+" "+query))
		s.mu.Unlock()
	}
	if info, err := os.Stat(env["SCRIPT_FILENAME"]); err != nil || info.IsDir() {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "File not found.\n")
		return
	}
	r.RequestURI = r.URL.RequestURI()
	r.URL.Path = strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/two"), "/blog")
	r.URL.RawQuery = query // the platform reads the path from REQUEST_URI and variables from QUERY_STRING
	s.ServeHTTP(w, r)
}

// freshText is what makes the address of a question one of its own.
var freshText = regexp.MustCompile(`&restwarden=[A-Z2-7]{26}`)

// questions returns the questions, without that text.
func (s *phpServer) questions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := slices.Clone(s.asked)
	for i := range asked {
		asked[i] = freshText.ReplaceAllString(asked[i], "")
	}
	return asked
}

// TestRewritten: behind a rewrite to the front controller and a bare FastCGI proxy, a
// question arrives as a client's request for its address would.
func TestRewritten(t *testing.T) {
	const guard = "restwarden cms {\n\t\tlogin_only\n\t}\n"
	const blog = "restwarden cms {\n\t\tbase /blog\n\t\tlogin_only\n\t}\n"
	const php = "\treverse_proxy PHP"
	const pretty = "/cms-json/cms/v2/users/me?context=edit /index.php context=edit"
	const alone = "/cms-json/cms/v2/users/me" // a page in place of the answer is asked for in an envelope
	const query = "rest_route=%2Fcms%2Fv2%2Fusers%2Fme&context=edit"
	for name, test := range map[string]struct {
		site, call, asked string // asked is "" if the call is refused before a question
		status            int
	}{
		"try_files":                            {"\ttry_files {path} /index.php\n\t" + guard + php, "/cms-json/cms/v2/posts", pretty, 200},
		"try_files with the query":             {"\ttry_files {path} {path}/ /index.php?{query}\n\t" + guard + php, "/cms-json/cms/v2/posts?a=b", pretty, 200},
		"try_files with another variable":      {"\ttry_files {path} {path}/ /index.php?{query}&p={path}\n\t" + guard + php, "/cms-json/cms/v2/posts", pretty, 200},
		"try_files in a route":                 {"\troute {\n\ttry_files {path} /index.php\n\t" + guard + php + "\t}\n", "/cms-json/cms/v2/posts", pretty, 200},
		"only scripts go to PHP":               {"\ttry_files {path} /index.php\n\t" + guard + "\t@php path *.php\n" + strings.Replace(php, "reverse_proxy", "reverse_proxy @php", 1) + "\tfile_server\n", "/cms-json/cms/v2/posts", pretty, 200},
		"rewrite":                              {"\trewrite * /index.php?{query}\n\t" + guard + php, "/cms-json/cms/v2/posts", pretty, 200},
		"php_fastcgi behind":                   {"\ttry_files {path} {path}/ /index.php?{query}\n\t" + guard + "\tphp_fastcgi ADDRESS {\n\t\tenv QUERY {query}\n\t}\n", "/cms-json/cms/v2/posts", pretty, 200},
		"query form":                           {"\ttry_files {path} {path}/index.php /index.php\n\t" + guard + php, "/?rest_route=/cms/v2/posts", "/?" + query + " /index.php " + query, 200},
		"query form of the script":             {"\ttry_files {path} /index.php\n\t" + guard + php, "/index.php?rest_route=/cms/v2/posts", "/index.php?" + query + " /index.php " + query, 200},
		"query form of another site":           {"\ttry_files {path} /index.php\n\t" + guard + php, "/two/?rest_route=/cms/v2/posts", "/two/?" + query + " /index.php " + query, 200},
		"another site":                         {"\ttry_files {path} /index.php\n\t" + guard + php, "/two/cms-json/cms/v2/posts", "/two" + pretty, 200},
		"sub-folder":                           {"\ttry_files {path} /blog/index.php\n\t" + blog + php, "/blog/cms-json/cms/v2/posts", "/blog/cms-json/cms/v2/users/me?context=edit /blog/index.php context=edit", 200},
		"sub-folder in the query form":         {"\ttry_files {path} {path}/index.php /blog/index.php\n\t" + blog + php, "/blog/?rest_route=/cms/v2/posts", "/blog/?" + query + " /blog/index.php " + query, 200},
		"sub-folder, another front page":       {"\ttry_files {path} /index.php\n\t" + blog + php, "/blog/cms-json/cms/v2/posts", "", 400},
		"handle_path, then try_files":          {"\thandle_path /blog/* {\n\ttry_files {path} /index.php\n\t" + guard + php + "\t}\n", "/blog/cms-json/cms/v2/posts", "/blog" + pretty, 200},
		"strip_prefix":                         {"\turi strip_prefix /blog\n\t" + blog + "\tphp_fastcgi ADDRESS {\n\t\tenv QUERY {query}\n\t}\n", "/blog/cms-json/cms/v2/posts", "/blog" + pretty, 200},
		"rest_route made of the path":          {"\t@rest path_regexp rest ^/cms-json(?:/(.*))?$\n\trewrite @rest /index.php?rest_route=/{re.rest.1}&{query}\n\t" + guard + php, "/cms-json/cms/v2/posts", "/cms-json/cms/v2/users/me?context=edit /index.php " + query, 200},
		"rest_route made of the whole path":    {"\ttry_files {path} /index.php?rest_route={path}\n\t" + guard + php, "/cms-json/cms/v2/posts", "", 400},
		"index permalinks":                     {"\ttry_files {path} /index.php\n\t" + guard + php, "/index.php/cms-json/cms/v2/posts", "", 400},
		"a slash too many":                     {"\turi strip_suffix /\n\ttry_files {path} /index.php\n\t" + guard + php, "/cms-json/cms/v2/posts/", pretty, 200},
		"no rewrite before, but a file server": {"\t" + guard + "\t@php path *.php\n" + strings.Replace(php, "reverse_proxy", "reverse_proxy @php", 1) + "\tfile_server\n", "/cms-json/cms/v2/posts", "", 404},
		"no rewrite before, no script there":   {"\t" + guard + php, "/cms-json/cms/v2/posts", alone + "?context=edit " + alone + " context=edit\n" + alone + "?context=edit&_envelope=1 " + alone + " context=edit&_envelope=1\n/?" + query + "&_envelope=1  " + query + "&_envelope=1", 404},
	} {
		t.Run(name, func(t *testing.T) {
			s := newPHPServer(t)
			replaced := strings.NewReplacer("PHP", s.php, "ADDRESS", strings.Fields(s.php)[0]).Replace(test.site)
			g := startGateway(t, "\troot "+s.root+"\n"+replaced)
			g.do("GET "+test.call, "", asAdmin).want(t, test.status, "")
			var asked []string
			for _, q := range s.questions() {
				if strings.Contains(q, "users") {
					asked = append(asked, q)
				}
			}
			if got := strings.Join(asked, "\n"); got != test.asked {
				t.Errorf("asked %q, want %q", got, test.asked)
			}
		})
	}
}

// TestRewritten_Discovery: the REST root is found, by the query form.
func TestRewritten_Discovery(t *testing.T) {
	s := newPHPServer(t)
	g := startGateway(t, "\troot "+s.root+"\n\ttry_files {path} /index.php\n\trestwarden cms\n\t@php path *.php\n\treverse_proxy @php "+s.php+"\tfile_server\n")
	g.do("GET /cms-json/cms/v2/posts", "").want(t, 200, "")
	const found = "/index.php?rest_route=%2F /index.php rest_route=%2F"
	eventually(t, "the REST root is read", func() bool { return slices.Contains(s.questions(), found) })
	if strings.Contains(g.logged(), "does not fit the site") {
		t.Error(g.logged())
	}
}

// TestRewritten_Sites: who is calling is found out for each site of a network by itself,
// although the rewrite leads both to one script.
func TestRewritten_Sites(t *testing.T) {
	s := newPHPServer(t)
	s.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.RequestURI, "/two/") || !strings.Contains(r.RequestURI, "users") {
			return false
		}
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"code":"rest_not_logged_in"}`)
		return true
	})
	g := startGateway(t, "\troot "+s.root+"\n\ttry_files {path} /index.php\n\trestwarden cms {\n\t\tallow role administrator /secret/v1/**\n\t}\n\treverse_proxy "+s.php)
	for _, form := range []string{"cms-json/secret/v1/x", "index.php?rest_route=/secret/v1/x", "a-page?rest_route=/secret/v1/x"} {
		g.do("GET /"+form, "", asAdmin).want(t, 200, "")
		g.do("GET /two/"+form, "", asAdmin).want(t, 403, "rest_forbidden")
	}
}

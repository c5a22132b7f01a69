package site

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// maxBody is PHP's post_max_size: a longer body is not read.
const maxBody = 8 << 20

// input is what PHP makes of a request before any code of the platform runs.
type input struct {
	get, post *phpvars.Array // $_GET and $_POST
	body      []byte         // php://input; empty for a multipart POST
	mediaType string
}

// readInput reads query and body by the rules of docs/platform I.1.5. The
// error is one of the connection.
func readInput(r *http.Request) (*input, error) {
	// The web server joins a repeated header.
	in := &input{get: phpvars.Query(r.URL.RawQuery), mediaType: strings.Join(r.Header.Values("Content-Type"), ", ")}
	if r.Body == nil {
		return in, nil
	}
	urlencoded, multipart := phpvars.FormKind(in.mediaType)
	isPost := strings.EqualFold(r.Method, http.MethodPost)
	if isPost && multipart && strings.Contains(strings.ToLower(in.mediaType), "boundary") {
		// A multipart body that cannot be read leaves $_POST empty.
		in.post, _ = phpvars.Multipart(in.mediaType, r.Body)
		_, err := io.Copy(io.Discard, r.Body)
		return in, err
	}
	var err error
	in.body, err = io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		in.body, err = nil, nil
	}
	if isPost && urlencoded {
		in.post = phpvars.Form(string(in.body))
	}
	return in, err
}

// form is the form body as the REST interface sees it under the effective
// method: $_POST, and for other methods also the body that the core parses
// itself (docs/platform I.3.1).
func (in *input) form(method string) obj {
	values := obj{}
	if method != http.MethodPost && in.rawForm() {
		values = variables(phpvars.RawForm(string(in.body)))
	}
	maps.Copy(values, variables(in.post))
	return values
}

func (in *input) rawForm() bool {
	kind := strings.ToLower(in.mediaType)
	if i := strings.Index(kind, ";"); i > 0 { // a leading one stays
		kind = kind[:i]
	}
	kind = strings.TrimSpace(kind)
	return !strings.Contains(kind, "/") || kind == "application/x-www-form-urlencoded"
}

// json is the object of a JSON body, nil where there is none; a top-level list
// or scalar has no parameters (docs/platform I.3.1).
func (in *input) json() (obj, error) {
	if !phpvars.IsJSON(in.mediaType) || len(bytes.TrimSpace(in.body)) == 0 {
		return nil, nil
	}
	v, err := decodeJSON(in.body)
	if err != nil {
		return nil, fail(http.StatusBadRequest, "rest_invalid_json", "Invalid JSON body passed.")
	}
	o, _ := v.(obj)
	return o, nil
}

// publicVars are the query variables that the platform's main query takes from
// the query and from a form body. One set in both with different values stops
// the request (docs/platform I.1.2).
var publicVars = strings.Fields(`m p posts w cat withcomments withoutcomments s search exact sentence calendar page
	paged more tb pb author order orderby year monthnum day hour minute second name category_name tag feed
	author_name pagename page_id error attachment attachment_id subpost subpost_id preview robots favicon taxonomy
	term cpage post_type embed rest_route sitemap sitemap-subtype sitemap-stylesheet`)

// mismatch tells whether a public query variable differs between query and
// form body.
func (in *input) mismatch(plainPermalinks bool) bool {
	for _, name := range publicVars {
		if name == "error" && !plainPermalinks {
			continue
		}
		fromGet, inGet := in.get.Get(name)
		fromPost, inPost := in.post.Get(name)
		if !inGet || !inPost {
			continue
		}
		a, okA := fromGet.(string)
		b, okB := fromPost.(string)
		if !okA || !okB || a != b {
			return true
		}
	}
	return false
}

// variable is name from the form body, else from the query.
func (in *input) variable(name string) (v any, set bool) {
	if v, set = in.post.Get(name); set {
		return v, true
	}
	return in.get.Get(name)
}

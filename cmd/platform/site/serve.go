package site

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// reply is what a call answers.
type reply struct {
	status int
	header http.Header
	body   any
}

// replyOf makes a reply of what a handler returned.
func replyOf(v any, err error) *reply {
	if err != nil {
		var e *Error
		if !errors.As(err, &e) {
			e = errFatal()
		}
		return &reply{e.Status, http.Header{}, e.body()}
	}
	if r, ok := v.(*reply); ok {
		if r.header == nil {
			r.header = http.Header{}
		}
		return r
	}
	return &reply{http.StatusOK, http.Header{}, v}
}

func created(v any) *reply { return &reply{status: http.StatusCreated, body: v} }

// serveREST answers a REST call.
func (s *Site) serveREST(w http.ResponseWriter, r *http.Request, in *input, route string) {
	s.mu.Lock()
	rep, q := s.rest(r, in, route)
	// Handlers answer with fresh values or with text that nothing changes, so
	// encoding under the lock is enough to keep an answer of one moment.
	var body []byte
	var err error
	if rep.body != nil { // else the answer is empty, as the platform answers null
		body, err = json.Marshal(inOrder(rep.body))
	}
	s.mu.Unlock()
	if err != nil {
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
		return
	}
	maps.Copy(w.Header(), rep.header)
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Robots-Tag", "noindex")
	header.Set("Link", "<"+s.restURL(r, "/")+`>; rel="https://api.w.org/"`)
	if q.user != nil || rep.status >= http.StatusBadRequest {
		header.Set("Cache-Control", "no-cache, must-revalidate, max-age=0, no-store, private")
	}
	contentType := "application/json; charset=UTF-8"
	if name, _ := in.get.String("_jsonp"); validCallback.MatchString(name) && body != nil {
		contentType = "application/javascript; charset=UTF-8"
		body = []byte("/**/" + name + "(" + string(body) + ")")
	}
	header.Set("Content-Type", contentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	s.cors(w, r)
	w.WriteHeader(rep.status)
	w.Write(body) //nolint:gosec // JSON, of that content type
}

var validCallback = regexp.MustCompile(`\A[\w.]+\z`)

// rest makes the call out of the request and runs it, with the wrappings that
// the caller asked for. s.mu is held.
func (s *Site) rest(r *http.Request, in *input, route string) (*reply, *request) {
	q := &request{
		site: s, wire: r, header: r.Header, route: route, body: in.body,
		query: variables(in.get), reply: http.Header{},
	}
	method, err := effectiveMethod(r, in)
	if err != nil {
		return replyOf(nil, err), q
	}
	q.method = method
	if name, _ := in.get.String("_jsonp"); name != "" && !validCallback.MatchString(name) {
		return replyOf(nil, fail(http.StatusBadRequest, "rest_callback_invalid", "Invalid JSONP callback function.")), q
	}
	q.form = in.form(method)
	err = s.authenticate(q, in)
	if err == nil {
		err = s.restrict(q)
	}
	q.json, q.invalid = in.json()
	var rep *reply
	if err != nil {
		rep = replyOf(nil, err)
		maps.Copy(rep.header, q.reply)
	} else {
		rep = s.dispatch(q)
	}
	s.shape(q, rep)
	return rep, q
}

// effectiveMethod is _method of the query, else the override header, else the
// wire's (docs/platform I.2). A list in its place is a fatal error.
func effectiveMethod(r *http.Request, in *input) (string, error) {
	if v, set := in.get.Get("_method"); set {
		method, ok := v.(string)
		if !ok {
			return "", errFatal()
		}
		return strings.ToUpper(method), nil
	}
	if values := r.Header.Values("X-Http-Method-Override"); len(values) > 0 {
		return strings.ToUpper(strings.Join(values, ", ")), nil
	}
	return strings.ToUpper(r.Method), nil
}

// shape applies _fields, _embed and _envelope.
func (s *Site) shape(q *request, rep *reply) {
	if rep.status < http.StatusBadRequest {
		if _, set := q.query["_embed"]; set && q.method != http.MethodHead {
			s.embed(q, rep.body)
		}
		if fields, set := q.query["_fields"]; set {
			rep.body = onlyFields(rep.body, list(fields))
		}
	}
	if _, set := q.query["_envelope"]; set {
		headers := obj{}
		for name := range rep.header {
			headers[name] = rep.header.Get(name)
		}
		rep.body = obj{"body": rep.body, "status": rep.status, "headers": headers}
		rep.status = http.StatusOK
	}
}

// onlyFields keeps the named fields, "a.b" within an object, of an object or
// of each object of a list.
func onlyFields(v any, fields []any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = onlyFields(item, fields)
		}
		return out
	case []obj:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = onlyFields(item, fields)
		}
		return out
	case obj:
		out := obj{}
		for _, field := range fields {
			pick(out, v, strings.Split(text(field), "."))
		}
		return out
	}
	return v
}

func pick(to, from obj, path []string) {
	v, ok := from[path[0]]
	if !ok {
		return
	}
	inner, isObject := v.(obj)
	if len(path) == 1 || !isObject {
		to[path[0]] = v
		return
	}
	sub, _ := to[path[0]].(obj)
	if sub == nil {
		sub = obj{}
	}
	pick(sub, inner, path[1:])
	to[path[0]] = sub
}

// embed loads the author of each post in v, as a call of the same caller would.
func (s *Site) embed(q *request, v any) {
	switch v := v.(type) {
	case []obj:
		for _, item := range v {
			s.embed(q, item)
		}
	case obj:
		id, ok := v["author"].(int)
		if _, linked := v["_links"]; !ok || !linked {
			return
		}
		author := q.part(http.MethodGet, "/"+s.names.Core+"/users/"+strconv.Itoa(id), obj{"context": "embed"}, nil)
		v["_embedded"] = obj{"author": []any{s.dispatch(author).body}}
	}
}

// cors answers any origin, as the platform does.
func (s *Site) cors(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Expose-Headers", s.names.header("Total")+", "+s.names.header("TotalPages")+", Link")
	h.Set("Access-Control-Allow-Headers",
		"Authorization, "+s.names.NonceHeader+", Content-Disposition, Content-MD5, Content-Type")
	if origin := r.Header.Get("Origin"); origin != "" {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Methods", "OPTIONS, GET, POST, PUT, PATCH, DELETE")
		h.Set("Access-Control-Allow-Credentials", "true")
		h.Add("Vary", "Origin")
	}
}

// total sets the headers that count a list and its pages.
func (q *request) total(items, perPage int) {
	n := q.site.names
	q.reply.Set(n.header("Total"), strconv.Itoa(items))
	q.reply.Set(n.header("TotalPages"), strconv.Itoa((items+perPage-1)/perPage))
}

package site

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// maxBatch is the most parts of a core or checkout batch.
const maxBatch = 25

// multiStatus is the status of a batch's answer.
const multiStatus = http.StatusMultiStatus

// coreBatch runs parts of routes that allow it (docs/platform I.4).
func coreBatch(q *request) (any, error) {
	parts, err := q.batchParts()
	if err != nil {
		return nil, err
	}
	replies, failed := make([]*reply, len(parts)), false
	for i, p := range parts {
		replies[i] = q.site.precheck(p)
		failed = failed || replies[i] != nil
	}
	if failed && q.str("validation") == "require-all-validate" {
		responses := make([]any, len(parts))
		for i, rep := range replies {
			if rep != nil {
				responses[i] = rep.json()
			}
		}
		return &reply{status: multiStatus, body: obj{"failed": "validation", "responses": responses}}, nil
	}
	responses := make([]any, len(parts))
	for i, p := range parts {
		if replies[i] == nil {
			replies[i] = q.site.dispatch(p.request)
		}
		responses[i] = replies[i].json()
	}
	return &reply{status: multiStatus, body: obj{"responses": responses}}, nil
}

// batchPart is a part of a batch; bad where its path could not be parsed.
type batchPart struct {
	*request
	bad bool
}

// batchParts reads the parts of the call's effective requests argument. Scheme,
// host and fragment of a path are dropped, its query counts.
func (q *request) batchParts() ([]batchPart, error) {
	v, _ := q.param("requests")
	items := list(v)
	if len(items) > maxBatch {
		return nil, errInvalidParam("requests", "requests must contain at most 25 items.")
	}
	var parts []batchPart
	for _, item := range items {
		o := object(item)
		method := text(o["method"])
		if method == "" {
			method = http.MethodPost
		}
		if !slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, method) {
			return nil, errInvalidParam("requests", "method is not one of POST, PUT, PATCH, and DELETE.")
		}
		if text(o["path"]) == "" {
			return nil, errInvalidParam("requests", "path is a required property.")
		}
		u, err := url.Parse(text(o["path"]))
		if err != nil || u.Path == "" || strings.HasPrefix(text(o["path"]), "///") {
			parts = append(parts, batchPart{bad: true})
			continue
		}
		p := q.part(method, u.EscapedPath(), variables(phpvars.Query(u.RawQuery)), object(o["body"]))
		for name, value := range object(o["headers"]) {
			p.header.Set(name, text(value))
		}
		parts = append(parts, batchPart{request: p})
	}
	return parts, nil
}

// precheck answers for a part that may not run in a batch: nil where it may.
func (s *Site) precheck(p batchPart) *reply {
	if p.bad {
		return replyOf(nil, fail(http.StatusBadRequest, "parse_path_failed", "Could not parse the path."))
	}
	r, e, groups := s.router.match(p.method, p.route)
	switch {
	case r == nil:
		return replyOf(nil, errNoRoute())
	case !r.allowBatch || s.isStore(p.route):
		return replyOf(nil, fail(http.StatusBadRequest, "rest_batch_not_allowed", "The requested route does not support batch requests."))
	}
	check := *p.request
	check.endpoint, check.url = e, groups
	if err := e.args.check(&check); err != nil {
		return replyOf(nil, err)
	}
	return nil
}

// storeBatch runs parts of the checkout API only (docs/platform III.7).
func storeBatch(q *request) (any, error) {
	parts, err := q.batchParts()
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		if p.bad || !q.site.isStore(p.route) || strings.Contains(strings.ToLower(p.route), "/batch") {
			return nil, fail(http.StatusBadRequest, q.site.names.code("invalid_path"), "Invalid path provided.")
		}
	}
	responses := []any{}
	for _, p := range parts {
		responses = append(responses, q.site.dispatch(p.request).json())
	}
	return &reply{status: multiStatus, body: obj{"responses": responses}}, nil
}

// json is a part's answer within a batch.
func (r *reply) json() obj {
	headers := obj{}
	for name := range r.header {
		headers[name] = r.header.Get(name)
	}
	return obj{"body": r.body, "status": r.status, "headers": headers}
}

func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }

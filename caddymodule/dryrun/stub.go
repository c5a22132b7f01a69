package dryrun

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
)

// stub plays the site behind the gateway: the chosen caller and the chosen records, in the
// platform's own words (docs/platform III). It plays nothing that nobody has chosen: such a
// question has no answer, and missing says what would give it one.
type stub struct {
	platform *platforms.Platform
	as       As
	has      caller.Credential // of the scope that the caller is of
	records  map[uint64]RecordKind
	ability  map[string]Ability
	index    []byte          // a saved REST root, or nil
	home     string          // of the site, "https://shop.example.com/blog"
	release  *policy.Release // as configured
	secure   bool
}

// missing is the error of a question about something that nobody has chosen.
type missing struct{ what string }

// Error implements error.
func (m *missing) Error() string { return m.what + " is not known" }

// answer answers a question, which arrives at the site as r.
func (s *stub) answer(q *ask.Question, r *http.Request) (*ask.Answer, error) {
	switch {
	case s.as.Kind == "" && q.As == ask.AsCaller && len(q.Header) > 0:
		return nil, &missing{"whose credentials the request carries (--as user, role:NAME, cap:NAME, key or scope:NAME; --as anonymous if the site does not know them)"}
	case q.Page != "":
		return s.page(q, r), nil
	case changed(q, r):
		return nil, &missing{"what the site answers to a question that a handler behind the gateway has changed"}
	case q.Form == call.Query && (noREST.MatchString(strings.ToLower(r.URL.Path)) || noREST.MatchString(strings.ToLower(sentPath(r)))):
		return &ask.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}}, nil
	case q.Kind == ask.KindIndex:
		return s.root(), nil
	case asksArrival(q):
		code := "authentication_error"
		if !arrived(q, r) || q.Header == nil && !strings.Contains(r.URL.RawQuery, oauth1) {
			code = "cannot_view"
		}
		return answerError(http.StatusUnauthorized, s.platform.ErrorPrefix+code), nil
	case q.Kind == ask.KindSchema:
		return s.schema(q, r)
	case q.Kind == ask.KindCart:
		return nil, &missing{"the total of the shopper's cart (--live asks the site)"}
	case q.Route == "/"+s.platform.Checkout+"/cart":
		return s.cart(q, r), nil
	case q.Route == "/"+s.platform.Core+"/users/me":
		return s.me(q, r), nil
	case q.Route == "/"+s.platform.Core+caller.PasswordUsed:
		return s.password(q, r), nil
	}
	return s.order(q, r)
}

// oauth1 begins the names of OAuth 1's parameters.
const oauth1 = "oauth_"

// asksArrival tells whether q asks whether the shop sees a signature of OAuth 1.
func asksArrival(q *ask.Question) bool {
	return q.As == ask.AsNobody && (strings.HasPrefix(q.Header.Get("Authorization"), "OAuth ") || strings.HasPrefix(q.Query, oauth1))
}

// noREST matches the scripts that do not read rest_route (docs/platform I.1.1).
var noREST = regexp.MustCompile(`/((wp-|cms-)?(login|cron|comments-post|mail|links-opml|load)|xmlrpc)\.php$|/(wp|cms)-admin(/([^/]+\.php)?)?$`)

// sentPath returns the path of a question before handlers have rewritten it, as php_fastcgi
// does where this machine does not have the site's files.
func sentPath(r *http.Request) string {
	if sent, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok && sent.URL != nil {
		return sent.URL.Path
	}
	return ""
}

// arrived tells whether the credentials of a question have reached the site: handlers behind
// the gateway may take them away.
func arrived(q *ask.Question, r *http.Request) bool {
	for name := range q.Header {
		if r.Header.Get(name) == "" {
			return false
		}
	}
	return true
}

// changed tells whether a question has reached the site as another one.
func changed(q *ask.Question, r *http.Request) bool {
	if r.Method != cmp.Or(q.Method, http.MethodGet) || r.Header.Get("X-Http-Method-Override") != "" {
		return true
	}
	for name, values := range q.Header {
		if has := r.Header.Values(name); len(has) > 0 && !slices.Equal(has, values) {
			return true
		}
	}
	return false
}

// knows tells whether the site knows the caller of a question as one who is logged in. A
// nonce in the query comes before that of the header (docs/platform II).
func (s *stub) knows(q *ask.Question, r *http.Request) bool {
	header, query := r.Header.Get(s.platform.NonceHeader), r.URL.Query().Get(s.platform.NonceParam)
	if header != "" && query != "" && header != query {
		return false
	}
	if s.has.Kind == caller.CredentialPassword && !s.secure { // the platform takes them by https alone
		return false
	}
	return s.as.loggedIn() && q.As == ask.AsCaller && arrived(q, r)
}

// stranger is the answer to credentials that the platform does not know, in its words; nil
// if it takes the caller for anonymous.
func (s *stub) stranger(q *ask.Question, r *http.Request) *ask.Answer {
	switch {
	case s.knows(q, r), q.As == ask.AsKey:
		return nil
	case s.secure && strings.HasPrefix(r.Header.Get("Authorization"), "Basic "):
		return answerError(http.StatusUnauthorized, "invalid_username")
	}
	return s.strangeNonce(r)
}

// strangeNonce is the answer to a nonce that is not the caller's.
func (s *stub) strangeNonce(r *http.Request) *ask.Answer {
	if r.Header.Get(s.platform.NonceHeader) != "" || r.URL.Query().Has(s.platform.NonceParam) {
		return answerError(http.StatusForbidden, "rest_cookie_invalid_nonce")
	}
	return nil
}

func answerJSON(status int, v any) *ask.Answer {
	body, _ := json.Marshal(v) // of plain values: it cannot fail
	return &ask.Answer{Status: status, Header: http.Header{"Content-Type": {"application/json; charset=UTF-8"}}, Body: body}
}

func answerError(status int, code string) *ask.Answer {
	return answerJSON(status, map[string]any{"code": code, "message": "", "data": map[string]any{"status": status}})
}

// page answers for the script that gives nonces.
func (s *stub) page(q *ask.Question, r *http.Request) *ask.Answer {
	body := "0"
	if q.Query != "" && s.knows(q, r) {
		body = standInNonce
	}
	return &ask.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(body)}
}

// root is the saved REST root, or one that says nothing but what every site says.
func (s *stub) root() *ask.Answer {
	if s.index != nil {
		return &ask.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: s.index}
	}
	return answerJSON(http.StatusOK, map[string]any{
		"name": "", "home": s.home, "url": s.home, "routes": []any{},
		"namespaces": append([]string{s.platform.Core, s.platform.Checkout}, s.platform.Shop...),
	})
}

// me answers who is logged in. A shop key is no login.
func (s *stub) me(q *ask.Question, r *http.Request) *ask.Answer {
	if a := s.stranger(q, r); a != nil {
		return a
	}
	if !s.knows(q, r) {
		return answerError(http.StatusUnauthorized, "rest_not_logged_in")
	}
	about := map[string]any{"id": userID, "username": cmp.Or(s.has.Login, userName)}
	if s.as.Kind != OfScope {
		about["roles"], about["capabilities"] = s.as.roles(), s.as.capabilities()
	}
	return answerJSON(http.StatusOK, about)
}

// password names the application password of the caller.
func (s *stub) password(q *ask.Question, r *http.Request) *ask.Answer {
	if a := s.stranger(q, r); a != nil {
		return a
	}
	switch {
	case !s.knows(q, r):
		return answerError(http.StatusUnauthorized, "rest_not_logged_in")
	case s.has.UUID == "":
		return answerError(http.StatusNotFound, "rest_no_authenticated_app_password")
	}
	return answerJSON(http.StatusOK, map[string]any{"uuid": s.has.UUID})
}

// unknownRights is the error of a question about what nobody has said of the user of a scope.
func unknownRights(as As) *missing {
	return &missing{fmt.Sprintf("what the user of the scope %s may do (--as scope:%[1]s,role:NAME or scope:%[1]s,cap:NAME)", as.Scope)}
}

// cart answers whose session it is.
func (s *stub) cart(q *ask.Question, r *http.Request) *ask.Answer {
	a := answerJSON(http.StatusOK, map[string]any{"totals": map[string]any{}})
	a.Header.Set("User-ID", "0")
	if s.knows(q, r) {
		a.Header.Set("User-ID", strconv.Itoa(userID))
	}
	return a
}

// Of the caller that the stub plays.
const (
	userID   = 1
	userName = "somebody"
)

var (
	ordersRoute = regexp.MustCompile(`/orders(?:/(\d+))?(?:/notes/(\d+))?$`)
	idList      = regexp.MustCompile(`(?:^|&)include=([0-9,]+)`)
)

// order answers a question for orders (docs/platform III.3, III.8).
func (s *stub) order(q *ask.Question, r *http.Request) (*ask.Answer, error) {
	m := ordersRoute.FindStringSubmatch(q.Route)
	if m == nil {
		return nil, &missing{"the answer of the site to " + q.Route}
	}
	if refusal, err := s.mayNotRead(q, r); refusal != nil || err != nil {
		return refusal, err
	}
	switch {
	case m[1] == "":
		return s.orders(q)
	case m[1] == "0", q.Method == http.MethodDelete: // may the key write?
		return answerError(http.StatusNotFound, s.platform.ErrorPrefix+"order_invalid_id"), nil
	}
	id, err := strconv.ParseUint(m[1], 10, 64)
	if err != nil {
		return nil, err
	}
	return s.oneOrder(id, m[2] != "")
}

// mayNotRead returns the shop's refusal to a caller who may not read orders.
func (s *stub) mayNotRead(q *ask.Question, r *http.Request) (*ask.Answer, error) {
	denied := answerError(http.StatusUnauthorized, s.platform.ErrorPrefix+"cannot_view")
	byKey := q.As == ask.AsKey && q.Kind != ask.KindCaller || s.as.Kind == Key
	switch {
	case byKey && !arrived(q, r):
		return denied, nil
	case byKey && q.Form == call.Query && !strings.Contains(r.URL.Path, s.platform.KeyMarker):
		return s.keyInQuery(q, r, denied)
	case byKey, s.knows(q, r) && s.as.readsOrders() && q.Kind != ask.KindCaller:
		return nil, nil
	case s.knows(q, r) && s.as.Kind == OfScope:
		return nil, unknownRights(s.as)
	case s.knows(q, r):
		return answerError(http.StatusForbidden, s.platform.ErrorPrefix+"cannot_view"), nil
	}
	if a := s.strangeNonce(r); a != nil {
		return a, nil
	}
	return denied, nil
}

// keyInQuery answers a key in the query form, where the shop takes keys from 11.1 on. Before,
// it takes them where the address holds the marker (docs/platform III.8).
func (s *stub) keyInQuery(q *ask.Question, r *http.Request, denied *ask.Answer) (*ask.Answer, error) {
	release := s.release
	switch {
	case release.Configured(11, 1), release.Learns() && bytes.Contains(s.index, []byte(`refunds\/preview`)), release.Learns() && bytes.Contains(s.index, []byte("refunds/preview")):
		return nil, nil
	case release.Learns() && s.index == nil:
		return nil, &missing{"whether the shop is release 11.1 or later, which takes keys in the query form (release in the directive, --index or --live)"}
	}
	if a := s.stranger(q, r); a != nil {
		return a, nil
	}
	return denied, nil
}

// orders answers which of the ids are orders. The list without a filter shows none.
func (s *stub) orders(q *ask.Question) (*ask.Answer, error) {
	found := []any{}
	m := idList.FindStringSubmatch(q.Query)
	if m == nil || !strings.Contains(q.Query, "status=any") {
		return answerJSON(http.StatusOK, found), nil
	}
	for text := range strings.SplitSeq(m[1], ",") {
		id, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			continue
		}
		switch s.records[id] {
		case Order:
			found = append(found, map[string]any{"id": id})
		case "":
			if q.Kind == ask.KindCaller { // who it is stands in the status
				continue
			}
			return nil, unknownRecord(id)
		case Subscription, NoRecord:
		}
	}
	return answerJSON(http.StatusOK, found), nil
}

func unknownRecord(id uint64) error {
	return &missing{fmt.Sprintf("what record %d is (--id %d=order, subscription or none)", id, id)}
}

// oneOrder answers for a record, or for a note of it. The order route shows subscriptions
// too; only the route of notes does not.
func (s *stub) oneOrder(id uint64, note bool) (*ask.Answer, error) {
	is, known := s.records[id]
	switch {
	case !known:
		return nil, unknownRecord(id)
	case is == Order && note:
		return answerError(http.StatusNotFound, s.platform.ErrorPrefix+"invalid_id"), nil
	case is == NoRecord || note:
		return answerError(http.StatusNotFound, s.platform.ErrorPrefix+map[bool]string{true: "order_invalid_id", false: "shop_order_invalid_id"}[note]), nil
	}
	return answerJSON(http.StatusOK, map[string]any{"id": id}), nil
}

package dryrun

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

// stub plays the site behind the gateway: the chosen caller and the chosen records, in the
// platform's own words (docs/platform III). It plays nothing that nobody has chosen: such a
// question has no answer, and missing says what would give it one.
type stub struct {
	platform *call.Platform
	as       As
	records  map[uint64]Record
	index    []byte // a saved REST root, or nil
	home     string // of the site, "https://shop.example.com/blog"
}

// missing is the error of a question about something that nobody has chosen.
type missing struct{ what string }

// Error implements error.
func (m *missing) Error() string { return m.what + " is not known" }

// answer answers a question.
func (s *stub) answer(q *ask.Question) (*ask.Answer, error) {
	switch {
	case q.Page != "":
		return s.page(q), nil
	case q.Kind == ask.KindIndex:
		return s.root(), nil
	case q.Kind == ask.KindSchema:
		return nil, &missing{"what the ability is and which input it takes (--live asks the site)"}
	case q.Kind == ask.KindCart:
		return nil, &missing{"the total of the shopper's cart (--live asks the site)"}
	case q.Route == "/"+s.platform.Checkout+"/cart":
		return s.cart(), nil
	case q.Route == "/"+s.platform.Core+"/users/me":
		return s.me(), nil
	}
	return s.order(q)
}

func answerJSON(status int, v any) *ask.Answer {
	body, _ := json.Marshal(v) // of plain values: it cannot fail
	return &ask.Answer{Status: status, Header: http.Header{"Content-Type": {"application/json; charset=UTF-8"}}, Body: body}
}

func answerError(status int, code string) *ask.Answer {
	return answerJSON(status, map[string]any{"code": code, "message": "", "data": map[string]any{"status": status}})
}

// page answers for the two scripts of the admin screens.
func (s *stub) page(q *ask.Question) *ask.Answer {
	header := http.Header{"Content-Type": {"text/html"}}
	switch {
	case strings.HasSuffix(q.Page, s.platform.UploadScript):
		header.Set("Location", strings.TrimSuffix(s.home, "/")+"/wp-login.php?redirect_to="+url.QueryEscape(q.Page))
		return &ask.Answer{Status: http.StatusFound, Header: header}
	case q.Query != "" && s.as.loggedIn():
		return &ask.Answer{Status: http.StatusOK, Header: header, Body: []byte(standInNonce)}
	}
	return &ask.Answer{Status: http.StatusOK, Header: header, Body: []byte("0")}
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
func (s *stub) me() *ask.Answer {
	if !s.as.loggedIn() {
		return answerError(http.StatusUnauthorized, "rest_not_logged_in")
	}
	return answerJSON(http.StatusOK, map[string]any{"id": userID, "roles": s.as.roles(), "capabilities": s.as.capabilities()})
}

// cart answers whose session it is.
func (s *stub) cart() *ask.Answer {
	a := answerJSON(http.StatusOK, map[string]any{"totals": map[string]any{}})
	a.Header.Set("User-ID", "0")
	if s.as.loggedIn() {
		a.Header.Set("User-ID", strconv.Itoa(userID))
	}
	return a
}

// userID is the id of the caller that the stub plays.
const userID = 1

var (
	ordersRoute = regexp.MustCompile(`/orders(?:/(\d+))?(?:/notes/(\d+))?$`)
	idList      = regexp.MustCompile(`(?:^|&)include=([0-9,]+)`)
)

// order answers a question for orders (docs/platform III.3, III.8).
func (s *stub) order(q *ask.Question) (*ask.Answer, error) {
	m := ordersRoute.FindStringSubmatch(q.Route)
	switch {
	case m == nil:
		return nil, &missing{"the answer of the site to " + q.Route}
	case q.As != ask.AsKey && !s.as.readsOrders():
		return answerError(http.StatusUnauthorized, s.platform.ErrorPrefix+"cannot_view"), nil
	case q.Kind == ask.KindCaller: // whether the key counts
		if s.as.Kind != Key {
			return answerError(http.StatusUnauthorized, s.platform.ErrorPrefix+"cannot_view"), nil
		}
		return answerJSON(http.StatusOK, []any{}), nil
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

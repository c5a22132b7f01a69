package ask_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
)

// TestSend_LostBody: an error whose body a server has replaced is asked for again, in an envelope.
func TestSend_LostBody(t *testing.T) {
	const noNote = `{"code":"woocommerce_rest_invalid_id"}`
	page := &ask.Answer{Status: 404, Body: []byte("<html>")}
	soft := &ask.Answer{Status: 200, Body: []byte("<html>")}
	inner := asktest.Envelope(asktest.JSON(404, noNote))
	for name, test := range map[string]struct {
		q             ask.Question
		first, second *ask.Answer
		status, asked int
		code          string
	}{
		"replaced":           {ask.Question{}, page, inner, 404, 2, "woocommerce_rest_invalid_id"},
		"replaced, with 200": {ask.Question{}, soft, inner, 404, 2, "woocommerce_rest_invalid_id"},
		"of a schema":        {ask.Question{Method: http.MethodOptions}, page, inner, 404, 2, "woocommerce_rest_invalid_id"},
		"the server's own":   {ask.Question{}, page, page, 404, 2, ""},
		"no envelope":        {ask.Question{}, page, asktest.JSON(200, noNote), 404, 2, ""},
		"an envelope's like": {ask.Question{}, page, asktest.JSON(200, `{"body":{"code":"x"},"status":404,"headers":{},"more":1}`), 404, 2, ""},
		"half an envelope":   {ask.Question{}, page, asktest.JSON(200, `{"body":{"code":"x"},"status":"404","headers":{}}`), 404, 2, ""},
		"no header":          {ask.Question{}, page, asktest.JSON(200, `{"body":{"code":"x"},"status":403,"headers":[]}`), 403, 2, "x"},
		"in its own words":   {ask.Question{}, asktest.JSON(404, noNote), inner, 404, 1, "woocommerce_rest_invalid_id"},
		"a success":          {ask.Question{}, asktest.JSON(200, `[]`), inner, 200, 1, ""},
		"a limit":            {ask.Question{}, &ask.Answer{Status: 429}, inner, 429, 1, ""},
		"a write":            {ask.Question{Method: http.MethodPost}, page, inner, 404, 1, ""},
		"a delete":           {ask.Question{Method: http.MethodDelete}, page, inner, 404, 1, ""},
		"a page":             {ask.Question{Page: "/wp-admin/admin-ajax.php"}, page, inner, 404, 1, ""},
	} {
		b := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
			if q.Envelope {
				return test.second, nil
			}
			return test.first, nil
		}}
		a, err := ask.Send(t.Context(), b, nil, test.q)
		if err != nil || a.Status != test.status || a.Code() != test.code || len(b.Questions()) != test.asked {
			t.Errorf("%s: %+v, %v after %d questions", name, a, err, len(b.Questions()))
		}
	}
}

// TestSend_EnvelopeWithoutAnswer: what is no answer of the platform's outside of an envelope is none
// in it. Where a server has answered in place of the platform again, the first answer stands, which
// tells nothing of a record.
func TestSend_EnvelopeWithoutAnswer(t *testing.T) {
	down := errors.New("down")
	for name, test := range map[string]struct {
		second *ask.Answer
		err    error
		want   error // nil: the first answer
	}{
		"down":                {nil, down, down},
		"a fault":             {asktest.Envelope(asktest.JSON(500, `{}`)), nil, ask.ErrUndecided},
		"a redirect":          {asktest.Envelope(asktest.JSON(302, `{}`)), nil, ask.ErrUndecided},
		"a server's fault":    {nil, ask.Unexpected(&ask.Answer{Status: 502}), nil},
		"a server's redirect": {nil, ask.Unexpected(&ask.Answer{Status: 302}), nil},
	} {
		b := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
			if q.Envelope {
				return test.second, test.err
			}
			return &ask.Answer{Status: 404}, nil
		}}
		a, err := ask.Send(t.Context(), b, nil, ask.Question{})
		if !errors.Is(err, test.want) || (a == nil) != (test.want != nil) || a != nil && (a.Status != 404 || a.Code() != "" || a.Enveloped) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// TestQuestion_Envelope: the variable stands behind those of the question, in both forms, and the
// header in the envelope counts.
func TestQuestion_Envelope(t *testing.T) {
	q := ask.Question{Route: "/wc/v3/orders/7", Query: "_fields=id", Fresh: "f", Envelope: true}
	if path, query := q.Target("wp-json"); path != "/wp-json/wc/v3/orders/7" || query != "_fields=id&_envelope=1&restwarden=f" {
		t.Error(path, query)
	}
	q.Form, q.Query = call.Query, ""
	if path, query := q.Target("wp-json"); path != "/" || query != "rest_route=%2Fwc%2Fv3%2Forders%2F7&_envelope=1&restwarden=f" {
		t.Error(path, query)
	}
	b := asktest.Answering(200, `{"body":{"totals":1},"status":200,"headers":{"User-ID":5,"Nonce":"n"}}`)
	a, err := ask.Send(t.Context(), b, nil, q)
	if err != nil || a.Header.Get("User-ID") != "5" || a.Header.Get("Nonce") != "n" || a.Header.Get("Content-Type") != "application/json" || string(a.Body) != `{"totals":1}` {
		t.Errorf("%+v, %v", a, err)
	}
}

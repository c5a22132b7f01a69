package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/policy"
)

// refuse answers with the platform's error object, which may carry a cart, or with the platform's
// own answer. Either may be large: until the client has taken it, it is kept and counted as a
// rewritten answer is.
func (s *site) refuse(w http.ResponseWriter, x *exchange, v policy.Verdict) error {
	h := w.Header()
	maps.Copy(h, v.Header)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if s.g.RequestID != "off" {
		h.Set("X-Request-Id", requestID(x.r))
	}
	page := v.Answer != nil && v.Answer.Code() == "" // not for scripts of other origins: it may hold the caller's nonces
	if origin := x.r.Header.Get("Origin"); origin != "" && !page && !s.InCheckout(x.req.Call) {
		allowOrigin(h, origin, &s.Platform)
	}
	if a := s.chain.Refusal(&x.req, v); a != nil {
		v.Answer = a
	}
	kept := s.account(x).Buffer()
	defer kept.Close()
	body, size, err := s.bodyOf(&v, kept, h)
	if err != nil {
		return caddyhttp.Error(http.StatusInternalServerError, err)
	}
	h.Set("Content-Length", strconv.FormatInt(size, 10))
	status := v.Status
	if v.Answer != nil {
		status = v.Answer.Status
		for _, name := range []string{"Content-Type", "Www-Authenticate"} {
			if values := v.Answer.Header[name]; len(values) > 0 {
				h[name] = values
			}
		}
	} else {
		h.Set("Content-Type", "application/json; charset=UTF-8")
	}
	if v.Cart == nil {
		x.answers.Close()
	}
	v = policy.Verdict{} // what is large is kept
	x.req.Call.SettleAddress()
	w.WriteHeader(status)
	_, err = io.Copy(w, body)
	return err
}

// smallText is the size up to which a refusal is sent as it is. The buffer of a connection takes
// as much, so that no slow client makes it wait.
const smallText = 4 << 10

// bodyOf returns the body of the refusal v, and its length. Of what is large, kept has a copy, unless
// it is a cart that is kept already. Where there is no room, v becomes another refusal.
func (s *site) bodyOf(v *policy.Verdict, kept *call.Buffer, h http.Header) (body io.Reader, size int64, err error) {
	if v.Answer == nil && v.Cart != nil && v.Cart.Kept != nil {
		before, behind, err := aroundCart(*v)
		cart, size := v.Cart.Reader()
		return io.MultiReader(bytes.NewReader(before), cart, bytes.NewReader(behind)), int64(len(before)) + size + int64(len(behind)), err
	}
	text, err := textOf(*v)
	if err != nil {
		return nil, 0, err
	}
	if len(text) > smallText {
		if _, err = kept.Write(text); err == nil {
			return kept.Reader(), kept.Size(), nil
		}
		s.logger.Warn("no room for a large refusal", zap.String("site", s.Name), zap.Error(err))
		*v = policy.Unavailable()
		maps.Copy(h, v.Header)
		text, err = textOf(*v)
	}
	return bytes.NewReader(text), int64(len(text)), err
}

// textOf returns the body of a refusal in one piece.
func textOf(v policy.Verdict) ([]byte, error) {
	switch {
	case v.Answer != nil:
		return v.Answer.Body, nil
	case v.Cart != nil:
		before, behind, err := aroundCart(v)
		return slices.Concat(before, v.Cart.Body, behind), err
	}
	return errorObject(v)
}

// aroundCart returns the error object of a refusal before and behind its cart.
func aroundCart(v policy.Verdict) (before, behind []byte, err error) {
	v.Data = map[string]any{"cart": nil}
	text, err := errorObject(v)
	behind = fmt.Appendf(nil, `,"status":%d}}`, v.Status)
	return bytes.TrimSuffix(text, append([]byte("null"), behind...)), behind, err
}

// errorObject returns {"code","message","data":{"status",…}} (docs/project/interface 7).
func errorObject(v policy.Verdict) ([]byte, error) {
	object := struct {
		Code    policy.Code `json:"code"`
		Message string      `json:"message"`
		Data    any         `json:"data"`
	}{v.Code, v.Message, struct {
		Status int `json:"status"`
	}{v.Status}}
	if len(v.Data) > 0 {
		data := maps.Clone(v.Data)
		data["status"] = v.Status
		object.Data = data
	}
	return json.Marshal(object)
}

// allowOrigin adds the headers that the platform sends to scripts of other origins, so
// that they can read a refusal (platform: rest_send_cors_headers).
func allowOrigin(h http.Header, origin string, p *platforms.Platform) {
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Methods", "OPTIONS, GET, POST, PUT, PATCH, DELETE")
	h.Set("Access-Control-Allow-Credentials", "true")
	h.Set("Access-Control-Expose-Headers", p.ExposedHeaders)
	h.Set("Access-Control-Allow-Headers", "Authorization, "+p.AllowedNonce+", Content-Disposition, Content-MD5, Content-Type")
	h.Add("Vary", "Origin")
}

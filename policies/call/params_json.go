package call

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// jsonVar finds a member of a JSON body. Such a body counts for every method.
func (s *source) jsonVar(name string, levels int) (any, bool, *Refusal) {
	raw, set, refusal := s.rawJSON(name)
	if !set || refusal != nil {
		return nil, false, refusal
	}
	v, refusal := decodeLevels(raw, levels)
	return v, true, refusal
}

// rawJSON is jsonVar without decoding.
func (s *source) rawJSON(name string) (jsontext.Value, bool, *Refusal) {
	if !s.jsonRead {
		if refusal := s.readJSON(); refusal != nil {
			return nil, false, refusal
		}
		s.jsonRead = true
	}
	raw, ok := s.members.get(name)
	if ok = ok && raw.Kind() != 'n'; ok && s.droppable() {
		return nil, false, errTwoBodies
	}
	return raw, ok, nil
}

// isJSON tells whether the Content-Type, which may be long, says JSON.
func (s *source) isJSON() bool {
	if !s.typeRead {
		s.typed, s.typeRead = phpvars.IsJSON(s.r.Header.Get("Content-Type")), true
	}
	return s.typed
}

// Undecoded is Param for a JSON value that is not to be built in memory. raw is as it was sent,
// valid until Settle, and not to be changed; it is nil where the value comes from a form or a query.
func (c *Call) Undecoded(name string) (raw jsontext.Value, set bool, err error) {
	if c.src == nil {
		return nil, false, nil
	}
	raw, set, refusal := c.src.undecoded(name)
	if refusal != nil {
		return nil, false, refusal
	}
	return raw, set, nil
}

func (s *source) undecoded(name string) (jsontext.Value, bool, *Refusal) {
	if s.part == nil {
		if raw, set, refusal := s.rawJSON(name); set || refusal != nil {
			return raw, true, refusal
		}
	} else if v, set := s.part.raw(name); set {
		raw, _ := v.(jsontext.Value)
		return raw, true, nil
	}
	_, from, refusal := s.find(name, scalar)
	return nil, from != nowhere, refusal
}

func (s *source) readJSON() *Refusal {
	if s.r.ContentLength == 0 || !s.isJSON() {
		return nil
	}
	if _, multipart := phpvars.FormKind(s.r.Header.Get("Content-Type")); multipart && s.wire == http.MethodPost {
		return errTwoBodies // PHP has used the body up, or has not
	}
	if refusal := s.inspect(s.rd.site.Limits.Body); refusal != nil || s.body == nil {
		return refusal
	}
	data, refusal := s.onePiece()
	if refusal == nil && len(data) > 0 {
		s.members, refusal = readObject(data)
	}
	return refusal
}

// JSON returns the whole JSON body, decoded as in Param. It returns nil where the body is
// empty. The error is a *Refusal: the type is not JSON, or as in Param.
func (c *Call) JSON() (v any, err error) {
	data, err := c.JSONBody()
	if err != nil || len(data) == 0 {
		return nil, err
	}
	if _, refusal := readObject(data); refusal != nil {
		return nil, refusal
	}
	v, refusal := decodeJSON(data)
	if refusal != nil {
		return nil, refusal
	}
	return v, nil
}

// JSONBody is RawBody for a body that the platform takes for JSON. The error is a *Refusal
// for any other body, unless it is empty.
func (c *Call) JSONBody() ([]byte, error) {
	data, err := c.RawBody()
	if err != nil || len(data) == 0 {
		return nil, err
	}
	if !c.src.isJSON() || c.src.encoded() {
		return nil, errBody
	}
	return data, nil
}

// RawBody returns the received bytes of the body, up to Limits.Body. The caller must not
// change them. A part of a batch has none. The error is a *Refusal.
func (c *Call) RawBody() ([]byte, error) {
	if c.src == nil || c.src.part != nil || c.src.r.ContentLength == 0 {
		return nil, nil
	}
	if refusal := c.src.load(c.src.rd.site.Limits.Body); refusal != nil {
		return nil, refusal
	}
	if c.src.body == nil {
		return nil, nil
	}
	data, refusal := c.src.onePiece()
	if refusal == nil && len(data) > 0 && c.src.unsure() {
		refusal = errTwoBodies
	}
	if refusal != nil {
		return nil, refusal
	}
	return data, nil
}

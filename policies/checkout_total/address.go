package checkouttotal

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/jsonscan"
)

// Bounds, in bytes, of an address. The platform's has a dozen short fields.
const (
	maxCartAddress = 64 << 10 // of the cart, which is decoded
	maxSentAddress = 16 << 10 // of a checkout, which anybody sends
)

// addresses are those of a checkout, undecoded; nil where there is none.
type addresses struct{ billing, shipping jsontext.Value }

// readAddresses returns the addresses of c. The error is a *call.Refusal.
func readAddresses(c *call.Call) (sent addresses, err error) {
	if sent.billing, err = readAddress(c, "billing_address"); err == nil {
		sent.shipping, err = readAddress(c, "shipping_address")
	}
	return sent, err
}

// readAddress returns an object whose fields are texts, numbers, true, false or null. The platform
// has texts and, of plugins, true and false, and refuses or drops other fields.
func readAddress(c *call.Call, name string) (jsontext.Value, error) {
	raw, set, err := c.Undecoded(name)
	if err != nil || !set {
		return nil, err
	}
	plain := len(raw) <= maxSentAddress
	object := plain && jsonscan.Each(raw, func(_ []byte, field jsontext.Value) {
		kind := field.Kind()
		plain = plain && kind != '{' && kind != '['
	})
	if !object || !plain {
		return nil, call.Ambiguous("address")
	}
	return raw, nil
}

// changes returns the body of an update-customer request with the addresses that differ from the
// cart's, as they were sent, or nil if none differ.
func (sent addresses) changes(now cart) ([]byte, error) {
	changed := map[string]json.RawMessage{}
	for _, a := range []struct {
		name      string
		sent, now jsontext.Value
	}{{"billing_address", sent.billing, now.billing}, {"shipping_address", sent.shipping, now.shipping}} {
		if a.sent == nil {
			continue
		}
		differs, err := addressDiffers(a.sent, a.now)
		if err != nil {
			return nil, err
		}
		if differs {
			changed[a.name] = json.RawMessage(a.sent)
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the question is as large as the address
	err := e.Encode(changed)
	return b.Bytes(), err
}

// addressDiffers tells whether a field that was sent has another value in the cart. An address
// without fields leaves the cart's as it is.
func addressDiffers(sent, now jsontext.Value) (differs bool, err error) {
	if len(bytes.Trim(sent, "{} \t\r\n")) == 0 {
		return false, nil
	}
	current, err := cartAddress(now)
	if err != nil {
		return false, err
	}
	jsonscan.Each(sent, func(name []byte, field jsontext.Value) {
		differs = differs || fmt.Sprint(current[string(name)]) != fmt.Sprint(jsonscan.Plain(field))
	})
	return differs, nil
}

// cartAddress decodes an address of a cart. The error wraps ask.ErrUndecided.
func cartAddress(text jsontext.Value) (fields map[string]any, err error) {
	if text == nil {
		return nil, nil
	}
	if len(text) > maxCartAddress || !text.IsValid() || json.Unmarshal(text, &fields) != nil {
		return nil, fmt.Errorf("%w: an address of the cart does not parse", ask.ErrUndecided)
	}
	return fields, nil
}

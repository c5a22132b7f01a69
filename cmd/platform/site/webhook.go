package site

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// webhookTimeout bounds a delivery.
const webhookTimeout = 5 * time.Second

// sendProduct delivers a changed product, its description's blocks rendered, to the
// configured address, where there is one (docs/project/interface 6). It does not wait. A failure is
// logged. The interface leaves names and body open; the header is that of real shops.
func (s *Site) sendProduct(product obj) {
	if s.opt.Webhook == "" {
		return
	}
	body, err := json.Marshal(product) // now: the caller's lock keeps it of one moment
	if err != nil {
		return
	}
	go func() {
		if err := s.deliverWebhook("product.updated", body); err != nil {
			s.opt.Logf("webhook to %s not delivered: %v", s.opt.Webhook, err)
		}
	}()
}

func (s *Site) deliverWebhook(topic string, body []byte) error {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.opt.Webhook, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-"+s.names.short()+"-Webhook-Topic", topic)
	client := http.Client{Timeout: webhookTimeout}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

package redisstore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/restwarden/restwarden/policies/store"
)

const (
	secretLen = 32
	// secretTTL starts anew whenever a gateway connects.
	secretTTL = 30 * 24 * time.Hour
	// rejoinAfter is the pause between attempts while Redis cannot be reached.
	rejoinAfter = 250 * time.Millisecond
)

// hub carries the messages of gateways through Redis, and the secret of their hashes. It
// connects in the background, at the first call of Secret.
type hub struct {
	store     *Store
	listeners store.Listeners
	secret    atomic.Pointer[[]byte]

	once    sync.Once
	started chan struct{} // closed by start
	cancel  context.CancelFunc
	done    chan struct{}
}

func (s *Store) channel() string { return s.common + "messages" }

// Secret implements store.Store.
func (s *Store) Secret() []byte {
	s.hub.start()
	if secret := s.hub.secret.Load(); secret != nil {
		return *secret
	}
	return nil
}

// Listen implements store.Store.
func (s *Store) Listen(f func(message string)) (stop func()) { return s.hub.listeners.Add(f) }

// Announce implements store.Store. It writes the value before it sends the message, so
// that every receiver reads the new value.
func (s *Store) Announce(ctx context.Context, key, message string, ttl time.Duration) error {
	return s.do(ctx, func(ctx context.Context) error {
		value := sealed(key, rand.Text())
		_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, prefix := range []string{s.prefix, s.common} {
				p.Set(ctx, prefix+hashed(kindFact, key), value, atLeast(ttl))
			}
			return nil
		})
		if err != nil {
			return err
		}
		return s.client.Publish(ctx, s.channel(), message).Err()
	})
}

func (h *hub) start() {
	h.once.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		h.cancel, h.done = cancel, make(chan struct{})
		close(h.started)
		go h.run(ctx)
	})
}

// stop ends the hub and waits for it. A hub that has not started never will.
func (h *hub) stop() {
	h.once.Do(func() {})
	select {
	case <-h.started:
		h.cancel()
		<-h.done
	default:
	}
}

// run listens until ctx ends. After each connection it reports that messages may have
// been missed.
func (h *hub) run(ctx context.Context) {
	defer close(h.done)
	subscription := h.store.client.Subscribe(ctx, h.store.channel())
	defer func() { _ = subscription.Close() }()
	events := subscription.ChannelWithSubscriptions()
	for {
		select {
		case <-ctx.Done():
			return
		case event, ok := <-events:
			if !ok {
				return
			}
			switch event := event.(type) {
			case *redis.Subscription:
				h.join(ctx)
			case *redis.Message:
				h.listeners.Tell(event.Payload)
			}
		}
	}
}

// join gets the secret, however long that takes, and tells all listeners that messages
// may have been missed.
func (h *hub) join(ctx context.Context) {
	for {
		secret, err := h.store.sharedSecret(ctx)
		if err == nil {
			h.secret.Store(&secret)
			h.listeners.Tell("")
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(rejoinAfter):
		}
	}
}

// sharedSecret returns the secret in Redis. The first gateway creates it.
func (s *Store) sharedSecret(ctx context.Context) (secret []byte, err error) {
	const name = "secret"
	key := s.common + name
	own := make([]byte, secretLen)
	rand.Read(own)
	err = s.do(ctx, func(ctx context.Context) error {
		if err := s.client.SetNX(ctx, key, sealed(name, hex.EncodeToString(own)), secretTTL).Err(); err != nil {
			return err
		}
		text, err := s.client.GetEx(ctx, key, secretTTL).Result()
		if err != nil && !isMiss(err) {
			return err
		}
		value, ok := opened(name, text)
		if secret, err = hex.DecodeString(value); ok && err == nil && len(secret) == secretLen {
			return nil
		}
		return errors.Join(errForeign, s.client.Del(ctx, key).Err())
	})
	if err != nil {
		return nil, fmt.Errorf("the secret of the gateways: %w", err)
	}
	return secret, nil
}

package redisstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"

	"github.com/restwarden/restwarden/policies/store"
)

// Take implements store.Store, by GCRA in one script (redis_rate).
func (s *Store) Take(ctx context.Context, key string, rate store.Rate) (store.Taken, error) {
	if rate.Count < 1 || rate.Per <= 0 {
		return store.Taken{}, fmt.Errorf("rate %d/%s is not a positive number in a positive time", rate.Count, rate.Per)
	}
	var result *redis_rate.Result
	err := s.try(ctx, func(ctx context.Context) (err error) {
		key := s.key(kindCounter, fmt.Sprintf("%d/%s %s", rate.Count, rate.Per, key))
		result, err = s.limiter.Allow(ctx, key, redis_rate.Limit{Rate: rate.Count, Burst: rate.Count, Period: rate.Per})
		if err != nil && isScriptError(err) {
			return errForeign
		}
		return err
	})
	if err != nil {
		return store.Taken{}, err
	}
	// A counter of the gateway is never further ahead than its rate allows.
	if result.ResetAfter < 0 || result.ResetAfter > rate.Per+time.Second {
		return store.Taken{}, fmt.Errorf("redis: %w", errForeign)
	}
	return store.Taken{
		Allowed: result.Allowed > 0, Remaining: max(result.Remaining, 0),
		ResetAfter: result.ResetAfter, RetryAfter: max(result.RetryAfter, 0),
	}, nil
}

// isScriptError tells whether the script itself failed: the counter is no number, or has
// another type.
func isScriptError(err error) bool {
	return redis.HasErrorPrefix(err, "WRONGTYPE") || strings.HasPrefix(err.Error(), "ERR ") && strings.Contains(err.Error(), "user_script")
}

// ownKeys makes the limiter use keys as they are given, since an ACL names one prefix.
type ownKeys struct{ redis.UniversalClient }

func (c ownKeys) own(keys []string) []string {
	own := make([]string, len(keys))
	for i, key := range keys {
		own[i] = strings.TrimPrefix(key, "rate:")
	}
	return own
}

// Eval implements redis.Scripter.
func (c ownKeys) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	return c.UniversalClient.Eval(ctx, script, c.own(keys), args...)
}

// EvalSha implements redis.Scripter.
func (c ownKeys) EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *redis.Cmd {
	return c.UniversalClient.EvalSha(ctx, sha1, c.own(keys), args...)
}

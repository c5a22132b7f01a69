package redisrun

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// TestServer: a server that was killed restarts on the same address, and a proxy delays,
// cuts and refuses.
func TestServer(t *testing.T) {
	t.Parallel()
	s := Start(t)
	lag := StartLag(t, s.Addr)
	through := s.Admin(func(o *redis.Options) { o.Addr, o.MaxRetries = lag.Addr, -1 })
	ping := func() (time.Duration, error) {
		start := time.Now()
		err := through.Ping(t.Context()).Err()
		return time.Since(start), err
	}
	if _, err := ping(); err != nil {
		t.Error(err)
	}
	lag.Set(100 * time.Millisecond)
	if took, err := ping(); err != nil || took < 100*time.Millisecond {
		t.Error(took, err)
	}
	lag.Set(0)
	lag.Refuse(true)
	lag.Cut()
	if _, err := ping(); err == nil {
		t.Error("an answer through a proxy that refuses")
	}
	lag.Refuse(false)
	s.Kill()
	if err := s.Admin().Ping(t.Context()).Err(); err == nil {
		t.Error("an answer of a server that was killed")
	}
	s.Start()
	if _, err := ping(); err != nil {
		t.Error(err)
	}
}

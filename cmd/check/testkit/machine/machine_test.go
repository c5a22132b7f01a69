package machine

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestProcess(t *testing.T) {
	t.Parallel()
	p, err := Start(t.TempDir(), "bash", "-c", "trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done")
	if err != nil {
		t.Fatal(err)
	}
	isUp := func(context.Context) error {
		if strings.Contains(p.output(), "up") {
			return nil
		}
		return errors.New("not up")
	}
	if err := p.Ready(t.Context(), isUp); err != nil {
		t.Error(err)
	}
	if err := p.End(time.Minute); err != nil {
		t.Error(err)
	}
	p.Kill() // there is nothing left
}

// TestProcess_Deaf: a server that does not listen to a signal is killed, and that is said.
func TestProcess_Deaf(t *testing.T) {
	t.Parallel()
	p, err := Server{Dir: t.TempDir(), Name: "bash", Args: []string{"-c", "trap '' TERM; echo $WORD; sleep 60"}, Env: []string{"WORD=deaf"}}.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	for !strings.Contains(p.output(), "deaf") {
		time.Sleep(time.Millisecond)
	}
	if err := p.End(50 * time.Millisecond); !errors.Is(err, ErrKilled) {
		t.Errorf("%v, want %v", err, ErrKilled)
	}
}

// TestReady_Ended: the wait ends for a server that has ended, and for its answer.
func TestReady_Ended(t *testing.T) {
	t.Parallel()
	p, err := Start(t.TempDir(), "bash", "-c", "echo why; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	err = p.Ready(t.Context(), func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	})
	if err == nil || !strings.Contains(err.Error(), "bash ended") || !strings.Contains(err.Error(), "why") {
		t.Error(err)
	}
}

func TestRun_Cause(t *testing.T) {
	t.Parallel()
	why := errors.New("why")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, why)
	defer cancel()
	if _, err := Run(ctx, t.TempDir(), nil, "sleep", "60"); !errors.Is(err, why) {
		t.Error(err)
	}
}

// TestFreeAddresses: they differ, and no listener or connection that lets the system choose
// gets one.
func TestFreeAddresses(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, address := range append(FreeAddresses(t, 20), FreeAddress(t)) {
		port, err := strconv.Atoi(Port(address))
		if err != nil || seen[address] || port < firstPort || port > lastPort {
			t.Errorf("%s, %v", address, err)
		}
		seen[address] = true
	}
	for range 20 {
		if chosen := Listener(t).Addr().(*net.TCPAddr).Port; chosen <= lastPort {
			t.Errorf("the system chose %d", chosen)
		}
	}
}

package switches

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/policy"
)

// TestBoard: of two settings of a switch the later counts, and messages of others
// are ignored.
func TestBoard(t *testing.T) {
	b := New(zap.NewNop)
	defer func() { _ = b.Close() }()
	var s policy.Switches
	b.Join("a.example", &s)
	now := time.Now()
	locked := func() bool { return s.InForce(time.Now).Locked }
	if err := b.SetLockdown("a.example", false, time.Hour, adminapi.By{Address: "test"}); err != nil || !locked() {
		t.Fatal(err)
	}
	on := b.settings[id{kind: kindLockdown, site: "a.example"}]
	older := on.setting
	older.Off, older.Set = true, on.Set-1
	l := &link{board: b, ctx: context.Background()}
	if l.take(older); !locked() {
		t.Error("an earlier setting counts")
	}
	later := on.setting
	later.Off, later.Set = true, on.Set+1
	if l.take(later); locked() {
		t.Error("a later setting does not count")
	}
	l.take(on.setting)
	if locked() {
		t.Error("the first setting counts again")
	}
	if err := b.SetLockdown("a.example", false, time.Hour, adminapi.By{Address: "test"}); err != nil || !locked() {
		t.Error("not locked again", err)
	}
	b.Leave("a.example", &s)
	var again policy.Switches
	if b.Join("a.example", &again); !again.InForce(time.Now).Locked {
		t.Error("the lockdown is lost with the site")
	}
	l.take(setting{Kind: kindLockdown, Site: "b.example", Until: now.Add(time.Hour).UnixMilli(), Set: 1})
	if len(b.settings) != 1 {
		t.Errorf("%v", b.settings)
	}
}

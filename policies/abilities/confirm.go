package abilities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/confirm"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/policy"
)

// ConfirmRule is one pattern of a line `confirm <pattern>...`.
type ConfirmRule struct {
	// Pattern is an ability's id or the name of a tool, with * for any part of it.
	Pattern string `json:"pattern"`
	// At is where the rule stands, "Caddyfile:12".
	At string `json:"at,omitempty"`
}

// Bounds of Abilities.ConfirmWithin.
const (
	defaultConfirmWithin = 15 * time.Minute
	minConfirmWithin     = 10 * time.Second
	maxConfirmWithin     = 24 * time.Hour
)

func (p *Abilities) configureConfirm(o policy.Option) (err error) {
	switch o.Name {
	case "confirm":
		if len(o.Args) == 0 || len(o.Block) > 0 {
			return o.Missing("takes one pattern or several")
		}
		for _, pattern := range o.Args {
			if err := cmp.Or(misplaced(pattern), CheckPattern(pattern)); err != nil {
				return o.Invalid(err)
			}
			p.Confirm = append(p.Confirm, ConfirmRule{Pattern: pattern, At: o.Pos})
		}
	case "confirm_within":
		err = o.Duration(&p.ConfirmWithin)
	case "notify":
		p.Notify, err = o.One()
	default:
		err = o.UnknownIn(blockWords...)
	}
	return err
}

// CheckPattern returns an error unless a pattern can be the id of an ability.
func CheckPattern(pattern string) error {
	if pattern == "" || strings.Trim(pattern, idLetters+toolExtras) != "" {
		return fmt.Errorf("%q cannot be the id of an ability, such as shop/product-delete", pattern)
	}
	return nil
}

// checkConfirm checks what is configured about confirmations, from Caddyfile and JSON alike.
func (p *Abilities) checkConfirm() error {
	for i := range p.Confirm {
		if err := CheckPattern(p.Confirm[i].Pattern); err != nil {
			return policy.Option{Pos: p.Confirm[i].At}.Errorf("confirm: %w", err)
		}
	}
	within := time.Duration(p.ConfirmWithin)
	switch {
	case within != 0 && (within < minConfirmWithin || within > maxConfirmWithin):
		return fmt.Errorf("confirm_within: %s is not between %s and %s", within, minConfirmWithin, maxConfirmWithin)
	case len(p.Confirm) == 0 && within != 0:
		return errors.New("confirm_within: nothing is confirmed: add confirm")
	case len(p.Confirm) == 0 && p.Notify != "":
		return errors.New("notify: nothing is confirmed: add confirm")
	case p.Notify != "" && !isWebAddress(p.Notify):
		return errors.New("notify: not an address such as https://chat.example.com/hook") // without it: it is a secret
	}
	p.within = cmp.Or(within, defaultConfirmWithin)
	return nil
}

func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

// Secrets returns the address of notify: who knows it can write there.
func (p *Abilities) Secrets() []policy.Secret {
	if p.Notify == "" {
		return nil
	}
	return []policy.Secret{{Text: &p.Notify}}
}

// Waiting is where the calls of a site wait for a person.
type Waiting struct {
	Ledger *confirm.Ledger
	New    func(*confirm.Confirmation) // is called for each new confirmation, of which a person is to be told
}

var waiting = policy.NewSiteSlot[Waiting]()

// Wait makes the calls of a site wait for a person. It is called before the first request; of a site without it
// none waits, and none can pass.
func Wait(s *policy.Site, w Waiting) { waiting.Keep(s, &w) }

// Confirms implements [policy.Confirmer].
func (p *Abilities) Confirms() bool { return len(p.Confirm) > 0 }

// Notifies implements [policy.Confirmer].
func (p *Abilities) Notifies() string { return p.Notify }

func (c *ConfirmRule) exact() bool { return !strings.Contains(c.Pattern, "*") }

// fits tells whether the rule is about s, or about the dashed name of an ability that the
// platform does not list.
func (c *ConfirmRule) fits(s *Subject) bool {
	return s.ID != "" && Glob(c.Pattern, s.ID) ||
		s.by != "" && (Glob(c.Pattern, s.by) || Glob(mcp.Dashed(c.Pattern), s.by)) ||
		s.Name != "" && Glob(c.Pattern, s.Name) || FitsName(c.Pattern, s)
}

// String is the rule's name in the log.
func (c *ConfirmRule) String() string { return "abilities confirm " + c.Pattern }

// confirms returns the rule for which s waits for a person, or nil. A wildcard leaves out
// what the platform says destroys nothing.
func (p *Abilities) confirms(s *Subject) *ConfirmRule {
	for i := range p.Confirm {
		if c := &p.Confirm[i]; c.fits(s) && (c.exact() || !s.about.harmless()) {
			return c
		}
	}
	return nil
}

// names tells whether the configuration names s without wildcard, as a destructive ability
// needs: the rule that allows it does, or one for confirmation.
func (p *Abilities) names(rule Rule, s *Subject) bool {
	return rule.names(s) || s.ID != "" && slices.ContainsFunc(p.Confirm, func(c ConfirmRule) bool { return c.Pattern == s.ID })
}

// confirm refuses a call that all rules allow until a person has confirmed it, and then lets
// it pass once. how says by what the door runs s; input is what s gets there.
func (p *Abilities) confirm(ctx context.Context, r *policy.Request, s *Subject, how string, input func() (any, bool, error)) (policy.Verdict, error) {
	rule := p.confirms(s)
	if rule == nil {
		return policy.Verdict{}, nil
	}
	by, v, err := p.confirmedFor(ctx, r, rule)
	if err != nil || v.Refused() {
		return v, err
	}
	asked, err := p.askedCall(r, s, how, input)
	switch {
	case errors.Is(err, confirm.ErrArguments):
		return rule.refuse(fmt.Sprintf("A person must confirm this call, but cannot: its arguments are too long to be shown (at most %d KiB).", confirm.MaxArguments>>10)), nil
	case err != nil:
		return policy.Verdict{}, err
	case r.IsPart:
		return rule.refuse("A person must confirm this call. Send it alone, not in a batch."), nil
	case r.WithOverride != nil || r.Call.WithoutOverride() != nil:
		return rule.refuse("A person must confirm this call. Send it without an override of the method."), nil
	case r.Observed || waiting.Of(r.Site) == nil:
		return rule.refuse("A person must confirm this call."), nil
	}
	asked.Caller = by
	c, made, err := waiting.Of(r.Site).Ledger.Ask(ctx, asked, p.within)
	full, isFull := errors.AsType[*confirm.TooManyError](err)
	switch {
	case isFull:
		v := policy.TooMany(policy.Seconds(time.Until(full.Until).Seconds()))
		v.Message, v.Rule, v.Pos, v.Origin = "Too many calls wait for a person. Please try again later.", rule.String(), rule.At, policy.OriginOwn
		return v, nil
	case err != nil:
		return policy.Verdict{}, fmt.Errorf("has a person confirmed the call: %w", err)
	case c.State == confirm.Used:
		confirmed.Set(r, c)
		return policy.Verdict{}, nil
	case made:
		waiting.Of(r.Site).New(c)
	}
	return rule.wait(c, time.Until(c.Expires)), nil
}

// confirmedFor returns the name of the caller whose calls are confirmed: a user, or a shop
// key that the platform accepts. Nobody else can ask for a confirmation.
func (p *Abilities) confirmedFor(ctx context.Context, r *policy.Request, rule *ConfirmRule) (by string, _ policy.Verdict, _ error) {
	refused := policy.Forbidden()
	refused.Rule, refused.Pos, refused.Origin = rule.String(), rule.At, policy.OriginOwn
	refused.Note = "A person confirms calls of users and of shop keys alone."
	claim, err := r.Claim()
	if err != nil || claim == caller.ClaimNothing {
		return "", refused, err
	}
	who, answer, err := r.Who(ctx)
	switch {
	case err != nil:
		return "", policy.Verdict{}, err
	case answer != nil:
		return "", policy.InPlatformWords(answer), nil
	}
	if by = r.NameOf(who); by == "" {
		return "", refused, nil
	}
	return by, policy.Verdict{}, nil
}

// refuse is the refusal of a call that waits for a person.
func (c *ConfirmRule) refuse(message string) policy.Verdict {
	return policy.Verdict{Status: http.StatusForbidden, Code: policy.CodeConfirm, Message: message, Rule: c.String(), Pos: c.At, Origin: policy.OriginOwn}
}

// wait refuses a call with what its caller needs to know of the confirmation, which lasts for
// left.
func (c *ConfirmRule) wait(made *confirm.Confirmation, left time.Duration) policy.Verdict {
	message := fmt.Sprintf("A person must confirm this call of %s: confirmation %s. Repeat exactly the same call once it has been given, within %s.",
		made.Ability, made.ID, inWords(left))
	if made.State == confirm.Rejected {
		message = fmt.Sprintf("A person has rejected this call of %s: confirmation %s."+noUse, made.Ability, made.ID)
	}
	v := c.refuse(message)
	v.Data = map[string]any{"confirmation": made.ID, "expires": made.Expires.Format(time.RFC3339)}
	return v
}

// inWords says how much time is left, in whole minutes, or in seconds below two. The first
// answer says the whole time, though a confirmation ends with a second.
func inWords(left time.Duration) string {
	if minutes := (left + 2*time.Second) / time.Minute; minutes >= 2 {
		return strconv.Itoa(int(minutes)) + " minutes"
	}
	seconds := strconv.Itoa(int(max(left, 0) / time.Second))
	if seconds == "1" {
		return "1 second"
	}
	return seconds + " seconds"
}

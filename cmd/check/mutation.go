package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/restwarden/restwarden/cmd/check/mutation"
)

// mutated are the packages that decide, with the files of them that do. The step tries their mutants in this order.
// What the frame and the rules do together is tested in policies/.
var mutated = []mutation.Package{
	{Dir: "policies/policy", Files: []string{"caller.go", "conditions.go", "rule.go", "target.go", "who.go"}},
	{
		Dir: "policies/access", Files: []string{"access.go", "conditions.go", "embed.go", "guard.go", "lockdown.go", "login_refusal.go"},
		Tests: []string{"policies"},
	},
	{Dir: "policies/call/routes", Files: []string{"pattern.go"}},
	{Dir: "policies/abilities", Files: []string{"rule.go"}},
	{Dir: "policies/condition"},
	{Dir: "policies/signature", Files: []string{"schemes.go", "signature.go", "verify.go"}},
	{Dir: "policies/checkout_total"},
}

const (
	// acceptedMutants is the list of survivors that no test can notice, with reasons.
	acceptedMutants = "cmd/check/testdata/mutants.txt"
	// leastKilled is how many of hundred mutants the tests of each package must notice. Accepted ones survive, too.
	leastKilled = 90
	// mutantLimit bounds the tests of one mutant.
	mutantLimit = 2 * time.Minute
)

// mutation holds the list of accepted mutants against the code. With --nightly it also tries all mutants, for as long as
// that says: what it could not try by then is a failure.
func (c *check) mutation(ctx context.Context) {
	start := time.Now()
	accepted, err := c.acceptedMutants()
	c.results.verdict("the packages, and what "+acceptedMutants+" names, are there", time.Since(start), "", err)
	if err != nil {
		return
	}
	if c.nightly == 0 {
		c.results.leave("the mutants of " + fmt.Sprint(len(mutated)) + " packages, which --nightly tries")
		return
	}
	dir, err := os.MkdirTemp("", "restwarden-mutation-")
	if err != nil {
		c.results.fail("mutation", err.Error())
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	run := mutation.Run{Root: c.root, Module: module, Dir: dir, Limit: mutantLimit}
	ctx, cancel := context.WithTimeoutCause(ctx, c.nightly, fmt.Errorf("it took longer than the %s of --nightly", c.nightly))
	defer cancel()
	if err := run.Install(ctx); err != nil {
		c.results.fail(mutation.Tool, err.Error())
		return
	}
	for _, p := range mutated {
		start := time.Now()
		mutants, err := mutantsOf(ctx, run, p)
		summary := p.Dir
		var survivors string
		if err == nil {
			summary, survivors, err = judgeMutants(p, mutants, accepted)
		}
		c.results.verdict(summary, time.Since(start), survivors, err)
	}
}

// acceptedMutants reads the list of accepted survivors, and holds it and the list of packages against the code.
func (c *check) acceptedMutants() (mutation.Accepted, error) {
	for _, p := range mutated {
		if err := p.Check(c.root); err != nil {
			return nil, err
		}
	}
	text, err := os.ReadFile(filepath.Join(c.root, acceptedMutants))
	if err != nil {
		return nil, err
	}
	accepted, err := mutation.ReadAccepted(string(text))
	if err != nil {
		return nil, err
	}
	stale, err := accepted.Stale(c.root)
	if err == nil && len(stale) > 0 {
		err = errors.New("this code is gone:\n" + strings.Join(stale, "\n"))
	}
	return accepted, err
}

// mutantsOf tries all mutants of a package.
func mutantsOf(ctx context.Context, run mutation.Run, p mutation.Package) ([]mutation.Mutant, error) {
	mutants, err := run.Gremlins(ctx, p)
	if err != nil {
		return nil, err
	}
	conditions, err := run.Conditions(ctx, p)
	if err != nil {
		return nil, err
	}
	if status, err := conditions.Try(ctx, 0); err != nil || status != mutation.Survived {
		return nil, errors.Join(err, fmt.Errorf("the tests of %s fail without a mutant", p.Dir))
	}
	var mu sync.Mutex
	var failed []error
	numbers := make([]int, len(conditions.Mutants))
	for i := range numbers {
		numbers[i] = i
	}
	atOnce(numbers, func(i int) {
		status, err := conditions.Try(ctx, i+1)
		mu.Lock()
		defer mu.Unlock()
		if conditions.Mutants[i].Status = status; err != nil {
			failed = append(failed, err)
		}
	})
	return append(mutants, conditions.Mutants...), errors.Join(failed...)
}

// judgeMutants says in a line what became of the mutants of a package. The error says that too few were noticed, or
// that one survived that is not accepted. Those are listed, as the list of accepted ones would have them.
func judgeMutants(p mutation.Package, mutants []mutation.Mutant, accepted mutation.Accepted) (summary, survivors string, err error) {
	count := map[mutation.Status]int{}
	var known int
	var found []string
	for _, m := range mutants {
		count[m.Status]++
		if m.Status != mutation.Survived {
			continue
		}
		if _, ok := accepted[m.Name()]; ok {
			known++
			continue
		}
		found = append(found, m.Name()+"\n\t("+m.Place+")")
	}
	noticed := count[mutation.Killed] + count[mutation.TimedOut]
	all := noticed + count[mutation.Survived]
	summary = fmt.Sprintf("%s: %d mutants, %d killed, %d timed out, %d survived (%d accepted), %d do not compile",
		p.Dir, all, count[mutation.Killed], count[mutation.TimedOut], count[mutation.Survived], known, count[mutation.NotViable])
	slices.Sort(found)
	var faults []error
	if noticed*100 < all*leastKilled || all == 0 {
		faults = append(faults, fmt.Errorf("the tests notice %d of %d mutants, and not %d %%", noticed, all, leastKilled))
	}
	if len(found) > 0 {
		faults = append(faults, fmt.Errorf("%d survivors are not in %s", len(found), acceptedMutants))
	}
	return summary, strings.Join(found, "\n\n"), errors.Join(faults...)
}

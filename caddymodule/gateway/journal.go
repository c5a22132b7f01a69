package gateway

import (
	"cmp"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/record"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

// journalLogger is the name of the journal below that of the module: http.handlers.restwarden.journal.
const journalLogger = "journal"

// What the option journal lets the journal tell of.
const (
	journalWrites = "writes" // calls that may change something
	journalAll    = "all"
	journalOff    = "off" // the default
)

func validateJournal(word string) error {
	return typo.CheckOption("journal", word, journalWrites, journalAll, journalOff)
}

// journal returns what the option journal says.
func (g *Gateway) journal() string { return cmp.Or(g.Journal, journalOff) }

// Bounds of the names of parameters in a line, in bytes and in number, and in all lines of a request.
const (
	maxMember     = 40
	maxMembers    = 50
	maxAllMembers = 200
)

// memberBytes are those of the names that the journal tells.
var memberBytes = between.AlnumAnd("_-")

// journal is what one request adds to the journal.
type journal struct {
	s     *site
	calls []record.Call
	heard heard
	start time.Time
}

// journal returns what the journal will tell of a request that passes, or nil. It asks nothing and reads no body. It
// prepares x for listening to the status of the platform's answer.
func (s *site) journal(x *exchange, d policy.Decision, start time.Time) *journal {
	r := &x.req
	if s.g.journal() == journalOff || d.Outcome == policy.Refuse || s.g.app.dry != nil {
		return nil
	}
	calls := r.Call.Each()
	if len(calls) == 0 { // a batch that nobody has opened
		calls = []*call.Call{r.Call}
	}
	who, _ := r.Known()
	common := record.Call{
		Version: record.Version, Site: s.Name, Credential: credentialOf(r), Caller: callerOf(r), UserID: who.ID,
	}
	if common.Credential == (record.Credential{}) && who.Kind == caller.Anonymous {
		return nil
	}
	j, names := &journal{s: s, start: start}, maxAllMembers
	for _, c := range calls {
		if !s.journals(x, c) {
			continue
		}
		if len(j.calls) == 0 {
			common.RequestID, common.Host = requestID(r.HTTP), s.hostFor(r.HTTP)
		}
		line, members := common, c.BodyNames()
		line.Method, line.Route, line.IDs = methodOf(c), s.routeOf(r.HTTP, c), idsOf(c, members)
		line.Members = membersOf(members, min(names, maxMembers))
		names -= len(line.Members)
		j.calls = append(j.calls, line)
	}
	if len(j.calls) == 0 {
		return nil
	}
	x.next = &listener{next: x.next, heard: &j.heard}
	return j
}

// journals tells whether the journal of the site tells of calls like c. A call without a certain reading has the
// method on the wire.
func (s *site) journals(x *exchange, c *call.Call) bool {
	method := c.Method
	if c.Kind == call.Refused {
		method = x.r.Method
	}
	switch method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return s.g.journal() == journalAll
}

// idsOf returns the numbers in the route of c, and the id that a parameter names: one in a body counts before that of
// the route (docs/platform I.3), and is known where names has it.
func idsOf(c *call.Call, names []string) (ids []uint64) {
	add := func(id uint64, ok bool) {
		if ok && !slices.Contains(ids, id) && len(ids) < maxIDs {
			ids = append(ids, id)
		}
	}
	for segment := range strings.SplitSeq(c.Key, "/") {
		add(call.ParseID(segment))
	}
	if _, inQuery := c.QueryVariable("id"); inQuery || slices.Contains(names, "id") {
		add(c.ItemID())
	}
	return ids
}

// membersOf returns the names of parameters that the journal tells, most at most, sorted. A name may hold anything.
func membersOf(names []string, most int) (plain []string) {
	for _, name := range names {
		if name != "" && len(name) <= maxMember && memberBytes.Holds(name) {
			plain = append(plain, name)
		}
	}
	slices.Sort(plain)
	plain = slices.Compact(plain)
	plain = slices.Clone(plain[:min(len(plain), most)])
	for i := range plain {
		plain[i] = strings.Clone(plain[i]) // not the body that it may be a part of
	}
	return plain
}

// log writes the lines.
func (j *journal) log() {
	took := time.Since(j.start)
	for i := range j.calls {
		line := &j.calls[i]
		line.Status, line.Took = j.heard.status, took
		if entry := j.s.journaled.Check(zap.InfoLevel, "call passed"); entry != nil {
			entry.Write(zap.Inline(object{reflect.ValueOf(line).Elem()}))
		}
	}
}

package gateway

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/record"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/caller"
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

// journalLines returns the lines that the journal has for calls of a request that passes, with a credential or by a line which opens
// them, but for what the platform answers. It asks nothing and reads no body.
func (s *site) journalLines(x *exchange, calls []*call.Call, credential record.Credential) (lines []record.Call) {
	r := &x.req
	who, _ := r.Known()
	nobody := credential == (record.Credential{}) && who.Kind == caller.Anonymous
	if len(calls) == 0 || nobody && !slices.ContainsFunc(calls, func(c *call.Call) bool { return r.OpenedBy(c) != nil }) {
		return nil
	}
	common := record.Call{
		Version: record.Version, RequestID: requestID(r.HTTP), Site: s.Name, Host: s.hostFor(r.HTTP), ClientIP: addressOf(r.Client),
		Credential: credential, Caller: callerOf(r), UserID: who.ID,
	}
	if whole := r.Call; len(whole.Parts) > 0 {
		common.Batch = methodOf(whole) + " " + s.routeOf(r.HTTP, whole)
	}
	left := maxAllMembers
	for _, c := range calls {
		line, names := common, c.BodyNames()
		if by := r.OpenedBy(c); by != nil {
			line.Rule = by.String()
		} else if nobody {
			continue
		}
		line.Method, line.Route, line.IDs = methodOf(c), s.routeOf(r.HTTP, c), idsOf(c, names)
		line.Members = membersOf(names, min(left, maxMembers))
		left -= len(line.Members)
		lines = append(lines, line)
	}
	return lines
}

// journaledOf returns the calls of a request that the journal tells of. For nearly all requests it takes no memory.
func (s *site) journaledOf(x *exchange) (calls []*call.Call) {
	c := x.req.Call
	if len(c.Parts) == 0 {
		if s.journals(x, c) {
			calls = append(calls, c)
		}
		return calls
	}
	for _, part := range c.Parts {
		if s.journals(x, part) {
			calls = append(calls, part)
		}
	}
	return calls
}

// journals tells whether the journal of the site tells of calls like c, and of what a line opens in any case. A call without a certain
// reading has the method on the wire.
func (s *site) journals(x *exchange, c *call.Call) bool {
	if x.req.OpenedBy(c) != nil {
		return true
	}
	if s.g.journal() == journalOff {
		return false
	}
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

// idsOf returns the numbers in the route of c, and the id that a parameter names, which counts before that of the
// route (docs/platform I.3). One in a body is known where names, those of what has been read of it, have it.
func idsOf(c *call.Call, names []string) (ids []uint64) {
	add := func(id uint64, ok bool) {
		if ok && !slices.Contains(ids, id) && len(ids) < maxIDs {
			ids = append(ids, id)
		}
	}
	for segment := range strings.SplitSeq(c.Key, "/") {
		add(call.ParseID(segment))
	}
	if slices.Contains(names, "id") {
		add(c.ItemID())
	} else if id, set := c.QueryVariable("id"); set {
		add(call.ParseID(id))
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

package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/google/uuid"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/restwarden/restwarden/caddymodule/record"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/openings"
	"github.com/restwarden/restwarden/policies/policy"
)

// maxIDs and maxRoles bound the ids and the roles in a record.
const (
	maxIDs   = 100
	maxRoles = 16
)

// Record is a record as the gateway writes it into the log.
type Record struct{ record.Record }

// MarshalLogObject implements zapcore.ObjectMarshaler.
func (rec *Record) MarshalLogObject(to zapcore.ObjectEncoder) error {
	return object{reflect.ValueOf(&rec.Record).Elem()}.MarshalLogObject(to)
}

// object writes a struct of package record.
type object struct{ reflect.Value }

// MarshalLogObject implements zapcore.ObjectMarshaler.
func (o object) MarshalLogObject(to zapcore.ObjectEncoder) (err error) {
	record.Walk(o.Value, func(name string, value reflect.Value) {
		switch value.Kind() {
		case reflect.String:
			to.AddString(name, value.String())
		case reflect.Int:
			to.AddInt64(name, value.Int())
		case reflect.Int64: // the only ones are times
			to.AddDuration(name, time.Duration(value.Int()))
		case reflect.Uint64:
			to.AddUint64(name, value.Uint())
		case reflect.Bool:
			to.AddBool(name, value.Bool())
		case reflect.Slice:
			err = errors.Join(err, to.AddArray(name, list(value)))
		case reflect.Struct:
			err = errors.Join(err, to.AddObject(name, object{value}))
		default: // a field of another kind needs a case
			err = errors.Join(err, fmt.Errorf("record: %s: %s", name, value.Kind()))
		}
	})
	return err
}

// list writes a list of texts or numbers.
func list(values reflect.Value) zapcore.ArrayMarshalerFunc {
	return func(to zapcore.ArrayEncoder) error {
		for _, value := range values.Seq2() {
			if value.Kind() == reflect.String {
				to.AppendString(value.String())
			} else {
				to.AppendUint64(value.Uint())
			}
		}
		return nil
	}
}

// named adds the id of a part of a batch.
func (rec *Record) named(part *call.Call) {
	if id, ok := part.ItemID(); ok && len(rec.IDs) < maxIDs {
		rec.IDs = append(rec.IDs, id)
	}
}

// alike tells whether two refused parts of a batch differ in their ids at most; new records have
// none.
func (rec *Record) alike(other *Record) bool {
	return rec.Code == other.Code && rec.Rule == other.Rule && rec.At == other.At && rec.Why == other.Why && rec.Method == other.Method &&
		rec.Route == other.Route && rec.Remedy == other.Remedy
}

// record returns the record of a decision on r.
func (s *site) record(r *policy.Request, d policy.Decision) Record {
	rec := Record{record.Record{
		Version: record.Version, RequestID: requestID(r.HTTP), Site: s.Name, Host: s.hostFor(r.HTTP), Base: s.Base,
		Policy: d.Policy, Code: string(d.Code()), Outcome: string(d.Outcome), Rule: d.Verdict.Rule, At: s.g.Lines.In(d.Verdict.Pos), Origin: d.Verdict.Origin,
		From: s.calledFrom(r.HTTP), Why: d.Why(), Scheme: schemeOf(r.HTTP), Method: methodOf(r.Call), Form: r.Call.FormName(), Parts: len(r.Call.Parts),
		Route: s.routeOf(r.HTTP, r.Call), ClientIP: addressOf(r.Client), Caller: callerOf(r),
		Credential: credentialOf(r),
	}}
	if who, known := r.Known(); known {
		rec.UserID, rec.Roles = who.ID, who.Roles[:min(len(who.Roles), maxRoles)]
	}
	if d.Err != nil {
		rec.Error = d.Err.Error()
	}
	rec.Imported = s.importedAt(rec.At)
	rec.Remedy = remedy(r, r.Call, d.Verdict, rec.Route)
	rec.mask()
	return rec
}

// credentialOf returns what a log says of the credential of r: the one that the platform has verified, or
// else the first that is claimed. What is claimed is the client's word, so that it is told only where it is plain.
func credentialOf(r *policy.Request) (c record.Credential) {
	found, ok := r.Verified()
	if !ok {
		if all, _ := r.Presented(); len(all) > 0 { // what else there may be is not told
			found = all[0]
		}
		if !caller.PlainLogin(found.Login) {
			found.Login = ""
		}
	}
	c = record.Credential{Kind: string(found.Kind), Key: found.Key, Login: found.Login, Claimed: found.Claimed}
	if r.Site.Scopes != nil && found.Kind != "" {
		var names []string
		names, c.UUID = r.Site.Scopes.Of(r, found)
		c.Scope, c.Claimed = strings.Join(names, ","), c.Claimed && c.UUID == "" // the platform has named the password
	}
	return c
}

// mask takes credentials in paths out of what the configuration and errors say. Routes have
// none, since those of the index are masked.
func (rec *Record) mask() {
	for _, text := range []*string{&rec.Rule, &rec.Why, &rec.Remedy, &rec.Error} {
		*text = routes.Masked(*text)
	}
}

// records returns the record of a decision, or those of the refused parts of a batch: one for
// all parts that are alike.
func (s *site) records(r *policy.Request, d policy.Decision) []Record {
	whole := s.record(r, d)
	if len(d.Verdict.Parts) == 0 {
		for _, part := range r.Call.Parts {
			whole.named(part)
		}
		return []Record{whole}
	}
	var parts []Record
	for _, part := range d.Verdict.Parts {
		rec, judged := whole, d
		judged.Verdict = part.Verdict
		rec.Code, rec.Why = string(judged.Code()), judged.Why()
		rec.Rule, rec.At, rec.Origin = part.Verdict.Rule, s.g.Lines.In(part.Verdict.Pos), part.Verdict.Origin
		if rec.Rule == "" && part.Verdict.Answer == nil { // the policy is one rule
			rec.Rule, rec.At, rec.Origin = whole.Rule, whole.At, whole.Origin
		}
		rec.Imported = s.importedAt(rec.At)
		rec.Method, rec.Route = methodOf(part.Call), s.routeOf(r.HTTP, part.Call)
		rec.Remedy = remedy(r, part.Call, part.Verdict, rec.Route)
		rec.mask()
		rec.named(part.Call)
		if i := slices.IndexFunc(parts, func(p Record) bool { return p.alike(&rec) }); i >= 0 {
			parts[i].named(part.Call)
			continue
		}
		parts = append(parts, rec)
	}
	return parts
}

// importedAt returns where the rule at a place was imported; a built-in rule has no place.
func (s *site) importedAt(at string) string {
	if at == "" {
		return ""
	}
	return s.g.Imported.At(at)
}

func remedy(r *policy.Request, c *call.Call, v policy.Verdict, route string) string {
	if !strings.HasPrefix(route, "/") { // unknown, or only a namespace
		return ""
	}
	return openings.Remedy(r, c, v, route)
}

// requestID returns Caddy's id of the request, and puts it into the access log as uuid.
func requestID(r *http.Request) string {
	if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		id, _ := repl.GetString("http.request.uuid")
		return id
	}
	return ""
}

// id returns the request's id once the handlers behind have the request. It does not write to the
// variables, as Caddy's placeholder does where it makes one.
func (x *exchange) id() string {
	repl, server := x.r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	made, _ := varsOf(x.r)["uuid"].(fmt.Stringer)
	switch {
	case x.uuid != "":
	case made != nil || !server:
		x.uuid = requestID(x.r)
	default:
		x.uuid = uuid.NewString()
		repl.Set("http.request.uuid", x.uuid)
		if log, ok := x.r.Context().Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok {
			log.Set(zap.String("uuid", x.uuid))
		}
	}
	return x.uuid
}

// routeOf returns the site's own pattern for the route of c. If the site's REST index is
// not known, it returns the namespace if that is a well-known one.
func (s *site) routeOf(r *http.Request, c *call.Call) string {
	if c.Kind == call.Refused {
		return index.Unknown
	}
	if x := discover.Of(&s.Site).Index(r.Host); x != nil {
		if pattern, ok := x.Pattern(c.Route); ok {
			return pattern
		}
		return index.Unknown
	}
	return index.Known(c.Route)
}

// schemeOf returns the scheme of the connection that r came by.
func schemeOf(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// methodOf returns the effective method of c. The platform takes any word for one.
func methodOf(c *call.Call) string {
	switch c.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, "":
		return c.Method
	}
	return other
}

// Values of a record's field from.
const (
	fromPage  = "page"
	fromOther = "other"
	fromNone  = "none"
)

// calledFrom says what a browser tells of the caller: that a page of the site made the
// call, that something else did, or nothing. Clients may send what they like.
func (s *site) calledFrom(r *http.Request) string {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin":
		return fromPage
	case "cross-site":
		return fromOther
	case "none": // typed, or from a bookmark
		return fromNone
	}
	for _, name := range []string{"Origin", "Referer"} {
		text := r.Header.Get(name)
		if text == "" {
			continue
		}
		u, err := url.Parse(text)
		if err == nil && u.Host != "" && (strings.EqualFold(u.Host, r.Host) || s.hostOf(u.Host, r) != other) {
			return fromPage
		}
		return fromOther
	}
	return fromNone
}

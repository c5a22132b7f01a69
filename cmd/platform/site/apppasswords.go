package site

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// appPassword is an application password of a user.
type appPassword struct {
	uuid, appID, name string
	secret            string // without blanks
	created           time.Time
	lastUsed          time.Time
	lastIP            string
}

// addAppPassword gives u a new application password and returns it as shown
// once: six groups of four characters.
func (s *Site) addAppPassword(u *user, name, appID string) (p *appPassword, shown string) {
	p = &appPassword{uuid: s.newUUID(), appID: appID, name: name, secret: s.token(24), created: s.opt.Now()}
	u.passwords = append(u.passwords, p)
	return p, grouped(p.secret)
}

// grouped writes a secret in groups of four.
func grouped(secret string) string {
	var groups []string
	for chunk := range slices.Chunk([]byte(secret), 4) {
		groups = append(groups, string(chunk))
	}
	return strings.Join(groups, " ")
}

func (s *Site) newUUID() string {
	b := s.random(16)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (s *Site) appPasswordRoutes() {
	const owner = `/users/(?P<user_id>(?:[\d]+|me))/application-passwords`
	const item = owner + `/(?P<uuid>[\w\-]+)`
	name := args{"name": {Type: "string", Required: true}, "app_id": {Type: "string"}}
	add := func(pattern, methods, action string, a args, run func(*request, *user) (any, error)) {
		s.router.add(s.names.Core, pattern, methods, endpoint{args: a, run: func(q *request) (any, error) {
			u, err := q.passwordOwner(action)
			if err != nil {
				return nil, err
			}
			return run(q, u)
		}})
	}
	add(owner, reading, "list application passwords", nil, listAppPasswords)
	add(owner, creating, "create application passwords", name, createAppPassword)
	add(owner, deleting, "delete application passwords", nil, deleteAppPasswords)
	add(owner+"/introspect", reading, "read application password", nil, introspectAppPassword)
	add(item, reading, "read application password", nil, withPassword(func(_ *request, _ *user, p *appPassword) (any, error) {
		return p.json(), nil
	}))
	add(item, editing, "edit application password", name, withPassword(func(q *request, _ *user, p *appPassword) (any, error) {
		p.name = q.str("name")
		return p.json(), nil
	}))
	add(item, deleting, "delete application password", nil, withPassword(deleteAppPassword))
}

// passwordOwner is the user that the route names, if the caller may manage
// that user's application passwords.
func (q *request) passwordOwner(action string) (*user, error) {
	u := q.user
	id := q.str("user_id")
	if id == "me" && u == nil {
		return nil, q.site.errNotLoggedIn()
	}
	if id != "me" {
		u = q.site.userByID(q.int("user_id"))
		if u == nil && q.user != nil {
			return nil, errUserID
		}
	}
	if q.user == nil || u == nil || !q.mayEdit(u) {
		return nil, q.denied("rest_cannot_"+strings.ReplaceAll(action, " ", "_"),
			"Sorry, you are not allowed to "+action+" for this user.")
	}
	return u, nil
}

func withPassword(run func(*request, *user, *appPassword) (any, error)) func(*request, *user) (any, error) {
	return func(q *request, u *user) (any, error) {
		for _, p := range u.passwords {
			if p.uuid == q.str("uuid") {
				return run(q, u, p)
			}
		}
		return nil, fail(http.StatusNotFound, "rest_application_password_not_found", "Application password not found.")
	}
}

func listAppPasswords(_ *request, u *user) (any, error) {
	out := []obj{}
	for _, p := range u.passwords {
		out = append(out, p.json())
	}
	return out, nil
}

func createAppPassword(q *request, u *user) (any, error) {
	name := strings.TrimSpace(q.str("name"))
	if name == "" {
		return nil, errInvalidParam("name", "An application name is required to create an application password.")
	}
	p, shown := q.site.addAppPassword(u, name, q.str("app_id"))
	o := p.json()
	o["password"] = shown
	return created(o), nil
}

// deleteAppPassword revokes: the password stops working at once (interface
// document E4).
func deleteAppPassword(_ *request, u *user, p *appPassword) (any, error) {
	u.passwords = slices.DeleteFunc(u.passwords, func(x *appPassword) bool { return x == p })
	return obj{"deleted": true, "previous": p.json()}, nil
}

func deleteAppPasswords(_ *request, u *user) (any, error) {
	n := len(u.passwords)
	u.passwords = nil
	return obj{"deleted": true, "count": n}, nil
}

func introspectAppPassword(q *request, u *user) (any, error) {
	login, secret, _ := q.wire.BasicAuth()
	if q.site.userByLogin(login) == u {
		if p := u.appPassword(secret); p != nil {
			return p.json(), nil
		}
	}
	return nil, fail(http.StatusNotFound, "rest_no_authenticated_app_password", "Cannot introspect application password.")
}

func (p *appPassword) json() obj {
	o := obj{
		"uuid": p.uuid, "app_id": p.appID, "name": p.name, "created": p.created.UTC().Format("2006-01-02T15:04:05"),
		"last_used": nil, "last_ip": nil,
	}
	if !p.lastUsed.IsZero() {
		o["last_used"], o["last_ip"] = p.lastUsed.UTC().Format("2006-01-02T15:04:05"), p.lastIP
	}
	return o
}

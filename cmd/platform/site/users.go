package site

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// user is an account.
type user struct {
	id         int
	login      string
	name       string
	email      string
	password   string
	roles      []string
	registered time.Time
	passwords  []*appPassword
	sessions   map[string]time.Time // token of a login, until when it is valid
	bearer     string

	toolSessions []toolSession // of agents, oldest first
}

func (s *Site) userRoutes() {
	core := s.names.Core
	ctx := args{"context": {Type: "string", Default: "view", Enum: []string{"view", "embed", "edit"}}}
	fields := args{
		"name": {Type: "string"}, "email": {Type: "string"}, "password": {Type: "string"}, "roles": {Type: "array"},
	}
	s.router.add(core, "/users", reading, endpoint{
		args: collection.with(ctx).with(ordered("asc", "id", "name", "slug", "registered_date")).
			with(args{"roles": {Type: "array"}, "slug": {Type: "array"}}),
		allow: func(q *request) error {
			if q.str("context") == "edit" && !q.can("list_users") {
				return q.denied("rest_forbidden_context", "Sorry, you are not allowed to list users.")
			}
			return nil
		},
		run: listUsers,
	})
	s.router.add(core, "/users", creating, endpoint{
		args:  fields.with(args{"username": {Type: "string", Required: true}}),
		allow: needs("create_users", "rest_cannot_create_user", "Sorry, you are not allowed to create new users."),
		run:   createUser,
	}).allowBatch = true
	id := args{"id": {Type: "integer", Description: "Unique identifier for the user."}}
	one := s.router.add(core, pathf("/users/%s", "id"), reading, endpoint{args: ctx.with(id), allow: mayReadUser, run: getUser})
	one.allowBatch = true
	s.router.add(core, pathf("/users/%s", "id"), editing, endpoint{args: fields.with(id), allow: mayEditUser, run: updateUser})
	s.router.add(core, pathf("/users/%s", "id"), deleting, endpoint{
		args:  id.with(args{"force": {Type: "boolean", Default: false}, "reassign": {Type: "integer", Required: true}}),
		allow: needs("delete_users", "rest_user_cannot_delete", "Sorry, you are not allowed to delete this user."),
		run:   deleteUser,
	})
	s.router.add(core, "/users/me", reading, endpoint{args: ctx, allow: loggedIn, run: func(q *request) (any, error) {
		return q.site.userJSON(q, q.user), nil
	}})
	s.router.add(core, "/users/me", editing, endpoint{args: fields, allow: loggedIn, run: func(q *request) (any, error) {
		return q.changeUser(q.user)
	}})
}

func loggedIn(q *request) error {
	if q.user == nil {
		return q.site.errNotLoggedIn()
	}
	return nil
}

// needs makes a permission check out of one capability.
func needs(capability, code, message string) func(*request) error {
	return func(q *request) error {
		if !q.can(capability) {
			return q.denied(code, message)
		}
		return nil
	}
}

func (s *Site) userByID(id int) *user {
	i, found := slices.BinarySearchFunc(s.users, id, func(u *user, id int) int { return cmp.Compare(u.id, id) })
	if !found {
		return nil
	}
	return s.users[i]
}

// userByLogin finds an account by its login name or e-mail address.
func (s *Site) userByLogin(login string) *user {
	for _, u := range s.users {
		if strings.EqualFold(u.login, login) || strings.EqualFold(u.email, login) {
			return u
		}
	}
	return nil
}

// listed tells whether everybody sees the name of u: by docs/project/interface 2 of every user, on
// real sites of those with published posts (docs/platform II).
func (s *Site) listed(u *user) bool {
	return !s.names.real() || slices.ContainsFunc(s.posts, func(p *post) bool { return p.author == u.id && p.status == "publish" })
}

// listUsers shows to callers who may not list users those that everybody sees.
func listUsers(q *request) (any, error) {
	if q.has("roles") && !q.can("list_users") {
		return nil, q.denied("rest_user_cannot_view", "Sorry, you are not allowed to filter users by role.")
	}
	include, exclude, roles := q.ints("include"), q.ints("exclude"), q.strings("roles")
	slugs, search := q.strings("slug"), strings.ToLower(q.str("search"))
	var found []*user
	for _, u := range q.site.users {
		switch {
		case !q.can("list_users") && !q.site.listed(u),
			len(include) > 0 && !slices.Contains(include, u.id),
			slices.Contains(exclude, u.id),
			len(slugs) > 0 && !slices.Contains(slugs, u.login),
			search != "" && !strings.Contains(strings.ToLower(u.login+" "+u.name), strings.Trim(search, "*")),
			len(roles) > 0 && !slices.ContainsFunc(roles, func(r string) bool { return slices.Contains(u.roles, r) }):
			continue
		}
		found = append(found, u)
	}
	arrange(q, found, map[string]func(a, b *user) int{
		"id":              func(a, b *user) int { return cmp.Compare(a.id, b.id) },
		"name":            func(a, b *user) int { return strings.Compare(a.name, b.name) },
		"slug":            func(a, b *user) int { return strings.Compare(a.login, b.login) },
		"registered_date": func(a, b *user) int { return a.registered.Compare(b.registered) },
	})
	out := []obj{}
	for _, u := range page(q, found) {
		out = append(out, q.site.userJSON(q, u))
	}
	return out, nil
}

var errUserID = fail(http.StatusNotFound, "rest_user_invalid_id", "Invalid user ID.")

func mayReadUser(q *request) error {
	u := q.site.userByID(q.int("id"))
	switch {
	case u == nil:
		return errUserID
	case u == q.user:
		return nil
	case q.str("context") == "edit" && !q.can("list_users"):
		return q.denied("rest_user_cannot_view", "Sorry, you are not allowed to edit users.")
	case !q.site.listed(u) && !q.can("list_users") && !q.can("edit_users"):
		return q.denied("rest_user_cannot_view", "Sorry, you are not allowed to list users.")
	}
	return nil
}

func getUser(q *request) (any, error) {
	return q.site.userJSON(q, q.site.userByID(q.int("id"))), nil
}

func mayEditUser(q *request) error {
	u := q.site.userByID(q.int("id"))
	switch {
	case u == nil:
		return errUserID
	case !q.mayEdit(u):
		return q.denied("rest_cannot_edit", "Sorry, you are not allowed to edit this user.")
	case q.has("roles") && !q.can("promote_users"):
		return q.denied("rest_cannot_edit_roles", "Sorry, you are not allowed to edit roles of this user.")
	}
	return nil
}

// mayEdit tells whether the caller may edit u: everybody oneself, managers
// nobody who is an administrator.
func (q *request) mayEdit(u *user) bool {
	return u == q.user || q.can("edit_users") && (q.can("manage_options") || !u.can("manage_options"))
}

func updateUser(q *request) (any, error) { return q.changeUser(q.site.userByID(q.int("id"))) }

// changeUser applies the user fields of the call to u. A new password ends all
// sessions.
func (q *request) changeUser(u *user) (any, error) {
	if q.has("roles") {
		roles := q.strings("roles")
		for _, role := range roles {
			if _, known := roleCapabilities[role]; !known {
				return nil, fail(http.StatusBadRequest, "rest_user_invalid_role", "The role "+role+" does not exist.")
			}
		}
		if !q.can("promote_users") {
			return nil, q.denied("rest_cannot_edit_roles", "Sorry, you are not allowed to edit roles of this user.")
		}
		u.roles = roles
	}
	if q.has("name") {
		u.name = q.str("name")
	}
	if q.has("email") {
		u.email = q.str("email")
	}
	if q.str("password") != "" {
		u.password = q.str("password")
		clear(u.sessions)
	}
	return q.site.userJSON(q, u), nil
}

var validLogin = regexp.MustCompile(`\A[A-Za-z0-9 _.@-]+\z`)

func createUser(q *request) (any, error) {
	login := q.str("username")
	if !validLogin.MatchString(login) {
		return nil, errInvalidParam("username", "This username is invalid because it uses illegal characters.")
	}
	if q.site.userByLogin(login) != nil {
		return nil, fail(http.StatusInternalServerError, "existing_user_login", "Sorry, that username already exists!")
	}
	u := q.site.addUser(login, "subscriber")
	body, err := q.changeUser(u)
	if err != nil {
		return nil, err
	}
	return created(body), nil
}

func deleteUser(q *request) (any, error) {
	s := q.site
	u := s.userByID(q.int("id"))
	if u == nil {
		return nil, errUserID
	}
	if !q.bool("force") {
		return nil, fail(http.StatusNotImplemented, "rest_trash_not_supported", "Users do not support trashing. Set 'force=true' to delete.")
	}
	previous := s.userJSON(q, u)
	s.users = slices.DeleteFunc(s.users, func(x *user) bool { return x == u })
	return obj{"deleted": true, "previous": previous}, nil
}

// userJSON is u for this caller: the edit context adds what only its owner and
// those who manage users see (docs/platform II).
func (s *Site) userJSON(q *request, u *user) obj {
	o := obj{
		"id": u.id, "name": u.name, "slug": u.login, "url": "", "description": "",
		"link":        s.homeURL(q.wire) + "/author/" + url.PathEscape(u.login) + "/",
		"avatar_urls": obj{}, "_links": obj{
			"self":       []obj{{"href": s.restURL(q.wire, "/"+s.names.Core+"/users/"+strconv.Itoa(u.id))}},
			"collection": []obj{{"href": s.restURL(q.wire, "/"+s.names.Core+"/users")}},
		},
	}
	writes := q.method != http.MethodGet && q.method != http.MethodHead
	if q.str("context") == "edit" || writes {
		caps := u.capabilities()
		extra := map[string]bool{}
		for _, role := range u.roles {
			extra[role] = true
		}
		maps.Copy(o, obj{
			"username": u.login, "email": u.email, "first_name": "", "last_name": "", "locale": "en_US", "nickname": u.login,
			"registered_date": u.registered.Format(time.RFC3339), "roles": slices.Clone(u.roles),
			"capabilities": caps, "extra_capabilities": extra,
		})
	}
	return o
}

package site

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// post is an article or a page of the site.
type post struct {
	id, author     int
	kind           string // post or page
	title, content string
	status         string
	date           time.Time
	autosaves      []*post // what the editor saved beside it, one a user
}

func (s *Site) postRoutes() {
	core := s.names.Core
	for _, kind := range []string{"post", "page"} {
		s.kindRoutes(kind)
	}
	s.router.add(core, "/taxonomies", reading, endpoint{
		args: args{"context": {Type: "string"}, "type": {Type: "string"}}, run: func(_ *request) (any, error) {
			out := obj{}
			for slug, name := range map[string]string{"category": "Categories", "post_tag": "Tags", "product_cat": "Product categories"} {
				out[slug] = taxonomyJSON(slug, name)
			}
			return out, nil
		},
	})
}

// kindRoutes are the routes of one kind of article.
func (s *Site) kindRoutes(kind string) {
	core, base := s.names.Core, "/"+kind+"s"
	id := args{"id": {Type: "integer", Description: "Unique identifier for the post."}, "context": {Type: "string"}}
	fields := args{
		"title": {}, "content": {}, "status": {Type: "string", Enum: []string{"publish", "draft", "pending", "private"}},
	}
	mayEdit := func(q *request) error { return q.mayEditPost(kind) }
	s.router.add(core, base, reading, endpoint{
		args: collection.with(args{"context": {Type: "string"}}), run: func(q *request) (any, error) { return listPosts(q, kind) },
	})
	s.router.add(core, base, creating, endpoint{
		args:  fields,
		allow: needs("edit_"+kind+"s", "rest_cannot_create", "Sorry, you are not allowed to create posts as this user."),
		run:   func(q *request) (any, error) { return createPost(q, kind) },
	}).allowBatch = true
	s.router.add(core, pathf(base+"/%s", "id"), reading, endpoint{args: id, run: func(q *request) (any, error) {
		p, err := q.post(kind)
		if err != nil {
			return nil, err
		}
		return q.site.postJSON(q, p), nil
	}}).allowBatch = true
	s.router.add(core, pathf(base+"/%s", "id"), editing, endpoint{
		args: fields.with(id), allow: mayEdit, run: func(q *request) (any, error) { return updatePost(q, kind) },
	})
	s.router.add(core, pathf(base+"/%s/autosaves", "id"), reading, endpoint{
		args: id, allow: mayEdit, run: func(q *request) (any, error) { return listAutosaves(q, kind) },
	})
	s.router.add(core, pathf(base+"/%s/autosaves", "id"), creating, endpoint{
		args: fields.with(id), allow: mayEdit, run: func(q *request) (any, error) { return autosave(q, kind) },
	})
}

func taxonomyJSON(slug, name string) obj {
	kinds, base := []string{"post"}, map[string]string{"category": "categories", "post_tag": "tags", "product_cat": "product_cat"}[slug]
	if slug == "product_cat" {
		kinds = []string{"product"}
	}
	return obj{"name": name, "slug": slug, "description": "", "types": kinds, "hierarchical": slug != "post_tag", "rest_base": base}
}

// post is the article of the call, if the caller may see it.
func (q *request) post(kind string) (*post, error) {
	p, err := q.anyPost(kind)
	if err != nil {
		return nil, err
	}
	if p.status != "publish" && !q.canEditPost(p) {
		return nil, q.forbidden()
	}
	return p, nil
}

// anyPost is the article of the call, for any caller.
func (q *request) anyPost(kind string) (*post, error) {
	i := slices.IndexFunc(q.site.posts, func(p *post) bool { return p.id == q.int("id") && p.kind == kind })
	if i < 0 {
		return nil, fail(http.StatusNotFound, "rest_post_invalid_id", "Invalid post ID.")
	}
	return q.site.posts[i], nil
}

// mayEditPost is the permission check of the routes that change an article.
func (q *request) mayEditPost(kind string) error {
	p, err := q.anyPost(kind)
	if err != nil {
		return err
	}
	if !q.canEditPost(p) {
		return q.denied("rest_cannot_edit", "Sorry, you are not allowed to edit this post.")
	}
	return nil
}

// canEditPost tells whether the caller may change p. The author needs a right of its own once p
// is published; everybody else needs the right to edit what others wrote.
func (q *request) canEditPost(p *post) bool {
	switch {
	case q.user == nil || p.author != q.user.id:
		return q.can("edit_others_" + p.kind + "s")
	case p.status == "publish":
		return q.can("edit_published_" + p.kind + "s")
	}
	return q.can("edit_" + p.kind + "s")
}

func listPosts(q *request, kind string) (any, error) {
	var found []*post
	for _, p := range q.site.posts {
		if p.status == "publish" && p.kind == kind {
			found = append(found, p)
		}
	}
	out := []obj{}
	for _, p := range page(q, found) {
		out = append(out, q.site.postJSON(q, p))
	}
	return out, nil
}

func createPost(q *request, kind string) (any, error) {
	p := &post{id: q.site.id(), kind: kind, author: q.user.id, status: "draft", date: q.site.opt.Now()}
	q.site.posts = append(q.site.posts, p)
	q.applyPost(p)
	return created(q.site.postJSON(q, p)), nil
}

func updatePost(q *request, kind string) (any, error) {
	p, err := q.post(kind)
	if err != nil {
		return nil, err
	}
	q.applyPost(p)
	return q.site.postJSON(q, p), nil
}

func (q *request) applyPost(p *post) {
	q.applyText(p)
	if q.has("status") {
		p.status = q.str("status")
	}
}

// applyText writes title and content of the call to p.
func (q *request) applyText(p *post) {
	for field, to := range map[string]*string{"title": &p.title, "content": &p.content} {
		if v, set := q.param(field); set {
			if raw := object(v)["raw"]; raw != nil {
				v = raw
			}
			*to = text(v)
		}
	}
}

func (s *Site) postJSON(q *request, p *post) obj {
	self := s.restURL(q.wire, "/"+s.names.Core+"/"+p.kind+"s/"+strconv.Itoa(p.id))
	author := s.restURL(q.wire, "/"+s.names.Core+"/users/"+strconv.Itoa(p.author))
	return obj{
		"id": p.id, "date": p.date.UTC().Format(date), "status": p.status, "type": p.kind, "author": p.author,
		"link":  s.homeURL(q.wire) + "/?p=" + strconv.Itoa(p.id),
		"title": obj{"rendered": p.title}, "content": obj{"rendered": s.renderBlocks(p.content), "protected": false},
		"_links": obj{"self": []obj{{"href": self}}, "author": []obj{{"embeddable": true, "href": author}}},
	}
}

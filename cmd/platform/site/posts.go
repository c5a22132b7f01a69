package site

import (
	"net/http"
	"strconv"
	"time"
)

// post is an article.
type post struct {
	id, author     int
	title, content string
	status         string
	date           time.Time
}

func (s *Site) postRoutes() {
	core := s.names.Core
	id := args{"id": {Type: "integer"}, "context": {Type: "string"}}
	fields := args{
		"title": {}, "content": {}, "status": {Type: "string", Enum: []string{"publish", "draft", "pending", "private"}},
	}
	s.router.add(core, "/posts", reading, endpoint{args: collection.with(args{"context": {Type: "string"}}), run: listPosts})
	s.router.add(core, "/posts", creating, endpoint{
		args:  fields,
		allow: needs("edit_posts", "rest_cannot_create", "Sorry, you are not allowed to create posts as this user."), run: createPost,
	}).allowBatch = true
	s.router.add(core, pathf("/posts/%s", "id"), reading, endpoint{args: id, run: func(q *request) (any, error) {
		p, err := q.post()
		if err != nil {
			return nil, err
		}
		return q.site.postJSON(q, p), nil
	}}).allowBatch = true
	s.router.add(core, pathf("/posts/%s", "id"), editing, endpoint{
		args:  fields.with(id),
		allow: needs("edit_others_posts", "rest_cannot_edit", "Sorry, you are not allowed to edit this post."), run: updatePost,
	})
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

func taxonomyJSON(slug, name string) obj {
	kinds, base := []string{"post"}, map[string]string{"category": "categories", "post_tag": "tags", "product_cat": "product_cat"}[slug]
	if slug == "product_cat" {
		kinds = []string{"product"}
	}
	return obj{"name": name, "slug": slug, "description": "", "types": kinds, "hierarchical": slug != "post_tag", "rest_base": base}
}

// post is the article of the call, if the caller may see it.
func (q *request) post() (*post, error) {
	for _, p := range q.site.posts {
		if p.id == q.int("id") {
			if p.status != "publish" && !q.can("edit_others_posts") {
				return nil, q.forbidden()
			}
			return p, nil
		}
	}
	return nil, fail(http.StatusNotFound, "rest_post_invalid_id", "Invalid post ID.")
}

func listPosts(q *request) (any, error) {
	var found []*post
	for _, p := range q.site.posts {
		if p.status == "publish" {
			found = append(found, p)
		}
	}
	out := []obj{}
	for _, p := range page(q, found) {
		out = append(out, q.site.postJSON(q, p))
	}
	return out, nil
}

func createPost(q *request) (any, error) {
	p := &post{id: q.site.id(), author: q.user.id, status: "draft", date: q.site.opt.Now()}
	q.site.posts = append(q.site.posts, p)
	q.applyPost(p)
	return created(q.site.postJSON(q, p)), nil
}

func updatePost(q *request) (any, error) {
	p, err := q.post()
	if err != nil {
		return nil, err
	}
	q.applyPost(p)
	return q.site.postJSON(q, p), nil
}

func (q *request) applyPost(p *post) {
	for field, to := range map[string]*string{"title": &p.title, "content": &p.content} {
		if v, set := q.param(field); set {
			if raw := object(v)["raw"]; raw != nil {
				v = raw
			}
			*to = text(v)
		}
	}
	if q.has("status") {
		p.status = q.str("status")
	}
}

func (s *Site) postJSON(q *request, p *post) obj {
	self := s.restURL(q.wire, "/"+s.names.Core+"/posts/"+strconv.Itoa(p.id))
	author := s.restURL(q.wire, "/"+s.names.Core+"/users/"+strconv.Itoa(p.author))
	return obj{
		"id": p.id, "date": p.date.UTC().Format(date), "status": p.status, "type": "post", "author": p.author,
		"link":  s.homeURL(q.wire) + "/?p=" + strconv.Itoa(p.id),
		"title": obj{"rendered": p.title}, "content": obj{"rendered": s.renderBlocks(p.content), "protected": false},
		"_links": obj{"self": []obj{{"href": self}}, "author": []obj{{"embeddable": true, "href": author}}},
	}
}

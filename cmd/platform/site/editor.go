package site

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// What the editor and the admin screens save by REST beside posts and pages (docs/project/interface
// 1, rule 10): autosaves and widgets.

func listAutosaves(q *request, kind string) (any, error) {
	p, err := q.post(kind)
	if err != nil {
		return nil, err
	}
	out := []obj{}
	for _, saved := range p.autosaves {
		out = append(out, saved.autosaveJSON(p))
	}
	return out, nil
}

// autosave saves a draft of the caller's own in place, and anything else beside the post,
// which stays as it is published.
func autosave(q *request, kind string) (any, error) {
	p, err := q.post(kind)
	if err != nil {
		return nil, err
	}
	if p.status == "draft" && p.author == q.user.id {
		q.applyText(p)
		return q.site.postJSON(q, p), nil
	}
	i := slices.IndexFunc(p.autosaves, func(saved *post) bool { return saved.author == q.user.id })
	if i < 0 {
		i = len(p.autosaves)
		p.autosaves = append(p.autosaves, &post{id: q.site.id(), author: q.user.id, title: p.title, content: p.content})
	}
	p.autosaves[i].date = q.site.opt.Now()
	q.applyText(p.autosaves[i])
	return p.autosaves[i].autosaveJSON(p), nil
}

func (p *post) autosaveJSON(of *post) obj {
	return obj{
		"id": p.id, "parent": of.id, "author": p.author, "date": p.date.UTC().Format(date), "slug": strconv.Itoa(of.id) + "-autosave-v1",
		"title": obj{"raw": p.title, "rendered": p.title}, "content": obj{"raw": p.content, "rendered": p.content},
	}
}

// widget is a block in a sidebar.
type widget struct{ id, sidebar, content string }

func (s *Site) widgetRoutes() {
	core := s.names.Core
	may := needs("edit_theme_options", "rest_cannot_manage_widgets", "Sorry, you are not allowed to manage widgets on this site.")
	fields := args{"sidebar": {Type: "string"}, "instance": {Type: "object"}}
	const one = `/widgets/(?P<id>[\w\-]+)`
	s.router.add(core, "/widgets", reading, endpoint{allow: may, run: func(q *request) (any, error) {
		out := []obj{}
		for _, w := range q.site.widgets {
			out = append(out, w.json())
		}
		return out, nil
	}})
	s.router.add(core, "/widgets", creating, endpoint{args: fields, allow: may, run: createWidget}).allowBatch = true
	s.router.add(core, one, reading, endpoint{allow: may, run: func(q *request) (any, error) {
		w, err := q.widget()
		if err != nil {
			return nil, err
		}
		return w.json(), nil
	}}).allowBatch = true
	s.router.add(core, one, editing, endpoint{args: fields, allow: may, run: func(q *request) (any, error) {
		w, err := q.widget()
		if err != nil {
			return nil, err
		}
		q.applyWidget(w)
		return w.json(), nil
	}})
}

func createWidget(q *request) (any, error) {
	w := &widget{id: "block-" + strconv.Itoa(q.site.id()), sidebar: "sidebar-1"}
	q.applyWidget(w)
	q.site.widgets = append(q.site.widgets, w)
	return created(w.json()), nil
}

func (q *request) widget() (*widget, error) {
	for _, w := range q.site.widgets {
		if strings.EqualFold(w.id, q.str("id")) {
			return w, nil
		}
	}
	return nil, fail(http.StatusNotFound, "rest_widget_not_found", "No widget was found with that id.")
}

func (q *request) applyWidget(w *widget) {
	if q.has("sidebar") {
		w.sidebar = q.str("sidebar")
	}
	if v, set := q.param("instance"); set {
		w.content = text(object(object(v)["raw"])["content"])
	}
}

func (w *widget) json() obj {
	return obj{
		"id": w.id, "id_base": "block", "sidebar": w.sidebar, "rendered": w.content,
		"instance": obj{"raw": obj{"content": w.content}},
	}
}

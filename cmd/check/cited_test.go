package main

import (
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// place is what a citation names: a section, one item of it (a numbered line or a
// row of a table), or an item of the whole document.
type place struct{ document, section, item string }

func (p place) String() string {
	s := docs + p.document
	if p.section != "" {
		s += " " + p.section
	}
	switch {
	case p.item != "" && p.section != "":
		s += ", item " + p.item
	case p.item != "":
		s += " " + p.item
	}
	return s
}

// docs is separate from the documents' names, since this file would cite them otherwise.
const docs = "docs/"

const (
	// gap is what may stand between two words: blanks, or one end of a line and the
	// leader of a comment.
	gap = "[ \\t]*(?:\\r?\\n[ \\t]*(?:(?://|[*#>])[ \\t]*)?)?"
	// kind says what the next labels are.
	kind = "(?:([Pp]arts?|sections?|rules?)" + gap + ")?"
	// label looks like a number, whether a document has such numbers or not.
	label = `((?:[IVXLC]+\b|[ivxlc]+\.\d|[A-Z]*\d)\w*(?:\.\w+)*)`
)

var (
	documentName = regexp.MustCompile(docs + "(platform|project/interface|project/design)\\b`?")
	isPath       = regexp.MustCompile(`^(?:[/\w-]|\.\w)`)
	firstLabel   = regexp.MustCompile("^()" + gap + kind + label)
	nextLabel    = regexp.MustCompile("^" + gap + "([,;]|and\\b|or\\b|to\\b)" + gap + "(?:and\\b" + gap + ")?" + kind + label)
	// unread is a label in a form that readCitation would overlook: after the name of a
	// document, after the name of a page, and after labels.
	unread    = regexp.MustCompile("^[ \\t]*(?:[,:;(#§-]" + gap + ")?" + kind + label)
	unreadOf  = regexp.MustCompile(`^[\w./-]*\.md[ \t]+` + kind + label)
	unreadEnd = regexp.MustCompile("^[ \\t]*[-–/§#]?" + kind + label)
)

// readCitation reads the labels after the name of a document. A label of an unknown form
// is an error.
func readCitation(document, text string) (places []place, err error) {
	if isPath.MatchString(text) {
		return nil, overlooked(document, text, unreadOf)
	}
	places, text, err = readLabels(place{document: document}, text)
	switch {
	case err != nil:
		return places, err
	case len(places) == 0:
		return nil, overlooked(document, text, unread)
	}
	return places, overlooked(document, text, unreadEnd)
}

// readLabels returns the places that the labels at the head of text name, and the rest.
func readLabels(at place, text string) (places []place, rest string, err error) {
	asRule := false
	for next := firstLabel; ; next = nextLabel {
		m := next.FindStringSubmatch(text)
		if m == nil {
			return places, text, nil
		}
		text = text[len(m[0]):]
		separator, kind, label := m[1], m[2], m[3]
		if kind != "" || separator == ";" {
			asRule = strings.HasPrefix(kind, "rule")
		}
		before := at
		if at, err = at.named(label, asRule); err != nil {
			return places, text, err
		}
		if separator == "to" {
			between, err := before.upTo(at)
			if err != nil {
				return places, text, err
			}
			places = append(places, between...)
		}
		places = append(places, at)
	}
}

// overlooked returns an error if text begins with a label in an odd form.
func overlooked(document, text string, odd *regexp.Regexp) error {
	if m := odd.FindString(text); m != "" {
		return fmt.Errorf("%s%s: %q is in no form that is known", docs, document, strings.TrimSpace(m))
	}
	return nil
}

var (
	partLabel     = regexp.MustCompile(`^[IVXLC]+(?:\.\d+)*$`)
	numberLabel   = regexp.MustCompile(`^\d+$`)
	rowLabel      = regexp.MustCompile(`^[A-Z]\d+$`)
	endpointLabel = regexp.MustCompile(`^E\d+$`)
)

// named returns the place that a label after a citation of p means.
func (p place) named(label string, asRule bool) (place, error) {
	number := numberLabel.MatchString(label)
	switch {
	case p.document == "platform" && partLabel.MatchString(label):
		return place{p.document, label, ""}, nil
	case p.document == "platform" && p.section != "" && (number || rowLabel.MatchString(label)):
		return place{p.document, p.section, label}, nil
	case p.document == "project/interface" && endpointLabel.MatchString(label):
		return place{p.document, "", label}, nil
	case p.document == "project/interface" && number && asRule && p.section != "":
		return place{p.document, p.section, label}, nil
	case p.document != "platform" && number && !asRule:
		return place{p.document, label, ""}, nil
	}
	return p, fmt.Errorf("%s%s has no numbers like %s", docs, p.document, label)
}

var lastNumber = regexp.MustCompile(`^(.*?)(\d+)$`)

// upTo returns the places between p and last.
func (p place) upTo(last place) (between []place, err error) {
	from, to := lastNumber.FindStringSubmatch(p.section), lastNumber.FindStringSubmatch(last.section)
	if last.item != "" {
		from, to = lastNumber.FindStringSubmatch(p.item), lastNumber.FindStringSubmatch(last.item)
	}
	if from == nil || to == nil || from[1] != to[1] {
		return nil, fmt.Errorf("%v to %v is no range", p, last)
	}
	a, _ := strconv.Atoi(from[2])
	b, _ := strconv.Atoi(to[2])
	if a >= b {
		return nil, fmt.Errorf("%v to %v is no range", p, last)
	}
	for n := a + 1; n < b; n++ {
		one := last
		if last.item != "" {
			one.item = from[1] + strconv.Itoa(n)
		} else {
			one.section = from[1] + strconv.Itoa(n)
		}
		between = append(between, one)
	}
	return between, nil
}

// citedDocument is the text of one document by its sections; "" is the whole text.
type citedDocument map[string][]string

var (
	fenced         = regexp.MustCompile("(?ms)^```.*?^```")
	sectionHeading = regexp.MustCompile(`(?m)^(#+)[ \t]+(?:Part[ \t]+)?([IVXLC]+(?:\.\d+)*|[A-Z]?\d+)[.:]?(?:[ \t].*)?$`)
	anyHeading     = regexp.MustCompile(`(?m)^(#+)[ \t]`)
)

// citedDocuments reads the documents that are cited: a page under docs, or all
// pages of a directory there.
func citedDocuments(t *testing.T, tree fs.FS) map[string]citedDocument {
	t.Helper()
	cited := map[string]citedDocument{}
	for _, name := range []string{"platform", "project/interface", "project/design"} {
		pages, err := fs.Glob(tree, docs+name+"/*.md")
		if err != nil {
			t.Fatal(err)
		}
		cited[name] = citedDocument{}
		for _, page := range append(pages, docs+name+".md") {
			text, err := fs.ReadFile(tree, page)
			if err == nil {
				cited[name].add(fenced.ReplaceAllString(string(text), ""))
			}
		}
	}
	return cited
}

// add puts the sections of a page in. A section has its own sub-sections in it.
func (d citedDocument) add(text string) {
	d[""] = append(d[""], text)
	for _, m := range sectionHeading.FindAllStringSubmatchIndex(text, -1) {
		level, label, body := m[3]-m[2], text[m[4]:m[5]], text[m[1]:]
		for _, h := range anyHeading.FindAllStringSubmatchIndex(body, -1) {
			if h[3]-h[2] <= level {
				body = body[:h[0]]
				break
			}
		}
		d[label] = append(d[label], body)
	}
}

// resolve returns an error unless p is exactly one place.
func (d citedDocument) resolve(p place) error {
	texts := d[p.section]
	if p.section != "" && len(texts) != 1 {
		return fmt.Errorf("%v is the number of %d headings", p, len(texts))
	}
	if p.item == "" {
		return nil
	}
	name := regexp.QuoteMeta(p.item)
	item := regexp.MustCompile("(?m)^(?:" + name + `\.[ \t]|\|[ \t]*[*_]*` + name + `[*_]*[ \t]*\||#+[ \t]+` + name + `\b)`)
	if n := len(item.FindAllString(strings.Join(texts, "\n"), -1)); n != 1 {
		return fmt.Errorf("%v is the number of %d lines, rows and headings", p, n)
	}
	return nil
}

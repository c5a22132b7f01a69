package main

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// item is one statement of docs/project/interface.md: a numbered rule, a row of a table, or a
// paragraph. Its name is the section and the rule's number, the first cell of the row, or
// the text of the paragraph: "5 rule 1", "4 E12", "3 A feature flag goes …".
type item struct {
	section, name, text string
	cells               []string // of a table's row
}

var (
	sectionLine = regexp.MustCompile(`^## (?:(\d)\. )?`)
	ruleLine    = regexp.MustCompile(`^(\d+)\. (.*)`)
	ruler       = regexp.MustCompile(`^\|[-|]+\|$`)
)

// itemsOf reads the statements of the document's text. A paragraph that ends with a colon
// only introduces what follows it.
func itemsOf(text string) []item {
	var all []item
	section, paragraph, open := "", "", false // open: the last item goes on in the next line
	end := func() {
		if p := strings.TrimSpace(paragraph); p != "" && !strings.HasSuffix(p, ":") {
			all = append(all, item{section: section, name: section + " " + plainText(p), text: p})
		}
		paragraph = ""
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch m := ruleLine.FindStringSubmatch(line); {
		case strings.HasPrefix(line, "#"):
			end()
			if m := sectionLine.FindStringSubmatch(line); m != nil {
				section = cmp.Or(m[1], "names")
			}
			open = false
		case section == "": // what the page says about itself
		case strings.HasPrefix(trimmed, "|"):
			end()
			open = false
			if heads := i+1 < len(lines) && ruler.MatchString(strings.TrimSpace(lines[i+1])); !heads && !ruler.MatchString(trimmed) {
				all = append(all, rowItem(section, trimmed))
			}
		case m != nil:
			end()
			all, open = append(all, item{section: section, name: section + " rule " + m[1], text: m[2]}), true
		case trimmed == "":
			end()
		case open && strings.HasPrefix(line, "   "):
			all[len(all)-1].text += " " + trimmed
		default:
			paragraph, open = paragraph+" "+trimmed, false
		}
	}
	end()
	return all
}

// rowItem is a row of a table. The errors of section 7 are named by status and code.
func rowItem(section, line string) item {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	name := cells[0]
	if section == "7" && len(cells) > 1 {
		name += " " + cells[1]
	}
	return item{section: section, name: section + " " + plainText(name), text: strings.Join(cells, " "), cells: cells}
}

func plainText(s string) string { return strings.ReplaceAll(s, "`", "") }

// named returns the items that a name means: the one of exactly this name, else those
// whose names begin with these words.
func named(items []item, name string) []item {
	var begin []item
	for _, it := range items {
		rest, ok := strings.CutPrefix(it.name, name)
		switch {
		case ok && rest == "":
			return []item{it}
		case ok && !unicode.IsLetter(rune(rest[0])) && !unicode.IsDigit(rune(rest[0])):
			begin = append(begin, it)
		}
	}
	return begin
}

// gaps compares the document's text with the rows and with what is out of reach. It
// returns each statement that neither names, each name that is not of one statement, and
// each code and message that no row expects.
func gaps(text string, all []row, beyond []outside) []string {
	var found []string
	items, of := itemsOf(text), map[string]string{}
	note := func(name, where string) {
		its := named(items, name)
		if len(its) != 1 {
			found = append(found, fmt.Sprintf("%s %q names %d statements", where, name, len(its)))
			return
		}
		if before := of[its[0].name]; before != "" && before != where {
			found = append(found, fmt.Sprintf("%q is both covered and out of reach", its[0].name))
		}
		of[its[0].name] = where
	}
	for i := range all {
		for _, name := range all[i].names() {
			note(name, "row")
		}
	}
	for _, o := range beyond {
		if !o.part {
			note(o.of, "out of reach")
		} else if len(named(items, o.of)) != 1 {
			found = append(found, fmt.Sprintf("out of reach %q names no statement", o.of))
		}
	}
	for _, it := range items {
		if of[it.name] == "" {
			found = append(found, fmt.Sprintf("no row names %q", it.name))
		}
	}
	return append(found, unexpected(items, text, expectations(all))...)
}

var (
	errorCode = regexp.MustCompile("`((?:shop_)?rest_[a-z_]+)`")
	codeCell  = regexp.MustCompile("`([a-z_]+)`")
	quoted    = regexp.MustCompile(`"([A-Z][^"]* [^"]*)"`)
	status    = regexp.MustCompile(`\b[45]\d\d\b`)
	// notCodes look like codes: a query variable and a hook.
	notCodes = []string{"rest_route", "rest_authentication_errors"}
)

// unexpected returns the codes and messages of the document that no row expects. A row of
// section 7 must be expected as a whole: one of its statuses with its code and its message.
func unexpected(items []item, text string, expected []string) []string {
	var found []string
	_, text, _ = strings.Cut(text, "\n## ")
	text = strings.Join(strings.Fields(text), " ")
	for _, m := range errorCode.FindAllStringSubmatch(text, -1) {
		if code := m[1]; !slices.Contains(notCodes, code) && !someContain(expected, " "+code+" ") {
			found = append(found, fmt.Sprintf("no row expects the code %s", code))
		}
	}
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		if !someContain(expected, `"`+m[1]+`"`) {
			found = append(found, fmt.Sprintf("no row expects the message %q", m[1]))
		}
	}
	for _, it := range items {
		if it.section != "7" || len(it.cells) < 3 {
			continue
		}
		for _, m := range codeCell.FindAllStringSubmatch(it.cells[1], -1) {
			want := " " + m[1] + " "
			if message := quoted.FindString(it.text); message != "" {
				want += message
			}
			if !slices.ContainsFunc(status.FindAllString(it.cells[0], -1), func(status string) bool { return someContain(expected, status+want) }) {
				found = append(found, fmt.Sprintf("no row expects %s%s", it.cells[0], want))
			}
		}
	}
	return found
}

func someContain(all []string, part string) bool {
	return slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, part) })
}

// expectations returns every answer that the rows expect, of bare platform and gateway.
func expectations(all []row) []string {
	var out []string
	for i := range all {
		r := &all[i]
		for _, release := range releases {
			out = append(out, r.bare(release), answerOf(r.defaults(release)), answerOf(r.closed(release)))
		}
	}
	return out
}

// fingerprints returns a sum of the text of each section.
func fingerprints(text string) map[string]string {
	sums := map[string]string{}
	for part := range strings.SplitSeq(text, "\n## ") {
		if m := sectionLine.FindStringSubmatch("## " + part); m != nil && !strings.HasPrefix(part, "# ") {
			sums[cmp.Or(m[1], "names")] = fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(strings.Join(strings.Fields(part), " "))))
		}
	}
	return sums
}

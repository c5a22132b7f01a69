package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestDocument_Planted: a statement, a code or a message that is added to the document
// without a row is a gap, wherever it is added, and so is a row or an entry of what is out
// of reach for which there is no statement.
func TestDocument_Planted(t *testing.T) {
	t.Parallel()
	document := interfaceText(t)
	for name, planted := range map[string]struct{ before, line, gap string }{
		"rule of section 1":       {"\n## 2. Resources", "11. Orders can be printed.\n", `no row names "1 rule 11"`},
		"resource":                {"| order | `<order_id>`", "| invoice | none | x |\n", `no row names "2 invoice"`},
		"field of an ability":     {"| `label` | string", "| `icon` | string | picture |\n", `no row names "2 icon"`},
		"flag":                    {"| product gallery video", "| new tax screen | x |\n", `no row names "2 new tax screen"`},
		"record type":             {"| the same on the order", "| the id's record is a refund | 200 | 400 |\n", `no row names "3 the id's record is a refund"`},
		"paragraph":               {"A feature flag goes", "Orders never end.\n\n", `no row names "3 Orders never end."`},
		"endpoint":                {"\nE13 returns stored", "| E15 | GET | `cms/v2/media` | nothing | Pictures. |\n", `no row names "4 E15"`},
		"rule of routing":         {"\n## 5. Auth", "8. Slashes at the end do not count.\n", `no row names "4 rule 8"`},
		"method":                  {"| OAuth | A", "| passkey | A method. |\n", `no row names "5 passkey"`},
		"rule of authentication":  {"\n## 6. Events", "7. Cookies end after a day.\n", `no row names "5 rule 7"`},
		"event":                   {"| A product changes.", "| An order is paid. | A mail. |\n", `no row names "6 An order is paid."`},
		"error":                   {"| 500 | left open", "| 429 | `rest_too_many` | Too often. |\n", "no row expects 429 rest_too_many"},
		"rule of versions":        {"7. Left open: how and", "8. Release 12.0 is next.\n", `no row names "9 rule 8"`},
		"change of a release":     {"   | embed block", "   | coupons | Coupons stack. |\n", `no row names "9 coupons"`},
		"row of the naming table": {"| nonce variable", "| media namespace | `cms-media` | `wp-media` |\n", `no row names "names media namespace"`},
		"code in a rule":          {"2. Extensions have the hook", "7. Others get `rest_cannot_sign`.\n", "no row expects the code rest_cannot_sign"},
		"message in a rule":       {"2. Extensions have the hook", "7. Others get \"You cannot sign this.\".\n", `no row expects the message "You cannot sign this."`},
		"message of an error":     {"| 500 | left open", "| 403 | `rest_forbidden` | \"Not on Sundays.\" |\n", `no row expects 403 rest_forbidden "Not on Sundays."`},
	} {
		before, after, found := strings.Cut(document, planted.before)
		if !found {
			t.Fatalf("%s: no %q in the document", name, planted.before)
		}
		changed := before + planted.line + planted.before + after
		if found := gaps(changed, rows(), outOfReach); !someContain(found, planted.gap) {
			t.Errorf("%s: the gap is not found, but %q", name, found)
		}
	}
	for name, planted := range map[string]struct {
		row    row
		beyond outside
		gap    string
	}{
		"row of nothing":       {row{of: "4 E15", bare: ok}, outside{of: "8 Left open"}, `row "4 E15" names 0 statements`},
		"row of many":          {row{of: "4 E12; 4 rule", bare: ok}, outside{of: "8 Left open"}, `row "4 rule" names 7 statements`},
		"both":                 {row{of: "8 Left open", bare: ok}, outside{of: "4 E15"}, "is both covered and out of reach"},
		"out of reach nowhere": {row{of: "4 E1", bare: ok}, outside{of: "4 E15", part: true}, `out of reach "4 E15" names no statement`},
	} {
		if found := gaps(document, append(rows(), planted.row), append(slices.Clone(outOfReach), planted.beyond)); !someContain(found, planted.gap) {
			t.Errorf("%s: the gap is not found, but %q", name, found)
		}
	}
}

// TestDocument_Sections: a changed sentence changes the sum of its section alone.
func TestDocument_Sections(t *testing.T) {
	t.Parallel()
	document := interfaceText(t)
	sums := fingerprints(document)
	if len(sums) != 10 {
		t.Fatalf("sections %v", sums)
	}
	for section, sum := range fingerprints(strings.Replace(document, "E4 revokes it.", "E4 revokes it at once.", 1)) {
		if changed := sum != sums[section]; changed != (section == "5") {
			t.Errorf("section %s: changed %v", section, changed)
		}
	}
	if again := fingerprints(strings.ReplaceAll(document, "\n3. ", "\n\n3.  ")); !maps.Equal(again, sums) {
		t.Error("another space changes a sum")
	}
}

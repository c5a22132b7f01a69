package index

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
)

// Bounds of what is read. The site's owner writes the patterns, but nothing that a site
// says may cost the other sites much.
const (
	maxPattern = 1000 // bytes of a pattern
	maxDepth   = 20   // groups in groups
	maxNodes   = 1000 // nodes once repetitions are written out
)

// errOpaque says that a pattern is none of the language that this package reads.
var errOpaque = errors.New("a pattern of another kind")

// node is one item of a sequence: a literal byte, a class or a group, and how often it
// stands there.
type node struct {
	set      *set     // of a class
	lit      byte     // of a literal, and "." for a class that is written so
	alts     [][]node // of a group
	name     string   // of a named group
	min, max int      // max is -1 where there is none
}

func (n *node) once() bool { return n.min == 1 && n.max == 1 }

// literal tells whether n is the byte c, or any byte where c is 0.
func (n *node) literal(c byte) bool {
	return n.lit != 0 && n.set == nil && (c == 0 || n.lit == c)
}

// parser reads the part of PCRE in which Go and PCRE agree.
type parser struct {
	text  string
	at    int
	depth int
	names []string
}

// parse returns the sequence that a pattern stands for, or errOpaque.
func parse(text string) ([]node, error) {
	if len(text) > maxPattern || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' }) {
		return nil, errOpaque
	}
	if !strings.HasSuffix(text, `\$`) {
		text = strings.TrimSuffix(text, "$") // the platform adds another one
	}
	p := &parser{text: text}
	alts, err := p.alternatives()
	// An alternative outside of groups has no "^" or no "$" of its own.
	if err != nil || p.at != len(text) || len(alts) != 1 || weight(alts) > maxNodes {
		return nil, errOpaque
	}
	return alts[0], nil
}

// weight is the number of nodes once repetitions are written out.
func weight(alts [][]node) int {
	sum := 0
	for _, seq := range alts {
		for i := range seq {
			one := 1
			if seq[i].alts != nil {
				one += weight(seq[i].alts)
			}
			sum = min(sum+one*max(1, seq[i].min, seq[i].max), maxNodes+1)
		}
	}
	return sum
}

func (p *parser) more() bool { return p.at < len(p.text) }

// next tells whether the text goes on with s, and steps over it.
func (p *parser) next(s string) bool {
	if strings.HasPrefix(p.text[p.at:], s) {
		p.at += len(s)
		return true
	}
	return false
}

func (p *parser) alternatives() (alts [][]node, err error) {
	if p.depth++; p.depth > maxDepth {
		return nil, errOpaque
	}
	defer func() { p.depth-- }()
	for {
		seq := []node{}
		for p.more() && p.text[p.at] != '|' && p.text[p.at] != ')' {
			n, err := p.item()
			if err != nil {
				return nil, err
			}
			seq = append(seq, n)
		}
		alts = append(alts, seq)
		if !p.next("|") {
			return alts, nil
		}
	}
}

// item reads one item and how often it stands there.
func (p *parser) item() (n node, err error) {
	c := p.text[p.at]
	p.at++
	switch c {
	case '(':
		n, err = p.group()
	case '[':
		n.set, err = p.class()
	case '.':
		s := anything()
		n.set, n.lit = &s, c
	case '\\':
		n, err = p.escape()
	case '*', '+', '?', '^', '$', '{', '@': // "@" would end PHP's expression
		return n, errOpaque
	default:
		n.lit = c
	}
	if err != nil {
		return n, err
	}
	return n, p.quantity(&n)
}

func (p *parser) group() (n node, err error) {
	if p.next("?") {
		switch {
		case p.next(":"):
		case p.next("P<"), p.next("<"):
			end := strings.IndexByte(p.text[p.at:], '>')
			if end < 0 || !isName(p.text[p.at:p.at+end]) || slices.Contains(p.names, p.text[p.at:p.at+end]) {
				return n, errOpaque
			}
			n.name = p.text[p.at : p.at+end]
			p.names = append(p.names, n.name)
			p.at += end + 1
		default:
			return n, errOpaque
		}
	} else if strings.HasPrefix(p.text[p.at:], "*") { // a verb
		return n, errOpaque
	}
	if n.alts, err = p.alternatives(); err != nil || !p.next(")") {
		return n, errOpaque
	}
	return n, nil
}

// isName tells whether s is the name of a group.
func isName(s string) bool {
	return s != "" && len(s) <= 32 && (s[0] < '0' || s[0] > '9') && wordBytes.Holds(s)
}

var wordBytes = between.AlnumAnd("_")

// escape reads what stands behind a backslash outside of a class.
func (p *parser) escape() (n node, err error) {
	if !p.more() {
		return n, errOpaque
	}
	c := p.text[p.at]
	p.at++
	if s, ok := classOf(c); ok {
		n.set = &s
		return n, nil
	}
	word := types['w']
	if word.has(c) && c != '_' {
		return n, errOpaque
	}
	n.lit = c
	return n, nil
}

// quantity reads how often the item before it stands there. Lazy is as good as greedy: the
// same routes match.
func (p *parser) quantity(n *node) error {
	n.min, n.max = 1, 1
	switch {
	case p.next("?"):
		n.min = 0
	case p.next("*"):
		n.min, n.max = 0, -1
	case p.next("+"):
		n.max = -1
	case p.next("{"):
		least, most, ok := p.counts()
		if !ok {
			return errOpaque
		}
		n.min, n.max = least, most
	default:
		return nil
	}
	p.next("?")
	if p.more() && strings.IndexByte("*+?{", p.text[p.at]) >= 0 { // possessive, or an error
		return errOpaque
	}
	return nil
}

// counts reads "3}", "3,}" or "3,5}".
func (p *parser) counts() (least, most int, ok bool) {
	inner, rest, ok := strings.Cut(p.text[p.at:], "}")
	if !ok {
		return 0, 0, false
	}
	low, high, comma := strings.Cut(inner, ",")
	least, ok = count(low)
	most = least
	if comma && ok {
		if most = -1; high != "" {
			most, ok = count(high)
			ok = ok && most >= least
		}
	}
	p.at = len(p.text) - len(rest)
	return least, most, ok && most != 0
}

func count(s string) (int, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n <= 1000 // more than Go's regexp takes
}

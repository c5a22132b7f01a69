package index

import "strings"

// class reads a class behind its "[".
func (p *parser) class() (*set, error) {
	s, inverted := new(set), p.next("^")
	for first := true; ; first = false {
		if !p.more() {
			return nil, errOpaque
		}
		if !first && p.next("]") {
			break
		}
		lo, members, err := p.member()
		if err != nil {
			return nil, err
		}
		ranged := strings.HasPrefix(p.text[p.at:], "-") && !strings.HasPrefix(p.text[p.at:], "-]")
		switch {
		case members != nil && ranged: // an error since PCRE2
			return nil, errOpaque
		case members != nil:
			s.join(*members)
		case ranged:
			p.at++
			hi, members, err := p.member()
			if err != nil || members != nil || hi < lo {
				return nil, errOpaque
			}
			s.add(lo, hi)
		default:
			s.add(lo, lo)
		}
	}
	s.fold()
	if inverted {
		s.invert()
	}
	return s, nil
}

// member reads one member of a class: a byte, or several by one name.
func (p *parser) member() (c byte, members *set, err error) {
	if !p.more() {
		return 0, nil, errOpaque
	}
	c = p.text[p.at]
	p.at++
	switch {
	case c == '[' && p.more() && strings.IndexByte(":.=", p.text[p.at]) >= 0:
		for name, s := range posix {
			if p.next(":" + name + ":]") {
				return 0, &s, nil
			}
		}
		return 0, nil, errOpaque
	case c == '@': // it ends PHP's expression
		return 0, nil, errOpaque
	case c != '\\':
		return c, nil, nil
	case !p.more():
		return 0, nil, errOpaque
	}
	c = p.text[p.at]
	p.at++
	if s, ok := classOf(c); ok {
		return 0, &s, nil
	}
	if word := types['w']; word.has(c) && c != '_' {
		return 0, nil, errOpaque
	}
	return c, nil, nil
}

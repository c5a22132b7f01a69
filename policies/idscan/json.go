package idscan

// step is what may come next, by the grammar of RFC 8259.
type step uint8

const (
	atValue     step = iota // a value
	atFirst                 // a value, or the end of an array
	atFirstName             // a name, or the end of an object
	atName                  // a name
	atColon                 // the colon behind a name
	behindValue             // a comma, or the end of the container
	atEnd                   // nothing but white space
	inString                // in a string
	inEscape                // behind a backslash
	inHex                   // in the digits of \u
	inLiteral               // in true, false or null
	behindMinus             // a digit of a number
	behindZero              // no digit
	inInteger               // digits
	behindPoint             // a digit of a fraction
	inFraction              // digits
	behindE                 // a sign or a digit of an exponent
	behindSign              // a digit of an exponent
	inExponent              // digits
)

func digit(c byte) bool { return c >= '0' && c <= '9' }

func space(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// next takes one byte.
func (s *Scanner) next(c byte) {
	switch s.step {
	case inString:
		s.inString(c)
	case inEscape, inHex:
		s.inEscape(c)
	case inLiteral:
		s.inLiteral(c)
	case behindMinus, behindZero, inInteger, behindPoint, inFraction, behindE, behindSign, inExponent:
		s.inNumber(c)
	default:
		if !space(c) {
			s.between(c)
		}
	}
}

// between takes a byte between names and values.
func (s *Scanner) between(c byte) {
	switch {
	case s.step == atFirst && c == ']', s.step == atFirstName && c == '}':
		s.close(c)
	case s.step == atValue, s.step == atFirst:
		s.value(c)
	case (s.step == atFirstName || s.step == atName) && c == '"':
		s.inName, s.nameLen, s.escaped = true, 0, false
		s.step = inString
	case s.step == atColon && c == ':':
		s.step = atValue
	case s.step == behindValue && c == ',':
		if s.step = atValue; s.inObject() {
			s.step = atName
		}
	case s.step == behindValue && (c == ']' || c == '}'):
		s.close(c)
	default:
		s.failed = true
	}
}

// value takes the first byte of a value.
func (s *Scanner) value(c byte) {
	if s.begin(c); s.failed {
		return
	}
	switch {
	case c == '{' || c == '[':
		s.open(c)
	case c == '"':
		s.inName, s.step = false, inString
	case c == '-':
		s.step = behindMinus
	case c == '0':
		s.step = behindZero
	case digit(c):
		s.step = inInteger
	case c == 't':
		s.literal, s.step = "true"[1:], inLiteral
	case c == 'f':
		s.literal, s.step = "false"[1:], inLiteral
	case c == 'n':
		s.literal, s.step = "null"[1:], inLiteral
	default:
		s.failed = true
	}
}

func (s *Scanner) open(c byte) {
	if s.depth == MaxDepth {
		s.failed = true
		return
	}
	bit := uint64(1) << (s.depth % 64)
	if s.step = atFirst; c == '{' {
		s.step = atFirstName
		s.objects[s.depth/64] |= bit
	} else {
		s.objects[s.depth/64] &^= bit
	}
	s.depth++
}

// inObject tells whether the innermost container is an object.
func (s *Scanner) inObject() bool {
	at := s.depth - 1
	return s.depth > 0 && s.objects[at/64]&(1<<(at%64)) != 0
}

func (s *Scanner) close(c byte) {
	if s.depth == 0 || s.inObject() != (c == '}') {
		s.failed = true
		return
	}
	if s.inRecord() {
		s.ended()
	}
	s.depth--
	s.behind()
}

// behind follows a value.
func (s *Scanner) behind() {
	if s.step = behindValue; s.depth == 0 {
		s.step = atEnd
	}
}

// inString takes a byte of a string that plainLen has not taken.
func (s *Scanner) inString(c byte) {
	switch {
	case c == '\\':
		s.step, s.escaped = inEscape, s.escaped || s.inName
	case c < ' ':
		s.failed = true
	case s.inName:
		s.step = atColon
		s.named()
	default:
		s.behind()
	}
}

// keepName keeps a piece of a name, as far as names matter.
func (s *Scanner) keepName(piece []byte) {
	if s.depth > s.inner {
		return
	}
	if s.nameLen < maxName {
		copy(s.name[s.nameLen:], piece)
	}
	s.nameLen = min(s.nameLen+len(piece), maxName+1)
}

func (s *Scanner) inEscape(c byte) {
	switch {
	case s.step == inHex:
		if !digit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			s.failed = true
		}
		if s.escapes--; s.escapes == 0 {
			s.step = inString
		}
	case c == 'u':
		s.step, s.escapes = inHex, 4
	case c == '"' || c == '\\' || c == '/' || c == 'b' || c == 'f' || c == 'n' || c == 'r' || c == 't':
		s.step = inString
	default:
		s.failed = true
	}
}

func (s *Scanner) inLiteral(c byte) {
	if c != s.literal[0] {
		s.failed = true
		return
	}
	if s.literal = s.literal[1:]; s.literal == "" {
		s.behind()
	}
}

// inNumber takes a byte of a number, or the one behind it.
func (s *Scanner) inNumber(c byte) {
	next, ok := numberStep(s.step, c)
	switch {
	case ok:
		s.step = next
		s.digit(c)
	case s.step == behindZero, s.step == inInteger, s.step == inFraction, s.step == inExponent:
		s.behind()
		s.next(c)
	default:
		s.failed = true
	}
}

// numberStep returns the step behind c, if c goes on with a number.
func numberStep(at step, c byte) (next step, ok bool) {
	switch {
	case at == behindMinus && c == '0':
		return behindZero, true
	case (at == behindMinus || at == inInteger) && digit(c):
		return inInteger, true
	case (at == behindZero || at == inInteger) && c == '.':
		return behindPoint, true
	case (at == behindPoint || at == inFraction) && digit(c):
		return inFraction, true
	case (at == behindZero || at == inInteger || at == inFraction) && c|0x20 == 'e':
		return behindE, true
	case at == behindE && (c == '+' || c == '-'):
		return behindSign, true
	case (at == behindE || at == behindSign || at == inExponent) && digit(c):
		return inExponent, true
	}
	return at, false
}

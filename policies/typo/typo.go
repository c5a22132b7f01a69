// Package typo finds the word of a closed set that a misspelled word may stand for.
//
// It has an edit distance of its own: twenty lines that count two swapped letters as one
// slip, which the common libraries do not.
package typo

import (
	"fmt"
	"slices"
	"strings"
)

// mostListed is how many words an error names one by one, mostNear how many near ones.
const (
	mostListed = 24
	mostNear   = 5
)

// List names words for an error: all of them, or a few of many and how many more there are.
func List(words []string) string {
	if len(words) <= mostListed {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:mostNear], ", "), len(words)-mostNear)
}

// Error is the error about a word that is none of a closed set.
type Error struct {
	Text  string
	Words []string // the set
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// Check returns nil if word is one of words. The error, an *Error, names the words, a few of many,
// and the nearest of them.
func Check(word string, words ...string) error {
	if slices.Contains(words, word) {
		return nil
	}
	text := "is not one of " + List(words)
	if len(words) == 2 {
		text = "is neither " + words[0] + " nor " + words[1]
	}
	if hint := Hint(word, words...); hint != "" {
		text += ": " + hint
	}
	return &Error{Text: fmt.Sprintf("%q %s", word, text), Words: words}
}

// CheckOption is Check for an option that may be missing. The error begins with its name.
func CheckOption[T ~string](name string, word T, words ...string) error {
	if word == "" || slices.Contains(words, string(word)) {
		return nil
	}
	return fmt.Errorf("%s: %w", name, Check(string(word), words...))
}

// Hint returns "did you mean x?", or "" if word is near none of words.
func Hint(word string, words ...string) string {
	near := Words(word, words...)
	if len(near) == 0 {
		return ""
	}
	more := ""
	if len(near) > mostNear {
		near, more = near[:mostNear], fmt.Sprintf(" or one of %d more like these", len(near)-mostNear)
	}
	return "did you mean " + strings.Join(near, " or ") + more + "?"
}

// Words returns those of words that are nearest to word: those with the fewest slips, one
// slip for every four letters at most, or else those that begin with word. Case does not
// count, nor does "-" for "_".
func Words(word string, words ...string) []string {
	given := fold(word)
	if given == "" || len(given) > maxLength {
		return nil
	}
	fewest := (len(given) + 3) / 4
	var near, longer []string
	for _, candidate := range words {
		known := fold(candidate)
		slips := distance(given, known)
		switch {
		case slips < fewest:
			fewest, near = slips, []string{candidate}
		case slips == fewest:
			near = append(near, candidate)
		case len(given) >= minPrefix && strings.HasPrefix(known, given):
			longer = append(longer, candidate)
		}
	}
	if near == nil {
		return longer
	}
	return near
}

const (
	maxLength = 64 // more letters are no word
	minPrefix = 3  // fewer letters begin too many words
)

func fold(word string) string { return strings.ReplaceAll(strings.ToLower(word), "-", "_") }

// distance counts the slips between a and b: a letter left out, added or replaced, or two
// neighbours swapped (the optimal string alignment distance).
func distance(a, b string) int {
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, replaced)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

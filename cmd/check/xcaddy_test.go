package main

import "testing"

// TestOwnCaddy: the module in a Caddy that has another plugin, too.
func TestOwnCaddy(t *testing.T) {
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	out, err := buildOwnCaddy(t.Context(), root, "xcaddy build --with github.com/restwarden/restwarden/caddymodule")
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestWordsOf: macros of a manual page are no words.
func TestWordsOf(t *testing.T) {
	t.Parallel()
	if got := wordsOf(".PP\n\\fBexplain\\fP says --what\n.SH X"); got != " explain says what X " {
		t.Errorf("%q", got)
	}
}

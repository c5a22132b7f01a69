package main

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"
)

// written writes the files of a tree.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// texts are those of a new pair of keys.
func texts(t *testing.T) (public, secret string) {
	t.Helper()
	p, s, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := func(text []byte, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	return of(p.MarshalText()), of(s.MarshalText())
}

const sums = "0123  caddy-restwarden_1.2.3_amd64.deb\n3456  restwarden_1.2.3.vex.cdx.json\n4567  restwarden_1.2.3_linux_amd64.tar.gz\n"

// TestSign: what is signed is what the sums say, with the key of the project and no other.
func TestSign(t *testing.T) {
	public, secret := texts(t)
	other, _ := texts(t)
	template, err := os.ReadFile("minisign.pub")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ public, secret, sums, want string }{
		"a key":              {public, secret, sums, ""},
		"no key":             {public, "\n", sums, "MINISIGN_SECRET_KEY: is empty"},
		"half a key":         {public, secret[:60], sums, "MINISIGN_SECRET_KEY: "},
		"the key of another": {other, secret, sums, "is not the key"},
		"no key was made":    {"untrusted comment: none\n", secret, sums, "untrusted comment: none"},
		"no archive":         {public, secret, "0123  x\n", "names no archive"},
	} {
		root := written(t, map[string]string{"cmd/release/minisign.pub": tt.public, "dist/SHA256SUMS": tt.sums})
		t.Setenv("MINISIGN_SECRET_KEY", tt.secret)
		err := sign(root, filepath.Join(root, "dist"))
		signature, _ := os.ReadFile(filepath.Join(root, "dist", "SHA256SUMS.minisig"))
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(signature) > 0 {
				t.Errorf("%s: %v, want %q, and no signature: %q", name, err, tt.want, signature)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var key minisign.PublicKey
		if err := key.UnmarshalText([]byte(public)); err != nil {
			t.Fatal(err)
		}
		if !minisign.Verify(key, []byte(sums), signature) || !strings.Contains(string(signature), "restwarden v1.2.3 SHA256SUMS") {
			t.Errorf("%s: %s", name, signature)
		}
		if minisign.Verify(key, []byte(sums+" "), signature) {
			t.Errorf("%s: other sums are verified, too", name)
		}
	}
	if text := string(template); !strings.HasPrefix(text, "untrusted comment: ") {
		t.Errorf("minisign.pub: %s", text)
	}
}

// TestNotes: a section ends where the next begins, and its links lead to the tag.
func TestNotes(t *testing.T) {
	t.Parallel()
	root := written(t, map[string]string{"CHANGELOG.md": "# Changelog\n\n## Unreleased\n\nx\n\n## v0.2.0\n\n### Added\n\n- [a](docs/a.md), [b](docs/b.md#c), [d](https://e.example/f)\n\n## v0.1.0\n\nold\n\n## v0.0.1\n"})
	const want = "### Added\n\n- [a](https://github.com/restwarden/restwarden/blob/v0.2.0/docs/a.md), " +
		"[b](https://github.com/restwarden/restwarden/blob/v0.2.0/docs/b.md#c), [d](https://e.example/f)\n"
	if got, err := notes(root, "v0.2.0"); got != want || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := notes(root, "v0.1.0-rc.1"); got != "old\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, version := range []string{"v0.3.0", "v0.2", "v0.0.1", ""} {
		if got, err := notes(root, version); err == nil {
			t.Errorf("%q: %q", version, got)
		}
	}
	var out strings.Builder
	if err := run(t.Context(), []string{"--notes", "v0.1.0"}, &out); err != nil || !strings.Contains(out.String(), "### What is stable") {
		t.Errorf("%s, %v", out.String(), err)
	}
	if err := run(t.Context(), []string{"--version", "v99.0.0", filepath.Join(t.TempDir(), "dist")}, io.Discard); err == nil || !strings.Contains(err.Error(), `no section "## v99.0.0"`) {
		t.Error(err)
	}
}

// TestVEX: each statement is about the release, and one that does not say how it is known is an error.
func TestVEX(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const statement = `{"id":"GO-2026-0001","analysis":{"state":"not_affected","justification":"code_not_reachable","detail":"govulncheck finds no call"}}`
	text, err := vex([]byte(`{"vulnerabilities":[`+statement+`]}`), "v1.2.3", at)
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Metadata struct {
			Timestamp string
			Component map[string]string
		}
		Vulnerabilities []struct{ Affects []struct{ Ref string } }
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	const purl = "pkg:golang/github.com/restwarden/restwarden@v1.2.3"
	if d.Metadata.Timestamp != "2026-01-02T03:04:05Z" || d.Metadata.Component["purl"] != purl || len(d.Vulnerabilities) != 1 || d.Vulnerabilities[0].Affects[0].Ref != purl {
		t.Errorf("%s", text)
	}
	own, err := os.ReadFile("vex.json")
	if err == nil {
		_, err = vex(own, "v1.2.3", at)
	}
	if err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{
		`[]`, `{"statements":[]}`, `{"vulnerabilities":[{}]}`,
		`{"vulnerabilities":[` + strings.Replace(statement, `"detail":"govulncheck finds no call"`, `"detail":""`, 1) + `]}`,
		`{"vulnerabilities":[` + strings.Replace(statement, `"justification":"code_not_reachable",`, "", 1) + `]}`,
		`{"vulnerabilities":[` + strings.Replace(statement, `{"id"`, `{"affects":[],"id"`, 1) + `]}`,
	} {
		if text, err := vex([]byte(wrong), "v1.2.3", at); err == nil {
			t.Errorf("%s: %s", wrong, text)
		}
	}
}

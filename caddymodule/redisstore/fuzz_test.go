package redisstore

import "testing"

// FuzzOpened: opened accepts exactly what a gateway has sealed under that key.
func FuzzOpened(f *testing.F) {
	seeds := [][2]string{
		{"k", sealed("k", "v")},
		{"k", sealed("other", "v")},
		{"k", sealed("k", "")},
		{"", sealed("", "\x00")},
		{"k", "garbage"},
		{"k", ""},
		{"k", sealed("k", "v")[1:]},
		{"k", sealed("k", "v") + " "},
	}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, s := range seeds {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, key, text string) {
		if value, ok := opened(key, text); ok && sealed(key, value) != text {
			t.Errorf("%q under %q is taken for %q", text, key, value)
		}
		if value, ok := opened(key, sealed(key, text)); !ok || value != text {
			t.Errorf("%q under %q comes back as %q, %v", text, key, value, ok)
		}
	})
}

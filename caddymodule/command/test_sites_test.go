package command_test

import (
	"os"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
)

// TestTest_Sites: the tests of some sites, and the exit status where there is none.
func TestTest_Sites(t *testing.T) {
	t.Chdir(t.TempDir())
	const config = "a.example {\n\trestwarden wordpress {\n\t\ttag shops\n\t}\n}\nb.example {\n\trestwarden wordpress {\n\t\tlogin_only\n\t}\n}\n"
	for name, text := range map[string]string{
		"Caddyfile": config, "none": "a.example {\n\trespond 200\n}\n",
		"lost":     config + "c.example {\n\t@m method POST\n\trestwarden @m wordpress {\n\t\ttag posts\n\t}\n}\n",
		"c.yaml":   "tests:\n- {request: \"POST https://c.example/wp-json/wp/v2/posts\", expect: pass}\n",
		"all.yaml": "tests:\n- {request: GET /wp-json/wp/v2/posts, at: all, expect: pass}\n", "b.yaml": "tests:\n- {request: \"GET https://b.example/wp-json/wp/v2/posts\", expect: pass}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args, says string
		status     int
	}{
		{"all.yaml b.yaml", "\n1 passed, 2 failed\n", 1},
		{"--tag shops all.yaml b.yaml", "1 passed, 0 failed\n", 0},
		{"--site b.* all.yaml b.yaml", "0 passed, 2 failed\n", 1},
		{"--site a.example b.yaml", "no test is about the sites of --site and --tag", 2},
		{"--site c.example b.yaml", `no site is called "c.example": did you mean a.example`, 2},
		{"--config lost --adapter caddyfile --tag posts all.yaml", "GET /wp-json/wp/v2/posts at c.example: expected pass, got cannot be known: no request for its REST root", 3},
		{"--config lost --adapter caddyfile --site * c.yaml b.yaml", "1 passed, 1 failed", 1},
		{"--config lost --adapter caddyfile --tag posts c.yaml b.yaml", "1 passed, 0 failed\n", 0},
		{"--config none --adapter caddyfile all.yaml", "all.yaml:2: at: the configuration guards no site", 2},
	} {
		out, problems, status := command.Run(nil, append([]string{"test"}, strings.Fields(test.args)...)...)
		if status != test.status || !strings.Contains(out+problems, test.says) || status == 0 && out != test.says {
			t.Errorf("%s: %d\n%s%s", test.args, status, out, problems)
		}
	}
}

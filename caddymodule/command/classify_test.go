package command

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// recordedLine is a line of input with an id.
func recordedLine(id, request string) string {
	return fmt.Sprintf(`{"id":%s,"request":%q}`, id, base64.StdEncoding.EncodeToString([]byte(request)))
}

const usersLine = `{"id":1,"kind":"call","route":"/cms/v2/users","method":"GET","object_id":null}`

func refusedLine(id string) string {
	return `{"id":` + id + `,"kind":"refused","route":null,"method":null,"object_id":null,"reason":"input"}`
}

// TestClassify_Lines: one line of output for each line of input that is not
// blank, whatever is in it.
func TestClassify_Lines(t *testing.T) {
	t.Parallel()
	users := recordedLine("1", "GET /cms-json/cms/v2/users HTTP/1.1\r\nHost: a\r\n\r\n")
	for name, c := range map[string]struct {
		in, out string
		problem string // on standard error, where something is wrong
	}{
		"nothing":           {in: ""},
		"a request":         {in: users + "\n", out: usersLine},
		"no newline":        {in: users, out: usersLine},
		"CR":                {in: users + "\r\n" + users + "\r\n", out: usersLine + "\n" + usersLine},
		"blanks":            {in: "\n \t\r\n\r\n  " + users + " \n  ", out: usersLine},
		"empty request":     {in: `{"id":1,"request":""}`, out: strings.Replace(refusedLine("1"), "input", "http", 1)},
		"no JSON":           {in: "nonsense\n" + users, out: refusedLine("null") + "\n" + usersLine, problem: "line 1: "},
		"number of line":    {in: "\n\n" + users + "\n{\n", out: usersLine + "\n" + refusedLine("null"), problem: "line 4: "},
		"array":             {in: "[]", out: refusedLine("null"), problem: "line 1: "},
		"null":              {in: "null", out: refusedLine("null"), problem: "line 1: "},
		"text":              {in: `"request"`, out: refusedLine("null"), problem: "line 1: "},
		"two objects":       {in: users + users, out: refusedLine("null"), problem: "line 1: "},
		"no request":        {in: `{"id":"a"}`, out: refusedLine(`"a"`), problem: "line 1: "},
		"null request":      {in: `{"id":[1],"request":null}`, out: refusedLine("[1]"), problem: "line 1: "},
		"number":            {in: `{"request":5,"id":7}`, out: refusedLine("7"), problem: "line 1: "},
		"bytes one by one":  {in: `{"id":7,"request":[71,69,84]}`, out: refusedLine("7"), problem: "line 1: "},
		"bad base64":        {in: `{"id":7,"request":"%%"}`, out: refusedLine("7"), problem: `line 1: "request" is not base64`},
		"no id, bad base64": {in: `{"request":"R0VU="}`, out: refusedLine("null"), problem: `line 1: "request" is not base64`},
	} {
		out, problems, err := classify(c.in)
		if strings.TrimSuffix(out, "\n") != c.out {
			t.Errorf("%s: got\n%swant\n%s", name, out, c.out)
		}
		if c.problem == "" && (err != nil || problems != "") || c.problem != "" && (err == nil || !strings.HasPrefix(problems, c.problem)) {
			t.Errorf("%s: %v, %q; want %q", name, err, problems, c.problem)
		}
	}
}

// TestClassify_Parts: a batch has parts, if only none; nothing else has.
func TestClassify_Parts(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"requests":[]}`: `"object_id":null,"parts":[]}`,
		`{"requests":[{"path":"/shop/v3/orders/7","method":"PUT"}]}`: `"parts":[{"route":"/shop/v3/orders/7","method":"PUT","object_id":"7"}]}`,
	} {
		request := fmt.Sprintf("POST /cms-json/batch/v1 HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		if out, problems, err := classify(recordedLine("1", request)); err != nil || !strings.HasSuffix(out, want+"\n") {
			t.Errorf("%s: %v %s\n%s", body, err, problems, out)
		}
	}
}

// classify runs the command on lines.
func classify(lines string) (out, problems string, err error) {
	var o, p bytes.Buffer
	err = (&classifier{platform: "cms", permalinks: "pretty"}).run(strings.NewReader(lines), &o, &p)
	return o.String(), p.String(), err
}

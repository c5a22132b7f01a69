package call

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestMethodBehind(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"GET /":                            "GET",
		"HEAD /":                           "HEAD",
		"POST /?_method=GET":               "GET",
		"POST /?%5fmethod=get":             "GET",
		"GET /?_method=DELETE":             "DELETE",
		"GET /?_method=GET&_method=DELETE": "",
		"GET /?_method[]=DELETE":           "",
		"GET / PUT":                        "PUT",
		"GET /?_method=GET PUT":            "",
		"GET /?_method=SECRET":             "",
	} {
		words := strings.Fields(line)
		r := httptest.NewRequest(words[0], words[1], http.NoBody)
		if len(words) > 2 {
			r.Header.Set("X-HTTP-Method-Override", words[2])
		}
		if got := MethodBehind(r); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

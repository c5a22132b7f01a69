package site_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// BenchmarkSite is what the site itself costs, so that figures of a gateway in
// front of it can be told apart.
func BenchmarkSite(b *testing.B) {
	s, err := site.New(site.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for name, target := range map[string]string{
		"page": "/", "anonymous": "/cms-json/cms/v2/posts", "missing": "/cms-json/none", "cart": "/cms-json/shop/store/v1/cart",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, target, nil))
			}
		})
	}
}

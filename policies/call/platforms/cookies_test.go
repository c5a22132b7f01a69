package platforms

import "testing"

func TestPlatform_Cookies(t *testing.T) {
	p, _ := ByName("wordpress")
	for cookie, want := range map[string]bool{
		"wordpress_test_cookie=1": false, "wordpress_test_cookie2=1": true, "wordpress_test_cookie_x=1": true,
		"wordpress_sec_x=1": true, "wordpress_logged_in_x=1": true, "wordpress=1": false,
	} {
		if p.LogsIn(cookie) != want {
			t.Errorf("%s: %v", cookie, !want)
		}
	}
}

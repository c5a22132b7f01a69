package caller

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
)

const (
	ordersAt = "/wp-json/wc/v3/orders"
	postsAt  = "/wp-json/wp/v2/posts"
	cartAt   = "/wp-json/wc/store/v1/cart"
	cleanID  = "ck_0123456789abcdef0123456789abcdef0123abcd"
)

func basicLine(name, password string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
}

func claimed(kind CredentialKind, name string) Credential {
	if kind == CredentialKey {
		return Credential{Kind: kind, Key: name, Claimed: true}
	}
	return Credential{Kind: kind, Login: name, Claimed: true}
}

func TestPresented(t *testing.T) {
	t.Parallel()
	unclean := Credential{Kind: CredentialKey, Claimed: true, Unclean: true}
	key, ann := claimed(CredentialKey, "123abcd"), claimed(CredentialUser, "ann")
	multipart := []string{"POST", "--B\r\nContent-Disposition: form-data; name=consumer_key\r\n\r\n" + cleanID + "\r\n--B--\r\n", "Content-Type: multipart/form-data; boundary=B"}
	form := func(text string) []string { return []string{"POST", text, formType} }
	for name, test := range map[string]struct {
		target  string
		form    []string // method, body, type
		headers []string
		want    []Credential
	}{
		"nothing":                    {ordersAt, nil, []string{"Cookie: a=b"}, nil},
		"Basic":                      {ordersAt, nil, []string{basicLine(cleanID, "cs_s3cret")}, []Credential{key}},
		"Basic, on no route of keys": {postsAt, nil, []string{basicLine(cleanID, "cs_s3cret")}, []Credential{key}},
		"a short one":                {ordersAt, nil, []string{basicLine("ck_1", "s3cret")}, []Credential{claimed(CredentialKey, "ck_1")}},
		"a blank in front":           {ordersAt, nil, []string{basicLine(" "+cleanID, "s3cret")}, []Credential{unclean, claimed(CredentialPassword, "")}},
		"a tag in front":             {ordersAt, nil, []string{basicLine("<b>"+cleanID, "s3cret")}, []Credential{unclean, claimed(CredentialPassword, "")}},
		"a tag within":               {ordersAt, nil, []string{basicLine("c<b></b>k_1", "s3cret")}, []Credential{unclean, claimed(CredentialPassword, "")}},
		"a NUL within":               {ordersAt, nil, []string{basicLine("c\x00k_<b>1", "s3cret")}, []Credential{unclean, claimed(CredentialPassword, "")}},
		"odd bytes, and no key":      {ordersAt, nil, []string{basicLine("a%b<c", "s3cret")}, []Credential{claimed(CredentialPassword, "a%b<c")}},
		"an encoded byte":            {ordersAt, nil, []string{basicLine("ck%20_1", "s3cret")}, []Credential{unclean, claimed(CredentialPassword, "")}},
		"a blank at the end":         {ordersAt, nil, []string{basicLine(cleanID+" ", "s3cret")}, []Credential{unclean, claimed(CredentialPassword, "")}},
		"a login like a key":         {ordersAt, nil, []string{basicLine(cleanID, "abcd EFGH 1234 ijkl MNOP 5678")}, []Credential{key, claimed(CredentialPassword, "")}},
		"a password":                 {postsAt, nil, []string{basicLine("ann", "s3cret")}, []Credential{claimed(CredentialPassword, "ann")}},
		"a percent sign, no key":     {postsAt, nil, []string{basicLine("100%_me", "s3cret")}, []Credential{claimed(CredentialPassword, "100%_me")}},
		"no password":                {postsAt, nil, []string{"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("s3cret"))}, nil},
		"a token as a name":          {postsAt, nil, []string{basicLine("s3cret", "")}, []Credential{claimed(CredentialPassword, "")}},
		"a secret as a name":         {postsAt, nil, []string{basicLine("cs_s3cret", "x")}, []Credential{claimed(CredentialPassword, "")}},
		"a secret as a key":          {ordersAt + "?consumer_key=cs_s3cret&consumer_secret=ck_1", nil, nil, []Credential{unclean}},
		"a token":                    {postsAt, nil, []string{"Authorization: Bearer s3cret"}, nil},
		"query":                      {ordersAt + "?consumer_key=" + cleanID + "&consumer_secret=cs_s3cret", nil, nil, []Credential{key}},
		"query, without its secret":  {ordersAt + "?consumer_key=" + cleanID, nil, nil, []Credential{key}},
		"query, in brackets":         {ordersAt + "?consumer_key[]=" + cleanID + "&consumer_secret=s3cret", nil, nil, []Credential{unclean}},
		"query, two of them":         {ordersAt + "?consumer_key=ck_1&consumer_key=" + cleanID, nil, nil, []Credential{key, unclean}},
		"query, to be cleaned":       {ordersAt + "?consumer_key=%20" + cleanID, nil, nil, []Credential{unclean}},
		"form":                       {postsAt, form("a=b&consumer_key=" + cleanID), nil, []Credential{key}},
		"form, signed":               {postsAt, form("oauth_consumer_key=" + cleanID), nil, []Credential{key}},
		"form, none":                 {postsAt, form("a=b&c=d"), nil, nil},
		"multipart":                  {postsAt, multipart, nil, []Credential{key}},
		"JSON names none":            {postsAt, []string{"POST", `{"consumer_key":"ck_1"}`, jsonType}, nil, nil},
		"query, signed":              {ordersAt + "?oauth_consumer_key=" + cleanID + "&oauth_signature=s3cret", nil, nil, []Credential{key}},
		"header, signed":             {ordersAt, nil, []string{`Authorization: OAuth oauth_consumer_key="` + cleanID + `", oauth_signature="s3cret"`}, []Credential{key}},
		"header, signed by two":      {ordersAt, nil, []string{`Authorization: OAuth oauth_consumer_key="ck_1",oauth_consumer_key=` + cleanID}, []Credential{claimed(CredentialKey, "ck_1"), key}},
		"the tool server":            {"/wp-json/woocommerce/mcp", nil, []string{"X-MCP-API-Key: " + cleanID + ":cs_s3cret"}, []Credential{key}},
		"the tool server's, away":    {postsAt, nil, []string{"X-MCP-API-Key: " + cleanID + ":cs_s3cret"}, []Credential{key}},
		"another tool's":             {postsAt, nil, []string{"X-MCP-API-Key: s3cret"}, nil},
		"a login":                    {postsAt, nil, []string{"Cookie: x=y; wordpress_logged_in_abc=ann%7C1%7Cs3cret%7Cm"}, []Credential{ann}},
		"a login, twice":             {postsAt, nil, []string{"Cookie: wordpress_sec_a=ann%7C1%7Cs3cret; wordpress_logged_in_abc=ann|2"}, []Credential{ann}},
		"a login of no form":         {postsAt, nil, []string{"Cookie: wordpress_logged_in_abc=s3cret"}, nil},
		"what a plugin remembers":    {postsAt, nil, []string{"Cookie: wordpress_gdpr_cookies_allowed=necessary%2Canalytics"}, nil},
		"a login that is too long":   {postsAt, nil, []string{"Cookie: wordpress_logged_in_abc=" + strings.Repeat("a", 1<<20) + "%7C1"}, []Credential{claimed(CredentialUser, "")}},
		"a login with a sign":        {postsAt, nil, []string{"Cookie: wordpress_logged_in_abc=a+%2B%7C1"}, []Credential{claimed(CredentialUser, "a +"), claimed(CredentialUser, "a++")}},
		"a login like a secret":      {postsAt, nil, []string{"Cookie: wordpress_logged_in_abc=cs_ann%7C1"}, []Credential{claimed(CredentialUser, "cs_ann")}},
		"a mail like a key":          {postsAt, nil, []string{basicLine("ck_ann@b.example", "s3cret")}, []Credential{unclean, claimed(CredentialPassword, "")}},
		"a login of bytes":           {postsAt, nil, []string{"Cookie: wordpress_logged_in_abc=%00%FF%7C1"}, []Credential{claimed(CredentialUser, "\x00\xff")}},
		"a cookie that only tests":   {postsAt, nil, []string{"Cookie: wordpress_test_cookie=a|b"}, nil},
		"one credential, three places": {
			ordersAt + "?consumer_key=" + cleanID + "&consumer_secret=cs", nil,
			[]string{basicLine(cleanID, "s3cret"), "X-MCP-API-Key: " + cleanID + ":s3cret"},
			[]Credential{key},
		},
		"several": {
			ordersAt + "?consumer_key=ck_2", nil,
			[]string{basicLine("bob", "s3cret"), "Cookie: wordpress_logged_in_abc=ann|1"},
			[]Credential{claimed(CredentialPassword, "bob"), ann, claimed(CredentialKey, "ck_2")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			method, body := "GET", ""
			if test.form != nil {
				method, body = test.form[0], test.form[1]
				test.headers = append(test.headers, test.form[2])
			}
			w := request(t, newSite(t), nil, method, test.target, body, test.headers...)
			got, err := w.Presented()
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, test.want)
			}
		})
	}
}

// TestPresented_OwnHeader: a header that the site names as its own says the same of whom it names.
func TestPresented_OwnHeader(t *testing.T) {
	t.Parallel()
	w := request(t, newSite(t, Own{Headers: []string{"authorization"}}), nil, "GET", postsAt, "", basicLine("ann", "s3cret"))
	if got, err := w.Presented(); err != nil || !slices.Equal(got, []Credential{claimed(CredentialPassword, "ann")}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestPresented_Uncertain: a cookie that some PHP takes for a login cookie, and a form that cannot be read, say
// nothing for certain of what else there is.
func TestPresented_Uncertain(t *testing.T) {
	t.Parallel()
	for _, w := range []*Whole{
		request(t, newSite(t), nil, "GET", postsAt, "", "Cookie: wordpress.logged_in_abc=ann|1", basicLine("ann", "x")),
		request(t, newSite(t), nil, "POST", postsAt, strings.Repeat("a[]=1&", 1100)+"consumer_key=ck_1", formType, basicLine("ann", "x")),
	} {
		if got, err := w.Presented(); err == nil || !slices.Equal(got, []Credential{claimed(CredentialPassword, "ann")}) {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// TestPresented_Settled: a form is not looked into any more once the request is sent on.
func TestPresented_Settled(t *testing.T) {
	t.Parallel()
	w := request(t, newSite(t), nil, "POST", postsAt, "consumer_key=ck_1", formType, basicLine("ann", "x"))
	w.Call.Settle()
	if got, err := w.Presented(); err != nil || !slices.Equal(got, []Credential{claimed(CredentialPassword, "ann")}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestPresented_Allocations: a request without credentials takes no memory.
func TestPresented_Allocations(t *testing.T) {
	s := newSite(t)
	for name, w := range map[string]*Whole{
		"query":  request(t, s, nil, "GET", ordersAt+"?page=2&status=a%20b", "", "Cookie: a=b; woocommerce_cart_hash=c%20d", "Accept: x"),
		"form":   request(t, s, nil, "POST", postsAt, "a=b&c=d", formType),
		"JSON":   request(t, s, nil, "POST", postsAt, `{"a":1}`, jsonType),
		"a test": request(t, s, nil, "GET", postsAt, "", "Cookie: wordpress_test_cookie=1", "Authorization: Bearer x"),
	} {
		if n := testing.AllocsPerRun(100, func() { _, _ = w.Presented() }); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestVerified(t *testing.T) {
	t.Parallel()
	me := `{"id":7,"username":"ann","roles":["editor"],"capabilities":{"read":true}}`
	const noLogin = `{"id":7,"roles":["editor"],"capabilities":{"read":true}}`
	cookie := "Cookie: wordpress_logged_in_abc=ann%7C1%7Cs3cret"
	for name, test := range map[string]struct {
		target, me string
		headers    []string
		want       Credential
		ok         bool
	}{
		"a key":                     {ordersAt, me, []string{basicLine(cleanID, "cs_s3cret")}, Credential{Kind: CredentialKey, Key: "123abcd"}, true},
		"a key, unclean":            {ordersAt, me, []string{basicLine(cleanID+" ", "cs_s3cret")}, Credential{}, false},
		"a key beside a cookie":     {ordersAt, me, []string{basicLine(cleanID, "cs_s3cret"), cookie}, Credential{}, false},
		"a password":                {postsAt, me, []string{basicLine("ann@example.com", "s3cret")}, Credential{Kind: CredentialPassword, Login: "ann"}, true},
		"a login":                   {postsAt, me, []string{cookie, nonceLine}, Credential{Kind: CredentialUser, Login: "ann"}, true},
		"a password and a login":    {postsAt, me, []string{basicLine("ann", "s3cret"), cookie, nonceLine}, Credential{Kind: CredentialPassword, Login: "ann"}, true},
		"a login, beside a key":     {postsAt, me, []string{basicLine(cleanID, "s3cret"), cookie, nonceLine}, Credential{Kind: CredentialUser, Login: "ann"}, true},
		"the site's own":            {postsAt, me, []string{"X-Own: s3cret"}, Credential{Kind: CredentialUser, Login: "ann"}, true},
		"a login that is not told":  {postsAt, noLogin, []string{basicLine("ann", "s3cret")}, Credential{}, false},
		"a login that is no text":   {postsAt, strings.Replace(me, `"ann"`, `[7]`, 1), []string{basicLine("ann", "s3cret")}, Credential{}, false},
		"a login of any length":     {postsAt, strings.Replace(me, `ann`, strings.Repeat("a", 300), 1), []string{basicLine("ann", "s3cret")}, Credential{}, false},
		"nobody":                    {postsAt, me, nil, Credential{}, false},
		"a session of the checkout": {cartAt, me, []string{cookie}, Credential{Kind: CredentialUser, Login: "ann"}, true},
		"a session beside a key":    {cartAt + "?consumer_key=ck_1", me, []string{cookie}, Credential{}, false},
		"a session of two logins":   {cartAt, me, []string{cookie + "; wordpress_logged_in_b=bob|1"}, Credential{}, false},
		"a session without a login": {cartAt, me, []string{"Cookie: wordpress_logged_in_a=x"}, Credential{}, false},
		"a session beside a token":  {cartAt, me, []string{cookie, "Authorization: Bearer x"}, Credential{}, false},
		"a login like a key":        {ordersAt, me, []string{basicLine(cleanID, "abcd EFGH 1234 ijkl MNOP 5678")}, Credential{}, false},
		"its password, filled up":   {ordersAt, me, []string{basicLine(cleanID, "cs_-abcdEFGH1234ijklMNOP56____")}, Credential{}, false},
		"beside another key":        {ordersAt + "?consumer_key=ck_x123abcd&consumer_secret=cs_1", me, []string{basicLine(cleanID, "abcdEFGH1234ijklMNOP5678")}, Credential{}, false},
		"a secret that is longer":   {ordersAt, me, []string{basicLine(cleanID, "cs_abcdEFGH1234ijklMNOP5678")}, Credential{Kind: CredentialKey, Key: "123abcd"}, true},
		"a login at the tools":      {"/wp-json/woocommerce/mcp", me, []string{"X-MCP-API-Key: " + cleanID + ":abcdEFGH1234ijklMNOP5678"}, Credential{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backend := asktest.Routed(map[string]*ask.Answer{
				"GET /wp/v2/users/me": asktest.JSON(200, test.me), "GET /wc/v3/orders": asktest.JSON(200, `[]`),
				"GET /wc/store/v1/cart": {Status: 200, Header: http.Header{"User-Id": {"7"}}, Body: []byte(`{}`)},
			})
			w := request(t, newSite(t, Own{Headers: []string{"X-Own"}}), backend, "GET", test.target, "", test.headers...)
			if c, ok := w.Verified(); ok {
				t.Errorf("before the platform was asked: %+v", c)
			}
			if _, _, err := w.Who(t.Context()); err != nil {
				t.Fatal(err)
			}
			if c, ok := w.Verified(); c != test.want || ok != test.ok {
				t.Errorf("got %+v, %v", c, ok)
			}
		})
	}
}

func TestPlainLogin(t *testing.T) {
	t.Parallel()
	for login, want := range map[string]bool{
		"ann": true, "Ann B. Smith_1@x-y.de": true, strings.Repeat("a", 60): true, strings.Repeat("a", 61): false, "": false,
		"ann\n": false, "Zoë": false, "a\x00": false, "<b>": false, "a|b": false, `a"b`: false, "a=b": false,
	} {
		if PlainLogin(login) != want {
			t.Errorf("%q: %t", login, !want)
		}
	}
}

// TestShared_Login: gateways share the login, and read the answers of those that share none.
func TestShared_Login(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"mark":"m","until":1800000005000,"kind":1,"id":7,"login":"ann"}`: "ann",
		`{"mark":"m","until":1800000005000,"kind":1,"id":7}`:               "",
	} {
		k := recalled{mark: "m"}
		if !k.decode(text, newSite(t).Now()) || k.caller.Login != want {
			t.Errorf("%s: %+v", text, k.caller)
		}
	}
	text, err := json.Marshal(sharedAnswer{Kind: KeyHolder})
	if err != nil || strings.Contains(string(text), "login") {
		t.Errorf("%s, %v", text, err)
	}
}

// FuzzKeys: a clean key is found in each place by its last seven characters, the key of the claim is among those found,
// and nothing of a secret is.
func FuzzKeys(f *testing.F) {
	for _, name := range []string{cleanID, "ck_1", "ck_1 ", " ck_1", "ann", "c<b>k_1", "", "ck_%41", "a@b.example", "ck_\xff", "1234567", "cs_1", "x:y", "0"} {
		f.Add(name)
	}
	const secret = "cs_S3CRET-zq"
	f.Fuzz(func(t *testing.T, name string) {
		if strings.Contains(name, "S3CRET") || strings.Contains(name, "zq") {
			return
		}
		s := newSite(t)
		escaped := url.QueryEscape(name)
		for place, w := range map[string]*Whole{
			"Basic":  request(t, s, nil, "GET", ordersAt, "", basicLine(name, secret)),
			"query":  request(t, s, nil, "GET", ordersAt+"?consumer_key="+escaped+"&consumer_secret="+secret, ""),
			"form":   request(t, s, nil, "POST", postsAt, "consumer_key="+escaped+"&consumer_secret="+secret, formType),
			"signed": request(t, s, nil, "GET", ordersAt+"?oauth_consumer_key="+escaped+"&oauth_signature="+secret, ""),
			"header": request(t, s, nil, "GET", ordersAt, "", `Authorization: OAuth oauth_consumer_key="`+escaped+`",oauth_signature="`+secret+`"`),
			"tool":   request(t, s, nil, "GET", "/wp-json/woocommerce/mcp", "", "X-Mcp-Api-Key: "+strings.NewReplacer(":", "", "\r", "", "\n", "").Replace(name)+":"+secret),
			"cookie": request(t, s, nil, "GET", postsAt, "", "Cookie: wordpress_logged_in_a="+escaped+"%7C1%7C"+secret),
		} {
			found, err := w.Presented()
			if err != nil {
				t.Fatalf("%s: %q: %v", place, name, err)
			}
			if told := fmt.Sprintf("%+v", found); strings.Contains(told, "S3CRET") || strings.Contains(told, "zq") {
				t.Errorf("%s: %q: %s tells the secret", place, name, told)
			}
			want := claimed(CredentialKey, name[max(0, len(name)-7):])
			clean := !strings.HasPrefix(name, "cs_") && name != "" && keyBytes.Holds(name) && (name != "0" || place != "header") // which PHP takes for empty
			if clean && place != "cookie" && (place != "Basic" || strings.HasPrefix(name, "ck_")) && !slices.Contains(found, want) {
				t.Errorf("%s: %q is not found: %+v", place, name, found)
			}
			if claim, err := w.Claim(); err == nil && (claim == ClaimKey || claim == ClaimTool) {
				if key, ok := w.ShopKeyName(); ok && !slices.Contains(found, keyNamed(key)) {
					t.Errorf("%s: %q claims %q, found %+v", place, name, key, found)
				}
			}
			for _, c := range found {
				if !c.Claimed || c.Unclean == (c.Key != "") && c.Kind == CredentialKey || len(c.Key) > 7 || len(c.Login) > maxLogin || c.Key != "" && !keyBytes.Holds(c.Key) {
					t.Errorf("%s: %q: %+v", place, name, c)
				}
			}
		}
	})
}

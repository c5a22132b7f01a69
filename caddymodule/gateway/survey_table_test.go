package gateway

const proxied = "\n\t\treverse_proxy 127.0.0.1:8080\n"

// surveyTests are Caddyfiles that are odd, and some that nearly are.
var surveyTests = []struct{ name, source, want string }{
	{"plain", "example.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", ""},

	// refused
	{"order last", "{\n\torder restwarden last\n}\nexample.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", "refused Caddyfile:5"},
	{"order last, nothing answers", "{\n\torder restwarden last\n}\nexample.com {\n\trestwarden wordpress\n}\n", ""},
	{"order after reverse_proxy", "{\n\torder restwarden after reverse_proxy\n}\nexample.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", "refused Caddyfile:5"},
	{"order after php_fastcgi", "{\n\torder restwarden after php_fastcgi\n}\nexample.com {\n\troot * /srv\n\trestwarden wordpress\n\tphp_fastcgi 127.0.0.1:9000\n\tfile_server\n}\n", "refused Caddyfile:6"},
	{"order last, files", "{\n\torder restwarden last\n}\nexample.com {\n\troot * /srv\n\trestwarden wordpress\n\tphp_fastcgi 127.0.0.1:9000\n\tfile_server\n}\n", "refused Caddyfile:6"},
	{"route", "example.com {\n\troute {\n\t\treverse_proxy 127.0.0.1:8080\n\t\trestwarden wordpress\n\t}\n}\n", "refused Caddyfile:4"},
	{"route, another path before", "example.com {\n\troute {\n\t\treverse_proxy /api/* 127.0.0.1:9090\n\t\trestwarden wordpress\n\t\treverse_proxy 127.0.0.1:8080\n\t}\n}\n", ""},
	{"respond", "example.com {\n\troute {\n\t\trespond ok\n\t\trestwarden wordpress\n\t}\n}\n", "refused Caddyfile:4"},
	{"early hints", "example.com {\n\troute {\n\t\trespond 103\n\t\trestwarden wordpress\n\t\treverse_proxy 127.0.0.1:8080\n\t}\n}\n", ""},
	{"redir", "example.com {\n\troute {\n\t\tredir https://example.org{uri}\n\t\trestwarden wordpress\n\t}\n}\n", "W02 Caddyfile:4"},
	{"maintenance", "example.com {\n\troute {\n\t\trespond Maintenance 503\n\t\trestwarden wordpress" + proxied + "\t}\n}\n", "W02 Caddyfile:4"},
	{"redir of an alias", "example.com, www.example.com {\n\t@www host www.example.com\n\tredir @www https://example.com{uri}\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", ""},
	{"error", "example.com {\n\troute {\n\t\terror 404\n\t\trestwarden wordpress\n\t}\n}\n", "refused Caddyfile:4"},
	{"file_server", "example.com {\n\troute {\n\t\tfile_server\n\t\trestwarden wordpress\n\t}\n}\n", "refused Caddyfile:4"},
	{"file_server, pass_thru", "example.com {\n\troute {\n\t\tfile_server {\n\t\t\tpass_thru\n\t\t}\n\t\trestwarden wordpress\n\t\treverse_proxy 127.0.0.1:8080\n\t}\n}\n", ""},
	{"handle before", "example.com {\n\troute {\n\t\thandle {\n\t\t\treverse_proxy 127.0.0.1:8080\n\t\t}\n\t\trestwarden wordpress\n\t}\n}\n", "refused Caddyfile:6"},
	{"handle of the same paths", "example.com {\n\thandle /a* {\n\t\treverse_proxy 127.0.0.1:8080\n\t}\n\thandle /a/* {\n\t\trestwarden wordpress\n\t\treverse_proxy 127.0.0.1:9090\n\t}\n}\n", "W03 Caddyfile:6"},
	{"forward_auth", "example.com {\n\troute {\n\t\tforward_auth 127.0.0.1:9091 {\n\t\t\turi /verify\n\t\t}\n\t\trestwarden wordpress\n\t\treverse_proxy 127.0.0.1:8080\n\t}\n}\n", ""},
	{"errors", "example.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n\thandle_errors {\n\t\troute {\n\t\t\treverse_proxy 127.0.0.1:8080\n\t\t\trestwarden wordpress\n\t\t}\n\t}\n}\n", "refused Caddyfile:7 W01 Caddyfile:2"},
	{"named route, all", "&(shop) {\n\troute {\n\t\treverse_proxy 127.0.0.1:8080\n\t\trestwarden wordpress\n\t}\n}\nexample.com {\n\tinvoke shop\n}\n", "refused Caddyfile:4"},

	// W01
	{"W01", "a.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\nb.com {\n\treverse_proxy 127.0.0.1:8080\n}\n", "W01 Caddyfile:2"},
	{"W01, another upstream", "a.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\nb.com {\n\treverse_proxy 127.0.0.1:9090\n}\n", ""},
	{"W01, redirected", "a.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\nwww.a.com {\n\tredir https://a.com{uri}\n}\n", ""},
	{"W01, scripts", "a.com {\n\troot * /srv/a\n\trestwarden wordpress\n\tphp_fastcgi unix//run/php.sock\n}\nb.com {\n\troot * /srv/a\n\tphp_fastcgi unix//run/php.sock\n}\n", "W01 Caddyfile:3"},
	{"W01, other scripts", "a.com {\n\troot * /srv/a\n\trestwarden wordpress\n\tphp_fastcgi unix//run/php.sock\n}\nb.com {\n\troot * /srv/b\n\tphp_fastcgi unix//run/php.sock\n}\n", ""},
	{"W01, errors", "a.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n\thandle_errors {\n\t\treverse_proxy 127.0.0.1:8080\n\t}\n}\n", "W01 Caddyfile:2"},
	{"W01, guarded errors", "a.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n\thandle_errors {\n\t\trestwarden wordpress\n\t\treverse_proxy 127.0.0.1:8080\n\t}\n}\n", ""},

	{"W01, root of the site in errors", "a.com {\n\troot * /srv/a\n\trestwarden wordpress\n\ttry_files {path} =404\n\tphp_fastcgi unix//run/php.sock\n\thandle_errors {\n\t\trewrite * /index.php\n\t\tphp_fastcgi unix//run/php.sock\n\t}\n}\n", "W01 Caddyfile:3"},
	{"W01, one of several servers", "a.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080 127.0.0.1:8081\n}\nb.com {\n\treverse_proxy localhost:8081\n}\n", "W01 Caddyfile:2"},
	{"W01, rewritten", "a.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\nb.com {\n\treverse_proxy 127.0.0.1:8080 {\n\t\trewrite /wp-json{uri}\n\t}\n}\n", "W01 Caddyfile:2"},
	{"W01, root with a slash", "a.com {\n\troot * /srv/a\n\trestwarden wordpress\n\tphp_fastcgi unix//run/php.sock\n}\nb.com {\n\troot * /srv/a/\n\tphp_fastcgi unix//run/php.sock\n}\n", "W01 Caddyfile:3"},

	// W02
	{"W02, observe", "example.com {\n\troute {\n\t\treverse_proxy 127.0.0.1:8080\n\t\trestwarden wordpress {\n\t\t\tmode observe\n\t\t}\n\t}\n}\n", "W02 Caddyfile:4"},
	{"W02, one of two sites", "&(shop) {\n\troute {\n\t\t@a host a.com\n\t\treverse_proxy @a 127.0.0.1:9090\n\t\trestwarden wordpress\n\t\treverse_proxy 127.0.0.1:8080\n\t}\n}\na.com {\n\tinvoke shop\n}\nb.com {\n\tinvoke shop\n}\n", "W02 Caddyfile:5"},
	{"W02, one of two hosts", "a.com, b.com {\n\troute {\n\t\t@a host a.com\n\t\treverse_proxy @a 127.0.0.1:9090\n\t\trestwarden wordpress\n\t\treverse_proxy 127.0.0.1:8080\n\t}\n}\n", "W02 Caddyfile:5"},
	{"W02, another host", "a.com {\n\t@b host b.com\n\trestwarden @b wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", "W02 Caddyfile:3"},
	{"W02, calls before", "example.com {\n\troute {\n\t\treverse_proxy /wp-json/* 127.0.0.1:8080\n\t\trestwarden wordpress\n\t\treverse_proxy 127.0.0.1:8080\n\t}\n}\n", "W02 Caddyfile:4"},

	// W03
	{"W03, matcher", "example.com {\n\trestwarden /wp-json/* wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", "W03 Caddyfile:2"},
	{"W03, all paths", "example.com {\n\trestwarden /* wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", ""},
	{"W03, handle", "example.com {\n\thandle /wp-json/* {\n\t\trestwarden wordpress" + proxied + "\t}\n\thandle {" + proxied + "\t}\n}\n", "W03 Caddyfile:3"},
	{"W03, handle alone", "example.com {\n\thandle /wp-json/* {\n\t\trestwarden wordpress" + proxied + "\t}\n}\n", "W03 Caddyfile:3"},
	{"W03, handle beside another upstream", "example.com {\n\thandle /wp-json/* {\n\t\trestwarden wordpress" + proxied + "\t}\n\thandle {\n\t\treverse_proxy 127.0.0.1:3000\n\t}\n}\n", ""},
	{"W03, handle_path", "example.com {\n\thandle_path /wp-json/* {\n\t\trestwarden wordpress" + proxied + "\t}\n\thandle {" + proxied + "\t}\n}\n", "W03 Caddyfile:3"},
	{"W03, route", "example.com {\n\troute /wp-json/* {\n\t\trestwarden wordpress\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n", "W03 Caddyfile:3"},
	{"W03, base", "example.com {\n\thandle /blog/* {\n\t\trestwarden wordpress {\n\t\t\tbase /blog\n\t\t}" + proxied + "\t}\n\thandle {" + proxied + "\t}\n}\n", "W03 Caddyfile:3"},
	{"W03, the whole base", "example.com {\n\t@blog path /blog /blog/*\n\thandle @blog {\n\t\trestwarden wordpress {\n\t\t\tbase /blog\n\t\t}" + proxied + "\t}\n\thandle {" + proxied + "\t}\n}\n", ""},
	{"W03, names of files", "example.com {\n\t@calls not path *.css *.js\n\trestwarden @calls wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", "W03 Caddyfile:3"},
	{"W03, files of Caddy", "example.com {\n\t@files path *.css *.js\n\thandle @files {\n\t\tfile_server\n\t}\n\thandle {\n\t\trestwarden wordpress" + proxied + "\t}\n}\n", ""},
	{"W03, method", "example.com {\n\t@read method GET\n\trestwarden @read wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", "W03 Caddyfile:3"},
	{"W03, some methods", "example.com {\n\t@read method GET POST\n\trestwarden @read wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", "W03 Caddyfile:3"},
	{"W02, expression for files", "example.com {\n\t@static path_regexp \\.(css|js|png|jpe?g|woff2?)$\n\thandle @static {" + proxied + "\t}\n\thandle {\n\t\trestwarden wordpress" + proxied + "\t}\n}\n", "W02 Caddyfile:7"},
	{"W02, variable of the query", "example.com {\n\t@preview query preview=true\n\thandle @preview {" + proxied + "\t}\n\thandle {\n\t\trestwarden wordpress" + proxied + "\t}\n}\n", "W02 Caddyfile:7"},
	{"W03, header", "example.com {\n\t@some header X-Some *\n\trestwarden @some wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", "W03 Caddyfile:3"},
	{"W03, own addresses", "example.com {\n\t@outside not remote_ip 10.0.0.0/8\n\trestwarden @outside wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", ""},
	{"W03, addresses of a proxy", "example.com {\n\t@proxy remote_ip 192.0.2.0/24\n\trestwarden @proxy wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", "W03 Caddyfile:3"},
	{"W03, host", "a.com, b.com {\n\t@a host a.com\n\trestwarden @a wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", "W03 Caddyfile:3"},
	{"W03, all hosts", "a.com, b.com {\n\t@a host a.com b.com\n\trestwarden @a wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", ""},

	// W08, W09, W10
	{"W08, cookie", "example.com {\n\trestwarden wordpress {\n\t\tcredentials cookie staff_*\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n", "W08 Caddyfile:2"},
	{"W08, header", "example.com {\n\trestwarden wordpress {\n\t\tcredentials header X-*\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n", "W08 Caddyfile:2"},
	{"W08, nearly", "example.com {\n\trestwarden wordpress {\n\t\tcredentials cookie staff_\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n", ""},
	{"W09", "example.com {\n\trestwarden wordpress\n\troute {\n\t\trestwarden wordpress\n\t\treverse_proxy 127.0.0.1:8080\n\t}\n}\n", "W09 Caddyfile:4"},
	{"W09, either", "example.com {\n\thandle /a/* {\n\t\trestwarden wordpress" + proxied + "\t}\n\thandle {\n\t\trestwarden wordpress" + proxied + "\t}\n}\n", ""},
	{"W10", "example.com {\n\trestwarden wordpress {\n\t\tcall off\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n", "W10 Caddyfile:2"},
	{"W10, another policy", "example.com {\n\trestwarden wordpress {\n\t\tredact off\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n", ""},

	// W13
	{"W13, loopback", "example.com {\n\tbind 127.0.0.1\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", "W13 Caddyfile:3"},
	{"W13, socket", "http:// {\n\tbind unix//run/caddy.sock\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", "W13 Caddyfile:3"},
	{"W13, socket, ranges", "{\n\tservers {\n\t\ttrusted_proxies static private_ranges\n\t}\n}\nhttp:// {\n\tbind unix//run/caddy.sock|0666\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", "W13 Caddyfile:8"},
	{"W13, socket, trusted", "{\n\tservers {\n\t\ttrusted_proxies_unix\n\t}\n}\nhttp:// {\n\tbind unix//run/caddy.sock|0666\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", ""},
	{"W13, socket beside the Internet", "example.com {\n\tbind unix//run/caddy.sock 192.0.2.1\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", "W13 Caddyfile:3"},
	{"W13, socket, trusted, beside loopback", "{\n\tservers {\n\t\ttrusted_proxies_unix\n\t}\n}\nhttp:// {\n\tbind unix//run/caddy.sock 127.0.0.1\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", "W13 Caddyfile:8"},
	{"W13, a private address", "example.com {\n\tbind 10.0.0.5\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", ""},
	{"W13, trusted", "{\n\tservers {\n\t\ttrusted_proxies static private_ranges\n\t}\n}\nexample.com {\n\tbind 127.0.0.1\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", ""},
	{"W13, header", "{\n\tservers {\n\t\tclient_ip_headers CF-Connecting-IP\n\t}\n}\nexample.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", "W13 Caddyfile:7"},
	{"W13, header_up", "example.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080 {\n\t\theader_up X-Forwarded-For {header.CF-Connecting-IP}\n\t}\n}\n", "W13 Caddyfile:2"},
	{"W13, header_up of its own", "example.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080 {\n\t\theader_up X-Forwarded-For {remote_host}\n\t}\n}\n", ""},
	{"W13, proxy_protocol", "{\n\tservers {\n\t\tlistener_wrappers {\n\t\t\tproxy_protocol\n\t\t\ttls\n\t\t}\n\t}\n}\nexample.com {\n\tbind 127.0.0.1\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n", ""},
}

//go:build wordpress

package wordpress

import "github.com/restwarden/restwarden/cmd/check/testkit/machine"

// debianPackages are what the sites are made of.
var debianPackages = []machine.Package{
	{Name: "wordpress", File: wordpressFiles + "/wp-load.php"},
	{Name: "wordpress-theme-twentytwentyone", File: classicTheme + "/style.css"},
	{Name: "php-cli", Command: "php"},
	{Name: "php-fpm", File: fpmBinary},
	{Name: "php-mysql", File: "/usr/lib/php/*/mysqli.so"},
	{Name: "php-gd", File: "/usr/lib/php/*/gd.so"},
	{Name: "php-xml", File: "/usr/lib/php/*/dom.so"},
	{Name: "php-mbstring", File: "/usr/lib/php/*/mbstring.so"},
	{Name: "mariadb-server", Command: "mariadbd"},
	{Name: "mariadb-client", Command: "mariadb"},
	{Name: "apache2", Command: "apache2"},
	{Name: "libapache2-mod-php", File: apachePHP},
	{Name: "nginx-light", Command: "nginx"},
	{Name: "lighttpd", Command: "lighttpd"},
	{Name: "haproxy", Command: "haproxy"},
	{Name: "varnish", Command: "varnishd"},
	{Name: "chromium", Command: "chromium"},
	{Name: "fonts-dejavu-core", File: "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"},
	{Name: "media-types", File: "/etc/mime.types"},
}

// What of the packages is used by its path.
const (
	wordpressFiles = "/usr/share/wordpress"
	classicTheme   = wordpressFiles + "/wp-content/themes/twentytwentyone"
	fpmBinary      = "/usr/sbin/php-fpm[0-9]*"
	apacheModules  = "/usr/lib/apache2/modules"
	apachePHP      = apacheModules + "/libphp*.so"
)

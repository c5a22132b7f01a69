package site

import (
	"net/textproto"

	"github.com/restwarden/restwarden/policies/call/platforms"
)

// names are the words of one platform on the wire (docs/project/design 2). What the shared
// table does not hold follows from two words: the platform's and the shop's.
type names struct {
	platforms.Platform
	core string // "cms" or "wp"
	shop string // "shop" or "woocommerce"
}

func namesOf(platform string) names {
	p, _ := platforms.ByName(platform)
	if platform == "wordpress" {
		return names{p, "wp", "woocommerce"}
	}
	return names{p, "cms", "shop"}
}

// real tells whether these are the names of real sites. With them the platform answers as
// real ones do where docs/project/interface differs.
func (n names) real() bool { return n.Name == "wordpress" }

// code is a shop error code, such as shop_rest_cannot_view.
func (n names) code(word string) string { return n.ErrorPrefix + word }

// header is a response header of the platform, such as X-CMS-Total.
func (n names) header(word string) string {
	return textproto.CanonicalMIMEHeaderKey("X-" + n.core + "-" + word)
}

// script is the path of one of the platform's own scripts, such as
// /cms-login.php.
func (n names) script(path string) string { return "/" + n.core + "-" + path }

// short is the shop's word in the addresses of its admin screens and inbox notes.
func (n names) short() string {
	if n.real() {
		return "wc"
	}
	return n.shop
}

// manageShop is the capability that opens the shop's settings.
func (n names) manageShop() string { return "manage_" + n.shop }

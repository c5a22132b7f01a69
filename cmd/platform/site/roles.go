package site

import (
	"slices"
	"strings"
)

// capabilities of each role, those of the platform that the site asks for or
// that callers look at.
func (n names) roles() map[string][]string {
	author := strings.Fields("read level_0 upload_files edit_posts edit_published_posts publish_posts delete_posts delete_published_posts")
	editor := append(strings.Fields("moderate_comments manage_categories manage_links unfiltered_html edit_others_posts "+
		"edit_pages edit_others_pages edit_published_pages publish_pages delete_pages delete_others_posts read_private_posts"), author...)
	shop := append(strings.Fields(`view_admin_dashboard view_`+n.shop+`_reports create_customers edit_shop_order read_shop_order
		delete_shop_order edit_shop_orders edit_others_shop_orders publish_shop_orders read_private_shop_orders
		delete_shop_orders edit_product read_product delete_product edit_products edit_others_products publish_products
		read_private_products delete_products`), n.manageShop())
	manager := append(append([]string{"list_users", "edit_users", "edit_theme_options", "export", "import"}, shop...), editor...)
	admin := append(strings.Fields(`manage_options activate_plugins install_plugins update_plugins edit_plugins edit_themes
		switch_themes create_users delete_users promote_users remove_users update_core edit_dashboard`), manager...)
	return map[string][]string{
		"administrator": admin, "shop_manager": manager, "editor": editor, "author": author,
		"customer": {"read"}, "subscriber": {"read", "level_0"},
	}
}

// can tells whether one of u's roles has a capability.
func (u *user) can(capability string) bool {
	for _, role := range u.roles {
		if role == capability || slices.Contains(roleCapabilities[role], capability) {
			return true
		}
	}
	return false
}

func (u *user) capabilities() map[string]bool {
	caps := map[string]bool{}
	for _, role := range u.roles {
		for _, c := range roleCapabilities[role] {
			caps[c] = true
		}
		caps[role] = true
	}
	return caps
}

// roleCapabilities holds the capabilities under both sets of names: the two
// differ in the shop's own and do not collide.
var roleCapabilities = func() map[string][]string {
	all := namesOf("cms").roles()
	for role, caps := range namesOf("wordpress").roles() {
		all[role] = append(all[role], caps...)
	}
	return all
}()

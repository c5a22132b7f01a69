package dryrun

import (
	"slices"
	"strings"
)

// roles are the capabilities of each role as the core's and the shop's installation leave
// them (docs/platform/shop-callers). Plugins may change them on a site; --live asks the site.
var roles = func() map[string][]string {
	read := words("read level_0")
	contributor := join(read, "level_1 edit_posts delete_posts")
	author := join(contributor, "level_2 upload_files publish_posts edit_published_posts delete_published_posts")
	editor := join(author, `level_3 level_4 level_5 level_6 level_7 moderate_comments manage_categories manage_links
		unfiltered_html edit_others_posts edit_pages edit_others_pages edit_published_pages publish_pages delete_pages
		delete_others_pages delete_published_pages delete_others_posts delete_private_posts edit_private_posts
		read_private_posts delete_private_pages edit_private_pages read_private_pages`)
	shop := join(shopTypes("product"), strings.Join(slices.Concat(shopTypes("shop_order"), shopTypes("shop_coupon")), " ")+
		" manage_woocommerce manage_shop view_woocommerce_reports view_shop_reports create_customers")
	manager := join(slices.Concat(editor, shop), "level_8 level_9 export import list_users edit_theme_options edit_users view_admin_dashboard")
	administrator := join(manager, `level_10 switch_themes edit_themes activate_plugins edit_plugins edit_files manage_options
		create_users delete_users promote_users remove_users unfiltered_upload edit_dashboard update_plugins delete_plugins
		install_plugins update_themes install_themes delete_themes update_core`)
	return map[string][]string{
		"administrator": administrator, "editor": editor, "author": author, "contributor": contributor, "subscriber": read,
		"shop_manager": manager, "customer": words("read"),
	}
}()

// shopTypes are the capabilities of one of the shop's post types.
func shopTypes(name string) []string {
	return words(strings.ReplaceAll(`edit_X read_X delete_X edit_Xs edit_others_Xs publish_Xs read_private_Xs delete_Xs
		delete_private_Xs delete_published_Xs delete_others_Xs edit_private_Xs edit_published_Xs manage_X_terms edit_X_terms
		delete_X_terms assign_X_terms`, "X", name))
}

func words(text string) []string { return strings.Fields(text) }

func join(to []string, text string) []string { return append(slices.Clip(to), words(text)...) }

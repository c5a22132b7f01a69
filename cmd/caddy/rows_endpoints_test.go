package main

import (
	"fmt"
	"maps"
	"slices"
)

// everyUser is the list of users with nothing but their names.
const everyUser = `[{"slug":"admin"},{"slug":"manager"},{"slug":"customer"},{"slug":"editor"},{"slug":"author"}]`

// previewed asks for a preview before the row, if the release has one.
func previewed(w *world) []edit {
	w.bare(fmt.Sprintf("POST /cms-json/shop/v3/orders/%d/refunds/preview", w.info.Orders[1]), `{}`, w.as("manager"))
	return nil
}

// endpointRows are the core's of section 4.
func endpointRows() []row {
	passwords := "/cms-json/cms/v2/users/5/application-passwords"
	all := []row{
		{of: "4 E1; 1 rule 1", says: "the REST root", line: "GET /cms-json/", bare: ok, text: `"namespaces"`},
		{of: "4 E1", says: "the REST root, logged in", line: "GET /cms-json/", as: "customer", bare: ok, text: `"name":"Reference shop"`},
		{of: "4 E2", says: "users without login", line: "GET /cms-json/cms/v2/users?per_page=2", bare: ok, text: `"slug":"admin"`, gate: always(noList)},
		{of: "4 E2; 2 user; 1 rule 3", says: "the user name of each user", line: "GET /cms-json/cms/v2/users?_fields=slug", bare: ok, text: everyUser, gate: always(noList)},
		{of: "4 E2", says: "a user without login", line: "GET /cms-json/cms/v2/users/1", bare: ok, text: `"slug":"admin"`, gate: always(noList)},
		{of: "4 E2", says: "users, logged in", line: "GET /cms-json/cms/v2/users?per_page=2", as: "customer", bare: ok, text: `"slug":"admin"`},
		{of: "4 E2", says: "oneself with roles", line: "GET /cms-json/cms/v2/users/me?context=edit", as: "admin", bare: ok, text: `"administrator"`},
		{of: "4 E2", says: "oneself without login", line: "GET /cms-json/cms/v2/users/me", bare: always(onlyUsers), wordpress: realNoLogin},
		{of: "4 E3; 2 taxonomy", says: "taxonomies", line: "GET /cms-json/cms/v2/taxonomies", bare: ok, text: `"category"`},
		{of: "4 E3; 1 rule 10", says: "taxonomies in the editor", line: "GET /cms-json/cms/v2/taxonomies?context=edit", as: "editor nonce", bare: ok, text: `"product_cat"`},
		{of: "4 E4; 2 application password", says: "list one's own application passwords", line: "GET " + passwords, as: "author", bare: ok, text: `"name":"demo"`},
		{of: "4 E4", says: "a customer does not list another's", line: "GET " + passwords, as: "customer", bare: always(`403 rest_cannot_list_application_passwords "Sorry, you are not allowed to list application passwords for this user."`)},
		{of: "4 E4", says: "nor does somebody without login", line: "GET " + passwords, bare: always(`401 rest_cannot_list_application_passwords "Sorry, you are not allowed to list application passwords for this user."`)},
		{of: "4 E4", says: "create one, shown once", line: "POST " + passwords, body: `{"name":"phone"}`, as: "author", bare: made, text: `"password":"`},
		{of: "4 E4", says: "a customer does not create another's", line: "POST " + passwords, body: `{"name":"phone"}`, as: "customer", bare: always(`403 rest_cannot_create_application_passwords "Sorry, you are not allowed to create application passwords for this user."`)},
		{of: "4 E4", says: "nor does somebody without login, create", line: "POST " + passwords, body: `{"name":"phone"}`, bare: always(`401 rest_cannot_create_application_passwords "Sorry, you are not allowed to create application passwords for this user."`)},
		{of: "4 E4", says: "revoke one's own application password", line: "DELETE " + passwords + "/UUID", as: "author", prepare: newestPassword, bare: ok, text: `"deleted":true`},
		{of: "4 E4", says: "an administrator revokes another's", line: "DELETE " + passwords + "/UUID", as: "admin", prepare: newestPassword, bare: ok, text: `"deleted":true`},
		{of: "4 E4", says: "a customer does not", line: "DELETE " + passwords + "/UUID", as: "customer", prepare: newestPassword, bare: always(`403 rest_cannot_delete_application_password "Sorry, you are not allowed to delete application password for this user."`)},
		{of: "4 E4", says: "nor somebody without login", line: "DELETE " + passwords + "/UUID", prepare: newestPassword, bare: always(`401 rest_cannot_delete_application_password "Sorry, you are not allowed to delete application password for this user."`)},
		{of: "4 E4", says: "an unknown one", line: "DELETE " + passwords + "/none", as: "admin", bare: always(`404 rest_application_password_not_found "Application password not found."`)},
		{of: "4 E11; 1 rule 5", says: "abilities without login", line: "GET /cms-json/cms-abilities/v1/abilities", bare: always(noRight), wordpress: `401 rest_forbidden "Sorry, you are not allowed to view abilities."`},
		{of: "4 E11; 2 ability; 2 meta.show_in_rest; names abilities namespace", says: "abilities that are shown in REST", line: "GET /cms-json/cms-abilities/v1/abilities", as: "admin", bare: ok, text: "shop/orders-query"},
		{of: "4 E11; 2 meta.show_in_rest", says: "one that is not shown", line: "GET /cms-json/cms-abilities/v1/abilities/core/get-environment-info", as: "admin", bare: always(`404 rest_ability_not_found "Ability not found."`)},
		{of: "4 E11; 2 execute_callback", says: "running one", line: "GET /cms-json/cms-abilities/v1/abilities/core/get-user-info/run", as: "customer", bare: ok, text: `"customer"`},
		{of: "4 E11; 2 permission_callback", says: "running one without the right", line: "GET /cms-json/cms-abilities/v1/abilities/core/get-site-info/run", as: "customer", bare: always(`403 rest_ability_cannot_execute "Sorry, you are not allowed to execute this ability."`)},
		{of: "4 E11", says: "running one with the wrong method", line: "POST /cms-json/cms-abilities/v1/abilities/core/get-user-info/run", as: "customer", bare: always(`405 rest_ability_invalid_method "Read-only abilities require GET method."`)},
		{of: "4 E11; 2 input_schema", says: "input against the schema", line: "POST /cms-json/cms-abilities/v1/abilities/shop/order-update-status/run", body: `{"input":{"id":"x"}}`, as: "admin", bare: always(`400 ability_invalid_input "Ability "shop/order-update-status" has invalid input. Reason: status is a required property of input."`)},
	}
	for _, field := range slices.Sorted(maps.Keys(abilityFields)) {
		of := abilityFields[field]
		all = append(all, row{of: "2 " + of, says: "the ability's " + of, line: "GET /cms-json/cms-abilities/v1/abilities/core/get-user-info", as: "admin", bare: ok, text: field})
	}
	return all
}

// abilityFields are what the abilities route shows of an ability, by their text.
var abilityFields = map[string]string{
	`"name":"core/get-user-info"`: "id", `"label":"Get user information"`: "label", `"description":"Returns the profile of the caller."`: "description",
	`"category":"user"`: "category", `"input_schema":{`: "input_schema", `"output_schema":{`: "output_schema",
}

// shopRows are the shop's of section 4.
func shopRows() []row {
	refunds := "POST /cms-json/shop/v3/orders/<second>/refunds"
	all := []row{
		{of: "4 E5", says: "a refund of an amount", line: refunds, body: `{"amount":"5.00","reason":"late"}`, as: "manager", bare: made, text: `"amount":"5.00"`},
		{of: "4 E5; 2 refund", says: "a computed refund", line: refunds, body: `{"compute_totals":true}`, as: "manager", bare: made, shows: since("11.1", `"amount":""`, `"amount":"25.00"`), gate: since("11.1", noCompute, same)},
		{of: "4 E5", says: "product amounts from the order lines", line: refunds, body: `{"compute_totals":true,"line_items":[{"id":<line>,"quantity":1}]}`, as: "manager", bare: made, shows: since("11.1", `"quantity":-1,"subtotal":"0.00","total":"0.00"`, `"quantity":-1,"subtotal":"-10.00","total":"-10.00"`), gate: since("11.1", noCompute, same)},
		{of: "4 E5", says: "shipping from the order lines", line: refunds, body: `{"compute_totals":true}`, as: "manager", bare: made, shows: since("11.1", `"shipping_lines":[]`, `"total":"-5.00"`), gate: since("11.1", noCompute, same)},
		{of: "4 E5", says: "compute_totals false", line: refunds, body: `{"compute_totals":false,"amount":"5"}`, as: "manager", bare: made, text: `"amount":"5.00"`},
		{of: "4 E5", says: "a refund without login", line: refunds, body: `{"amount":"5.00"}`, bare: always(`401 shop_rest_cannot_create "Sorry, you are not allowed to create resources."`)},
		{of: "4 E6", says: "a refund's preview", line: refunds + "/preview", body: `{}`, as: "manager", bare: since("11.1", noRoute, "200"), shows: since("11.1", "rest_no_route", `"max_refundable":"25.00","subtotal":"25.00","tax":"0.00","total":"25.00"`)},
		{of: "4 E6", says: "which executes nothing", line: refunds, body: `{"amount":"25.00"}`, as: "manager", prepare: previewed, bare: made, text: `"amount":"25.00"`},
		{of: "2 subscription", says: "the billing period", line: "GET /cms-json/shop/v3/subscriptions/<sub>", as: "manager", bare: ok, text: `"billing_period":"`},
		{of: "2 subscription", says: "the payment schedule", line: "GET /cms-json/shop/v3/subscriptions/<sub>", as: "manager", bare: ok, text: `"next_payment_date":"`},
		{of: "2 subscription", says: "the parent order", line: "GET /cms-json/shop/v3/subscriptions/<sub>", as: "manager", bare: ok, text: `"parent_id":`},
		{of: "4 E8; 2 subscription", says: "PUT of a subscription", line: "PUT /cms-json/shop/v3/subscriptions/<sub>", body: `{"status":"on-hold","billing_period":"year"}`, as: "manager", bare: ok, text: `"billing_period":"year"`},
		{of: "4 E8", says: "PATCH of a subscription", line: "PATCH /cms-json/shop/v3/subscriptions/<sub>", body: `{"next_payment_date":"2027-05-01"}`, as: "key", bare: ok, text: `"next_payment_date":"2027-05-01"`},
		{of: "1 rule 4", says: "an order in shop/v2", line: "PUT /cms-json/shop/v2/orders/<order>", body: `{"status":"completed"}`, as: "manager", bare: ok, text: `"status":"completed"`},
		{of: "1 rule 4; 2 refund", says: "a refund in shop/v2", line: "POST /cms-json/shop/v2/orders/<second>/refunds", body: `{"amount":"5.00"}`, as: "manager", bare: made, text: `"amount":"5.00"`},
		{of: "1 rule 4; 2 subscription", says: "a subscription in shop/v2", line: "GET /cms-json/shop/v2/subscriptions/<sub>", as: "manager", bare: ok, text: `"billing_period":"`},
		{of: "1 rule 4", says: "PUT of a subscription in shop/v2", line: "PUT /cms-json/shop/v2/subscriptions/<sub>", body: `{"billing_period":"year"}`, as: "manager", bare: ok, text: `"billing_period":"year"`},
		{of: "1 rule 4", says: "the subscription route of shop/v2 with an order's id", line: "PUT /cms-json/shop/v2/subscriptions/<order>", body: `{}`, as: "manager", bare: always(`400 shop_rest_shop_subscription_invalid_id "Invalid ID."`)},
		{of: "4 E8", says: "the subscription route with an order's id", line: "PUT /cms-json/shop/v3/subscriptions/<order>", body: `{}`, as: "manager", bare: always(`400 shop_rest_shop_subscription_invalid_id "Invalid ID."`)},
		{of: "4 E9; names analytics namespace; 1 rule 4; 9 rule 4", says: "the counters in one call", line: "GET /cms-json/shop-analytics/activity-panel/counts", as: "manager", bare: since("11.1", noRoute, "200"), shows: since("11.1", "rest_no_route", `{"orders_to_fulfill_count":1,"products_low_in_stock_count":1,"reviews_to_moderate_count":0}`)},
		{of: "4 E9", says: "the counters without login", line: "GET /cms-json/shop-analytics/activity-panel/counts", bare: since("11.1", noRoute, `401 shop_rest_cannot_view "Sorry, you cannot list resources."`)},
		{of: "4 E9", says: "the earlier route for orders", line: "GET /cms-json/shop-analytics/orders?status[]=processing&status[]=on-hold&per_page=1", as: "manager", bare: ok},
		{of: "4 E9", says: "the earlier route for reviews", line: "GET /cms-json/shop-analytics/products/reviews?status=hold&per_page=1", as: "manager", bare: ok},
		{of: "4 E9", says: "the earlier route for stock", line: "GET /cms-json/shop-analytics/products/count-low-in-stock?status=publish", as: "manager", bare: ok, text: `"total"`},
		{of: "4 E10; names public checkout API", says: "the cart", line: "GET /cms-json/shop/store/v1/cart", prepare: filledCart, bare: ok, text: `"total_price":"2000"`},
		{of: "4 E10", says: "checkout without expected_total", line: checkout, body: `{}`, prepare: filledCart, bare: ok, text: `"order_id"`},
		{of: "4 E10; 2 checkout request", says: "checkout at the right total", line: checkout, body: `{"expected_total":2000}`, prepare: filledCart, bare: ok, text: `"order_id"`},
		{of: "4 E10", says: "checkout at a stale total", line: checkout, body: `{"expected_total":1999}`, prepare: filledCart, bare: since("11.1", "200", `409 shop_rest_checkout_total_mismatch "The total has changed from 1999 to 2000. Please review your order."`), gate: always(staleTotal)},
		{of: "4 E10", says: "checkout at a stale total, logged in", line: checkout, body: `{"expected_total":1999}`, as: "customer", prepare: filledCart, bare: since("11.1", "200", `409 shop_rest_checkout_total_mismatch "The total has changed from 1999 to 2000. Please review your order."`), gate: always(staleTotal)},
		{of: "4 E10", says: "an expected_total that is no integer", line: checkout, body: `{"expected_total":[1]}`, prepare: filledCart, bare: since("11.1", "200", `400 rest_invalid_param "Invalid parameter(s): expected_total"`), shows: since("11.1", `"order_id"`, "Invalid parameter(s): expected_total"), gate: always(badTotal)},
		{of: "4 E10", says: "checkout of an empty cart", line: checkout, body: `{"expected_total":1}`, prepare: func(w *world) []edit {
			return []edit{header("Cart-Token", w.bare("GET /cms-json/shop/store/v1/cart", "").header.Get("Cart-Token"))}
		}, bare: always(`409 shop_rest_cart_empty "Cannot create order from empty cart."`)},
		{of: "4 E10", says: "checkout without nonce and token", line: checkout, body: `{}`, bare: always(`401 shop_rest_missing_nonce "Missing the Nonce header. This endpoint requires a valid nonce."`)},
	}
	for _, method := range []string{"PUT", "PATCH"} {
		for _, version := range []string{"v2", "v3"} {
			all = append(all, row{
				of: "4 E7; 2 order", says: method + " of an order, " + version, line: method + " /cms-json/shop/" + version + "/orders/<order>",
				body: `{"customer_note":"please ring"}`, as: "manager", bare: ok, text: `"customer_note":"please ring"`,
			})
		}
	}
	return append(all,
		row{of: "4 E7", says: "an order update by a shop key", line: "PUT /cms-json/shop/v3/orders/<order>", body: `{"status":"completed"}`, as: "key", bare: ok},
		row{of: "4 E7", says: "an order update without login", line: "PUT /cms-json/shop/v3/orders/<order>", body: `{}`, bare: always(`401 shop_rest_cannot_edit "Sorry, you are not allowed to edit this resource."`), gate: always(words)},
		row{of: "4 E7", says: "an order update by a customer", line: "PUT /cms-json/shop/v3/orders/<order>", body: `{}`, as: "customer", bare: always(`403 shop_rest_cannot_edit "Sorry, you are not allowed to edit this resource."`)},
	)
}

// pluginRows are E12 to E14 and the notification route.
func pluginRows() []row {
	return []row{
		{of: "4 E12; 4 E4 and E12 stand; 1 rule 7", says: "a visitor's consent", line: "POST /cms-json/consent/v1/consent", body: `{"choice":"all"}`, bare: ok, text: `"success":true`},
		{of: "4 E12; 2 consent log entry", says: "the consent log", line: "GET /cms-json/consent/v1/log", as: "admin", bare: ok, text: `"choice"`, prepare: func(w *world) []edit {
			w.bare("POST /cms-json/consent/v1/consent", `{"choice":"none"}`).want(200)
			return nil
		}},
		{of: "4 E12", says: "an empty consent log", line: "GET /cms-json/consent/v1/log", as: "admin", bare: ok, text: "[]"},
		{of: "4 E12", says: "the consent log without login", line: "GET /cms-json/consent/v1/log", bare: always(noRight)},
		{of: "4 E13; 5 request signature; 4 E13 returns stored", says: "stored options for whoever knows the public id", line: "GET /cms-json/feed/troubleshooting", as: "feed", bare: ok, text: `"access_token"`, gate: always(noSecrets), loginOnly: always(loggedOut)},
		{of: "4 E13", says: "without a signature", line: "GET /cms-json/feed/troubleshooting", bare: always(noRight), gate: always(noSecrets)},
		{of: "4 E13", says: "for a customer", line: "GET /cms-json/feed/troubleshooting", as: "customer", bare: always(noRight), gate: always(noSecrets)},
		{of: "4 E13; 2 plugin options", says: "for an administrator", line: "GET /cms-json/feed/troubleshooting", as: "admin", bare: ok, text: `"access_token"`, gate: always(redacted)},
		{of: "4 E14", says: "store-auth up to 4.4.1, unsigned", line: "POST /cms-json/cookie/v1/store-auth", body: `{"a":1}`, options: cookie("4.4.1"), bare: ok, gate: always(unsigned), loginOnly: always(unsigned)},
		{of: "4 E14", says: "store-auth from 4.4.2, unsigned", line: "POST /cms-json/cookie/v1/store-auth", body: `{"a":1}`, bare: always(`401 rest_invalid_signature "The request signature is missing or invalid."`), gate: always(unsigned), loginOnly: always(unsigned)},
		{of: "4 E14", says: "store-auth from 4.4.2, signed, no signature set up here", line: "POST /cms-json/cookie/v1/store-auth", body: `{"a":1}`, as: "plugin", bare: ok, gate: always(unsigned), loginOnly: always(unsigned)},
		{of: "4 E14", says: "upload-logo up to 4.4.1", line: "POST /cms-json/cookie/v1/upload-logo", body: `x`, options: cookie("4.4.1"), bare: ok, text: `"url"`, gate: always(unsigned), loginOnly: always(unsigned)},
		{of: "4 E14", says: "upload-logo up to 4.4.1, as an administrator", line: "POST /cms-json/cookie/v1/upload-logo", body: `x`, as: "admin", options: cookie("4.4.1"), bare: ok, gate: always(unsigned)},
		{of: "4 E14", says: "upload-logo from 4.4.2", line: "POST /cms-json/cookie/v1/upload-logo", body: `x`, bare: always(noRoute), gate: always(unsigned), loginOnly: always(unsigned)},
	}
}

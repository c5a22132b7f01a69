package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// result is what came of a try.
type result struct {
	answer response // the one that counts
	done   bool     // an attack got what it wanted, an honest call what it asked for
	got    string   // what came of it, in a few words; "" for the code of the answer
}

// gained is a result of which there is something to say only if it is done.
func gained(a response, done bool, got string) result {
	if !done {
		got = ""
	}
	return result{a, done, got}
}

// expect wants 200 and a text.
func expect(line, body, text, got string) func(v *visitor) result {
	return func(v *visitor) result {
		a := v.send(line, body)
		return gained(a, a.status == http.StatusOK && strings.Contains(a.body, text), got)
	}
}

// userNames wants the log-in names of others.
func userNames(line, body string, header ...string) func(v *visitor) result {
	return func(v *visitor) result {
		a := v.send(line, body, header...)
		var users []struct {
			Slug    string
			Avatars any `json:"avatar_urls"` // posts have none
		}
		a.decode(&users)
		count := 0
		for _, u := range users {
			if u.Slug != "" && u.Avatars != nil {
				count++
			}
		}
		return gained(a, count > 0, fmt.Sprintf("%d user names", count))
	}
}

// storedSecrets signs with the plugin's public id, as anybody can.
func storedSecrets(v *visitor) result {
	stamp := now()
	a := v.send("GET {troubleshooting}", "", "X-Timestamp: "+stamp, "X-Signature: "+sign(v.info.Keys.FeedPublicID, stamp))
	var options struct {
		Token string `json:"access_token"`
	}
	a.decode(&options)
	return gained(a, options.Token != "" && options.Token != "[redacted]", "access token")
}

func convertAlone(v *visitor) result {
	a := v.send("PUT {rest}/{shop}/orders/{subscription 1}", `{"customer_note":"x"}`, v.as("admin"))
	return v.converted(a, 0)
}

func convertInBatch(v *visitor) result {
	a := v.send("POST {rest}/{shop}/orders/batch",
		`{"update":[{"id":{order 1},"customer_note":"x"},{"id":{subscription 2},"customer_note":"x"}]}`, v.as("admin"))
	return v.converted(a, 1)
}

// converted looks what has become of a subscription.
func (v *visitor) converted(a response, index int) result {
	record, _ := v.site.Record(v.info.Subscriptions[index])
	if record.Type == "shop_order" {
		return result{a, true, "now an order"}
	}
	return result{a, false, "still a subscription"}
}

func computedRefund(v *visitor) result {
	a := v.send("POST {rest}/{shop}/orders/{order 2}/refunds", `{"compute_totals":true}`, v.as("admin"))
	if a.status != http.StatusCreated {
		return result{a, false, "no refund"}
	}
	var booked struct{ Amount string }
	a.decode(&booked)
	if booked.Amount == "" {
		return result{a, true, "refund of 0.00"}
	}
	return result{a, false, "refund of " + booked.Amount}
}

func checkoutSeen(v *visitor) result {
	customer := v.as("customer")
	cart := v.cart(customer)
	return v.order(v.addMug(customer, cart), customer, cart)
}

// checkoutChanged adds a mug in another tab of the browser before it orders.
func checkoutChanged(v *visitor) result {
	customer := v.as("customer")
	cart := v.cart(customer)
	seen := v.addMug(customer, cart)
	v.addMug(customer, cart)
	return v.order(seen, customer, cart)
}

// cart returns the header line of the shopper's cart.
func (v *visitor) cart(shopper string) string {
	return "Cart-Token: " + v.send("GET {rest}/{checkout}/cart", "", shopper).header.Get("Cart-Token")
}

// addMug returns the total that the shopper sees then.
func (v *visitor) addMug(header ...string) string {
	var cart struct {
		Totals struct {
			Price string `json:"total_price"`
		}
	}
	v.send("POST {rest}/{checkout}/cart/add-item", `{"id":{product 2}}`, header...).decode(&cart)
	return cart.Totals.Price
}

// order orders the cart at the total that the shopper has seen.
func (v *visitor) order(seen string, header ...string) result {
	a := v.send("POST {rest}/{checkout}/checkout", `{"expected_total":`+seen+`}`, header...)
	var ordered struct {
		ID int `json:"order_id"`
	}
	a.decode(&ordered)
	if _, exists := v.site.Record(ordered.ID); exists {
		return result{a, true, "order taken"}
	}
	return result{a, false, "no order"}
}

func uploadLogo(v *visitor) result {
	a := v.send("POST {upload-logo}", "<?php")
	return gained(a, a.status == http.StatusOK && strings.Contains(a.body, "/uploads/"), "file stored")
}

func storeAuthUnsigned(v *visitor) result { return v.storeAuth(`{"store":"a"}`) }

func storeAuthSigned(v *visitor) result {
	const body = `{"store":"b"}`
	return v.storeAuth(body, v.signed(body)...)
}

// storeAuthReplayed sends again what somebody else has signed.
func storeAuthReplayed(v *visitor) result {
	const body = `{"store":"c"}`
	signed := v.signed(body)
	v.storeAuth(body, signed...)
	return v.storeAuth(body, signed...)
}

func (v *visitor) storeAuth(body string, header ...string) result {
	a := v.send("POST {store-auth}", body, header...)
	return gained(a, a.status == http.StatusOK && strings.Contains(a.body, `"success":true`), "stored")
}

// signed returns the header lines that sign a whole request of store-auth.
func (v *visitor) signed(body string) []string {
	stamp, sum := now(), sha256.Sum256([]byte(body))
	message := strings.Join([]string{stamp, http.MethodPost, v.info.Routes.StoreAuth, hex.EncodeToString(sum[:])}, "\n")
	return []string{"X-Timestamp: " + stamp, "X-Signature: " + sign(v.info.Keys.CookiePlugin, message)}
}

func agentDeletes(v *visitor) result {
	a := v.tool("{shop-tools}", `{"name":"{word}-product-delete","arguments":{"id":{product 1}}}`)
	_, exists := v.site.Record(v.info.Products[0])
	return gained(a, !exists, "product gone")
}

// agentCompletes uses the server that runs any ability for its caller.
func agentCompletes(v *visitor) result {
	a := v.tool("{tools}", `{"name":"mcp-adapter-execute-ability","arguments":
		{"ability_name":"{word}/order-update-status","parameters":{"id":{order 1},"status":"completed"}}}`)
	record, _ := v.site.Record(v.info.Orders[0])
	return gained(a, record.Status == "completed", "completed")
}

func agentReads(v *visitor) result {
	a := v.tool("{shop-tools}", `{"name":"{word}-products-query","arguments":{"search":"mug"}}`)
	return gained(a, a.status == http.StatusOK && strings.Contains(a.body, "Mug"), "1 product")
}

// tool calls a tool of a server for agents, with an administrator's password.
func (v *visitor) tool(server, params string) response {
	admin := v.as("admin")
	started := v.send("POST "+server, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`, admin)
	session := "Mcp-Session-Id: " + started.header.Get("Mcp-Session-Id")
	return v.send("POST "+server, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":`+params+`}`, admin, session)
}

// savePost logs in by the form, and saves as the editor does.
func savePost(v *visitor) result {
	cookies := v.cookies("editor")
	nonce := "{nonce}: " + v.send("GET {ajax}?action=rest-nonce", "", cookies).body
	var posts []struct{ ID int }
	v.send("GET {rest}/{core}/posts", "", cookies, nonce).decode(&posts)
	if len(posts) == 0 {
		return result{}
	}
	a := v.send("PUT {rest}/{core}/posts/"+strconv.Itoa(posts[0].ID), `{"title":"Edited"}`, cookies, nonce)
	return gained(a, a.status == http.StatusOK && strings.Contains(a.body, "Edited"), "saved")
}

func updateOrder(v *visitor) result {
	a := v.send("PUT {rest}/{shop}/orders/{order 1}", `{"customer_note":"Ring twice"}`, v.as("admin"))
	record, _ := v.site.Record(v.info.Orders[0])
	return gained(a, a.status == http.StatusOK && record.CustomerNote == "Ring twice", "updated")
}

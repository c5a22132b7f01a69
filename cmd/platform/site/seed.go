package site

import (
	"strconv"
	"time"
)

// seed fills a new site. Passwords and keys are random in each process.
func (s *Site) seed() {
	for _, login := range []string{"admin", "manager", "customer", "editor", "author"} {
		u := s.addUser(login, RoleOf(login))
		u.password, u.bearer = s.token(20), s.token(40)
		s.addAppPassword(u, "demo", "")
	}
	manager, customer := s.userByLogin("manager"), s.userByLogin("customer")
	for _, scope := range []string{"read", "write", "read_write"} {
		s.keys = append(s.keys, &shopKey{key: "ck_" + s.hexToken(20), secret: "cs_" + s.hexToken(20), scope: scope, user: manager})
	}
	s.feed = feedPlugin{publicID: s.hexToken(8)}
	secret := s.token(32)
	s.feed.options = obj{
		"feed_id": s.feed.publicID, "version": "2.1.0", "access_token": secret,
		"source": obj{"access_token": secret, "url": "https://feed.example.test"}, "sync": obj{"enabled": true},
	}
	s.cookies.key = s.hexToken(32)
	// A post of each user, so that the list of a real site shows them all to everybody, too
	// (docs/project/interface 2).
	for i, title := range []string{"Hello world", "New in the shop", "My first mug", "Opening hours", "Summer sale"} {
		s.posts = append(s.posts, &post{id: s.id(), kind: "post", author: s.users[i].id, title: title, content: title + ".", status: "publish", date: s.opt.Now()})
	}
	s.seedShop(customer)
}

// RoleOf returns the role of a user that a new site has.
func RoleOf(login string) string {
	switch login {
	case "admin":
		return "administrator"
	case "manager":
		return "shop_manager"
	}
	return login
}

// addUser adds an account with one role and no password.
func (s *Site) addUser(login, role string) *user {
	id := 1
	if len(s.users) > 0 {
		id = s.users[len(s.users)-1].id + 1
	}
	u := &user{
		id: id, login: login, name: login, email: login + "@example.test", password: s.token(20), roles: []string{role},
		registered: s.opt.Now(), sessions: map[string]time.Time{},
	}
	s.users = append(s.users, u)
	return u
}

// seedShop makes two products, five orders, one of them partly refunded, and
// two subscriptions with their parents.
func (s *Site) seedShop(customer *user) {
	shirt := &product{
		id: s.id(), name: "Shirt", kind: "variable", status: "publish", price: 2000, stock: 20,
		description: "A cotton shirt. <!-- " + s.names.core + ":" + s.names.shop + "/product-rating /-->",
	}
	for _, size := range []string{"S", "L"} {
		shirt.variations = append(shirt.variations, &variation{id: s.id(), name: "Shirt " + size, price: 2000})
	}
	mug := &product{id: s.id(), name: "Mug", kind: "simple", status: "publish", price: 1000, stock: lowStock, description: "A coffee mug."}
	s.products[shirt.id], s.products[mug.id] = shirt, mug

	home := Addresses{Email: customer.email, Country: defaultCountry}
	order := func(status string, items ...Item) *Record {
		return s.addRecord(&Record{
			Type: typeOrder, Status: status, CustomerID: customer.id, Addresses: home, Items: items,
			Shipping: Item{ID: s.id(), Name: "Flat rate", Total: 500},
		})
	}
	order("processing", s.newItem(shirt.id, shirt.variations[1].id, 2, "US"), s.newItem(mug.id, 0, 1, "US"))
	order("completed", s.newItem(mug.id, 0, 2, "US"))
	refunded := order("completed", s.newItem(mug.id, 0, 3, "US"))
	broken := refunded.Items[0]
	broken.Quantity, broken.Total = 1, mug.price
	s.addRecord(&Record{
		Type: typeRefund, Status: "completed", ParentID: refunded.ID, Items: []Item{broken}, Amount: broken.Total.String(), Reason: "Broken",
	})
	for i, period := range []string{"month", "year"} {
		parent := order("completed", s.newItem(mug.id, 0, i+1, "US"))
		now := s.opt.Now().UTC()
		next := now.AddDate(0, 1, 0)
		if period == "year" {
			next = now.AddDate(1, 0, 0)
		}
		sub := s.addRecord(&Record{
			Type: typeSubscription, Status: "active", ParentID: parent.ID, CustomerID: customer.id, Addresses: home,
			Items: []Item{s.newItem(mug.id, 0, i+1, "US")}, BillingPeriod: period, BillingInterval: 1,
			Schedule: map[string]string{"start": now.Format(date), "next_payment": next.Format(date), "end": ""},
		})
		s.addNote(parent, "system", "Subscription "+strconv.Itoa(sub.ID)+" created.", false)
	}
}

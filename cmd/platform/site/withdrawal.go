package site

import (
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// withdrawalPath is the page of the account area; it has no REST route
// (docs/platform III.11).
const withdrawalPath = "/my-account/withdraw-order"

// withdrawalPause is the time between two submissions of one address or e-mail.
const withdrawalPause = 30 * time.Second

// withdrawal is a submitted form, as the page shows it again.
type withdrawal struct {
	FirstName, LastName, Email, Confirmation string
	OrderNumber, Type, Details               string
	Nonce, NonceField                        string
	Step, Error                              string // Step: form, review or done
	Late                                     bool
	Unsent                                   bool // the mail to the operator could not be sent
}

// oneLine is what may stand in a header of a mail.
var oneLine = regexp.MustCompile(`\A[^\r\n\x00]{1,200}\z`)

var validEmail = regexp.MustCompile(`\A[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\z`)

// serveWithdrawal is the withdrawal form: form, review, confirmation. Anonymous
// customers may use it.
func (s *Site) serveWithdrawal(w http.ResponseWriter, r *http.Request, in *input) {
	s.mu.Lock()
	on := s.features["order_withdrawal"]
	u, session := s.cookieUser(r)
	s.mu.Unlock()
	if !on {
		s.notFound(w, r)
		return
	}
	login := ""
	if u != nil {
		login = u.login
	}
	nonce := s.stamp("withdrawal", login, session)[:10]
	field := func(name string) string {
		v, _ := in.post.Get(name)
		return strings.TrimSpace(text(v))
	}
	form := withdrawal{
		FirstName: field("order_withdrawal_first_name"), LastName: field("order_withdrawal_last_name"),
		Email: field("order_withdrawal_email"), Confirmation: field("order_withdrawal_email_confirmation"),
		OrderNumber: field("order_withdrawal_order_number"), Type: field("order_withdrawal_withdrawal_type"),
		Details: field("order_withdrawal_additional_details"),
		Nonce:   nonce, NonceField: s.names.shop + "-order-withdrawal-nonce", Step: "form",
	}
	action := field("order_withdrawal_action")
	if r.Method == http.MethodPost && action != "edit" {
		switch form.Error = form.check(); {
		case !equal(field(form.NonceField), nonce):
			form.Error = "Your session has expired. Please try again."
		case form.Error != "":
		case action == "confirm":
			s.withdraw(r, &form)
		default:
			form.Step = "review"
		}
	}
	s.render(w, r, http.StatusOK, "withdrawal", form)
}

// check says what is wrong with the fields, "" where nothing is.
func (f *withdrawal) check() string {
	switch {
	case !oneLine.MatchString(f.FirstName) || !oneLine.MatchString(f.LastName):
		return "Please enter your name."
	case !validEmail.MatchString(f.Email):
		return "Please enter a valid e-mail address."
	case !strings.EqualFold(f.Email, f.Confirmation):
		return "The e-mail addresses do not match."
	case !oneLine.MatchString(f.OrderNumber):
		return "Please enter the order number."
	case f.Type != "full_order" && f.Type != "specific_items_only":
		return "Please choose what to withdraw."
	}
	return ""
}

// withdraw accepts a confirmed form: a mail to the operator and an inbox entry whether or
// not an order matches (docs/project/interface 6), and for a matching order a mark and a note. The
// address in the form gets no mail: anybody may type any address.
func (s *Site) withdraw(r *http.Request, form *withdrawal) {
	m, accepted := s.recordWithdrawal(r, form)
	if !accepted {
		return
	}
	form.Step = "done"
	form.Unsent = !s.send(m)
}

// recordWithdrawal returns the mail about a confirmed form, or says in the form why it is
// not accepted.
func (s *Site) recordWithdrawal(r *http.Request, form *withdrawal) (m mail, accepted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.opt.Now()
	maps.DeleteFunc(s.withdrawn, func(_ string, at time.Time) bool { return now.Sub(at) >= withdrawalPause })
	keys := []string{"ip " + clientAddress(r), "mail " + strings.ToLower(form.Email)}
	for _, key := range keys {
		if _, recent := s.withdrawn[key]; recent {
			form.Error = "Please wait a moment before you submit again."
			return m, false
		}
	}
	order := s.withdrawable(form)
	if order != nil && order.Meta["_order_withdrawal_requested"] == "yes" {
		form.Error = "A withdrawal was already requested for this order."
		return m, false
	}
	for _, key := range keys {
		s.withdrawn[key] = now
	}
	name := "unmatched-" + strconv.Itoa(s.id())
	if order != nil {
		order.Meta["_order_withdrawal_requested"] = "yes"
		s.addNote(order, "system", "The customer requested a withdrawal ("+form.Type+").", false)
		form.Late = now.Sub(order.Created) > 14*24*time.Hour
		name = "order-" + strconv.Itoa(order.ID)
	}
	s.addInbox(s.names.short()+"-order-withdrawal-requested-"+name, "Order withdrawal requested",
		form.FirstName+" "+form.LastName+" asks to withdraw order "+form.OrderNumber+".")
	return mail{
		to: s.merchant(), subject: "Order withdrawal requested",
		body: form.Email + " asks to withdraw order " + form.OrderNumber + ".\r\n" + form.Details,
	}, true
}

// withdrawable is the order whose number and billing e-mail the form names.
func (s *Site) withdrawable(form *withdrawal) *Record {
	id, _ := strconv.Atoi(strings.TrimPrefix(form.OrderNumber, "#"))
	r := s.records[id]
	if r == nil || r.Type != typeOrder || !strings.EqualFold(r.Email, form.Email) {
		return nil
	}
	return r
}

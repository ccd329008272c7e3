package operatorapi

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// Page is the web page on which payers confirm orders. The token in its path is the only credential. Handle and Refuse
// return pages that have no scripts.
type Page struct {
	Path  string         // below the base URL of the operator's API, with the parameter {token}
	Token *regexp.Regexp // form of the tokens of its orders
	// Handle answers with the page. If the visit has a form, it first does what the form asks.
	Handle func(context.Context, Sandbox, *Visit) (Answer, error)
	// Refuse returns the page for a refusal. If no order has the token, the reason is [NotFound].
	Refuse func(*Refusal, Look) Answer
	// View returns what a merchant sees of an order that waits for its payer. It returns an error if the stored
	// fields cannot be decoded.
	View func(Checkout) (CheckoutView, error)
}

// CheckoutView is what a merchant sees of an order that waits for its payer, in addition to the fields of [Checkout].
type CheckoutView struct {
	Country  payments.Country
	Currency payments.Currency // of the environment
	Token    string            // names the order on its page
}

// Of returns the path of the page of an order, below the base URL of the operator's API.
func (p *Page) Of(token string) string { return strings.Replace(p.Path, "{token}", token, 1) }

// HTML is the content type of pages. A page is an answer whose body is a [Text].
const HTML = "text/html; charset=utf-8"

// Visit is a request of a payer's browser.
type Visit struct {
	Look
	Order Checkout
	Form  url.Values // nil: the page is only shown
}

// Look is how a page looks.
type Look struct {
	Stylesheet, Icon, Sprite string // addresses
	Theme                    string // light or dark; empty: the system's
	Lang                     string // best of en and fr for the browser; empty: neither
}

// Checkout is an order that a payer confirms on a page. It is no transaction, and moves nothing.
type Checkout struct {
	Reference string        // reference of the collection that Confirm records
	Token     string        // names the order on its page
	Amount    int64         // in whole units of the environment's currency
	Sent      any           // fields of the request that the page and its answers need; encoded as JSON
	Lifetime  time.Duration // of a new order, in sandbox time
	Expired   bool          // of a stored order: whether its lifetime is over
	Ended     bool          // of a stored order: whether it ended without a collection
	Canceled  bool          // of an ended order: whether its payer ended it
	Tried     int           // of a stored order: number of codes that were tried
	Codes     int           // of a stored order: maximum of Tried
}

// Read decodes the field Sent of a stored order.
func (o *Checkout) Read(sent any) error {
	text, _ := o.Sent.(json.RawMessage)
	return json.Unmarshal(text, sent)
}

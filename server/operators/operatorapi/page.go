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
	// Code is whether payers type a one-time code, which their phones show.
	Code bool
	// Scan is for orders whose addresses payers scan as QR codes; nil: they do not.
	Scan *Scan
}

// Scan is what the phone of a payer does with the QR code of an order.
type Scan struct {
	// Read returns what the phone shows.
	Read func(context.Context, Sandbox, Checkout) (Scanned, error)
	// Pay pays the order from a number, which has confirmed it. draft is that of [Scanned]: a payment with the same one is
	// made once. accepted is false if the merchant did not accept the payment.
	Pay func(ctx context.Context, s Sandbox, o Checkout, msisdn, draft string) (accepted bool, err error)
}

// Scanned is what the phone of a payer shows of a QR code.
type Scanned struct {
	Merchant, ShortCode, Account string
	Amount                       int64
	Currency                     payments.Currency
	Payable                      bool   // whether the code can be paid
	Draft                        string // names the payment that has not been made yet
}

// CheckoutView is what a merchant sees of an order that waits for its payer, in addition to the fields of [Checkout].
type CheckoutView struct {
	Country  payments.Country
	Currency payments.Currency // of the environment
	Token    string            // names the order on its page
	Title    string            // the merchant's name of the order; empty: its reference
	Repeats  bool              // whether it is paid as often as payers want, as a QR code is
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
	Query url.Values // of the address
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

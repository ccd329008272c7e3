package mpesa

import (
	"context"
	"net/http"
	"net/url"
	"regexp"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/operators/payerpage"
	"github.com/cauri-dev/cauri/server/operators/ussd"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/qrcode"
)

// pagePath is the path of the page of a QR code. It is short, because a QR code with a short text is easy to read.
const pagePath = "/c/{token}"

// pageToken matches the tokens that generateQR draws.
var pageToken = regexp.MustCompile(`^[0-9a-f]{32}$`)

// page is the page of a QR code.
var page = operatorapi.Page{
	Path: pagePath, Token: pageToken, Handle: servePage, Refuse: refusePage, View: viewOf,
	Scan: &operatorapi.Scan{Read: scanned, Pay: payScanned},
}

// view has what the page shows: the form, or how a payment ended.
type view struct {
	payerpage.Frame
	*words
	operatorapi.Scanned
	Known   bool // whether the code is known
	Form    bool
	Problem string // what is wrong with the form; empty: nothing
	Digits  string // amount
	TransID string // of a payment that was made; empty for none
	Waiting string // id of a payment without an outcome; empty for none
	Code    *qrcode.Code
}

// words are the sentences of the page in a language.
type words struct {
	about, confirm, leave                          string
	shop, shortCode, account                       string
	number, numberTitle, notANumber, confirmIt     string
	cancel, anew, reload, own                      string
	paid, paidText, waits, waitsText, failed       string
	cancelled, nothing, rejected, rejectedText     string
	cannot, cannotText                             string
	gone, goneText, busy, busyText, many, manyText string
	unreadable, unreadableText                     string
	texts                                          ussd.Texts
}

var english = words{
	about: "QR code", confirm: "Pay with M-PESA", leave: "Check the shop and the amount, and type the number that pays.",
	shop: "Shop", shortCode: "Short code", account: "Account",
	number: "M-PESA number", numberTitle: "A number, with or without the country code", confirmIt: "Pay", cancel: "Cancel",
	notANumber: "This is no phone number. Type it with or without the country code +",
	anew:       "Pay again", reload: "Load the page again", own: "Scan this code to open the page on a phone.",
	paid: "Paid", paidText: "The shop gets a confirmation.", waits: "The payment is being made", waitsText: "The operator has not answered yet.",
	failed: "The payment has failed", cancelled: "Cancelled", nothing: "Nothing was paid.",
	rejected: "The shop did not accept the payment", rejectedText: "Nothing was paid. Ask the shop whether the account is right.",
	cannot: "Nothing can be paid here", cannotText: "This code does not pay a short code of this sandbox.",
	gone: "This code does not exist", goneText: "The address is incomplete, the code is older than 30 days, or the sandbox was reset. Ask the shop for a new code.",
	busy: "Out of service", busyText: "Try again in a moment. Your messages say whether a payment was made.",
	many: "Too many requests", manyText: "Try again in a minute. Your messages say whether a payment was made.",
	unreadable: "The form cannot be read", unreadableText: "Load the page again, and fill in the form again.",
	texts: ussd.Of(payments.MPesa, "KE"),
}

var french = words{
	about: "Code QR", confirm: "Payer avec M-PESA", leave: "Vérifier la boutique et le montant, et saisir le numéro qui paie.",
	shop: "Boutique", shortCode: "Numéro court", account: "Compte",
	number: "Numéro M-PESA", numberTitle: "Un numéro, avec ou sans l'indicatif du pays", confirmIt: "Payer", cancel: "Annuler",
	notANumber: "Ce n'est pas un numéro de téléphone. Le saisir avec ou sans l'indicatif +",
	anew:       "Payer encore", reload: "Recharger la page", own: "Scanner ce code pour ouvrir la page sur un téléphone.",
	paid: "Paiement effectué", paidText: "La boutique reçoit une confirmation.",
	waits: "Paiement en cours", waitsText: "L'opérateur n'a pas encore répondu.",
	failed: "Le paiement a échoué", cancelled: "Paiement annulé", nothing: "Rien n'a été payé.",
	rejected: "La boutique n'a pas accepté le paiement", rejectedText: "Rien n'a été payé. Demander à la boutique si le compte est le bon.",
	cannot: "Rien ne peut être payé ici", cannotText: "Ce code ne paie pas un numéro court de ce bac à sable.",
	gone: "Ce code n'existe pas", goneText: "L'adresse est incomplète, le code a plus de 30 jours, ou le bac à sable a été remis à zéro. " +
		"Demander un nouveau code à la boutique.",
	busy: "Service indisponible", busyText: "Réessayer dans un instant. Les messages du téléphone disent si un paiement est fait.",
	many: "Trop de requêtes", manyText: "Réessayer dans une minute. Les messages du téléphone disent si un paiement est fait.",
	unreadable: "Formulaire illisible", unreadableText: "Recharger la page et la remplir à nouveau.",
	texts: ussd.Of(payments.Orange, payments.CoteDIvoire), // the French ones
}

// newView returns a page in the language of the browser. It is in English for all others than French.
func newView(look operatorapi.Look) *view {
	v := &view{words: &english}
	if look.Lang == payerpage.French {
		v.words = &french
	}
	look.Lang = v.texts.Lang
	v.Frame = payerpage.Frame{Look: look, Operator: payments.MPesa, Brand: "M-PESA", For: v.about}
	return v
}

// say sets the title, the text under it, and the icon beside it.
func (v *view) say(title, text, sign, class string) *view {
	v.Title, v.Text, v.Sign, v.Class = title, text, sign, class
	return v
}

// page returns the answer with the page and an HTTP status.
func (v *view) page(status int) operatorapi.Answer { return payerpage.Answer(v.document(), status) }

// The query of the address after a form: the id of the payment, or that the payer has cancelled.
const (
	paidQuery      = "paid"
	cancelledQuery = "cancelled"
)

// servePage answers with the page of a code. If the visit has a form, it first pays.
func servePage(ctx context.Context, s operatorapi.Sandbox, visit *operatorapi.Visit) (operatorapi.Answer, error) {
	if visit.Order.Expired {
		return operatorapi.Answer{}, operatorapi.Refuse(operatorapi.NotFound)
	}
	v := newView(visit.Look)
	var err error
	if v.Scanned, err = scanned(ctx, s, visit.Order); err != nil {
		return operatorapi.Answer{}, err
	}
	v.Known, v.Digits = true, v.texts.Digits(v.Amount)
	switch transID := visit.Query.Get(paidQuery); {
	case !v.Payable:
		return v.say(v.cannot, v.cannotText, "st-off", "bad").page(http.StatusOK), nil
	case visit.Form != nil:
		return v.pay(ctx, s, visit)
	case transID != "":
		return v.outcome(ctx, s, visit, transID)
	case visit.Query.Has(cancelledQuery):
		return v.say(v.cancelled, v.nothing, "st-off", "bad").page(http.StatusOK), nil
	}
	if v.Code, err = qrcode.Draw(s.PageOf(visit.Order)); err != nil {
		return operatorapi.Answer{}, err
	}
	return v.ask().page(http.StatusOK), nil
}

// ask sets the form.
func (v *view) ask() *view {
	v.Form = true
	return v.say(v.confirm, v.leave, "", "")
}

// pay does what a form asks, and redirects to the outcome.
func (v *view) pay(ctx context.Context, s operatorapi.Sandbox, visit *operatorapi.Visit) (operatorapi.Answer, error) {
	if visit.Form.Get("action") == "cancel" {
		return payerpage.Redirect(cancelledQuery), nil
	}
	country := s.Environments()[0].Country
	msisdn, isNumber := payerpage.MSISDN(visit.Form.Get("msisdn"), country) // no page shows it again: the next payer may use the same browser
	if !isNumber {
		v.Problem = v.notANumber + country.CallingCode() + "."
		return v.ask().page(http.StatusUnprocessableEntity), nil
	}
	result, err := payCode(ctx, s, visit.Order, msisdn, visit.Form.Get("draft"))
	if err != nil {
		return operatorapi.Answer{}, err
	}
	if result.Rejected != "" {
		return v.say(v.rejected, v.rejectedText, "st-fail", "bad").page(http.StatusOK), nil
	}
	return payerpage.Redirect(url.Values{paidQuery: {result.TransID}}.Encode()), nil
}

// outcome answers with the state of a payment of the code. An id of no payment gets the form.
func (v *view) outcome(ctx context.Context, s operatorapi.Sandbox, visit *operatorapi.Visit, transID string) (operatorapi.Answer, error) {
	t, err := paymentOf(ctx, s, &visit.Order, transID)
	if operatorapi.IsRefused(err, operatorapi.NotFound) {
		return payerpage.Redirect(""), nil
	}
	if err != nil {
		return operatorapi.Answer{}, err
	}
	switch t.Status {
	case payments.Success:
		v.TransID = transID
		v.say(v.paid, v.paidText, "st-ok", "ok")
	case payments.Pending:
		v.Waiting = transID
		v.say(v.waits, v.waitsText, "st-wait", "wait")

	default:
		v.say(v.failed, v.texts.Failure(t.Status), "st-fail", "bad")
	}
	return v.page(http.StatusOK), nil
}

// refusePage returns the page for a refusal.
func refusePage(r *operatorapi.Refusal, look operatorapi.Look) operatorapi.Answer {
	v, status := newView(look), expressErrors.refuse(r).Status
	switch r.Reason {
	case operatorapi.NotFound, operatorapi.KeyInvalid:
		return v.say(v.gone, v.goneText, "st-off", "bad").page(http.StatusNotFound)
	case operatorapi.Invalid:
		return v.say(v.unreadable, v.unreadableText, "st-off", "bad").page(http.StatusBadRequest)
	case operatorapi.TooMany:
		v.say(v.many, v.manyText, "st-off", "bad")
	default:
		v.say(v.busy, v.busyText, "st-off", "bad")
	}
	v.Again = true
	return v.page(status)
}

package orange

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/operators/payerpage"
	"github.com/cauri-dev/cauri/server/operators/ussd"
	"github.com/cauri-dev/cauri/server/payments"
)

// pagePath is the path of the page, as in the addresses of Orange (Documented).
const pagePath = "/payment/pay_token/{token}"

// pageToken matches the tokens that placeOrder draws.
var pageToken = regexp.MustCompile(`^[0-9a-f]{64}$`)

// view has what the page shows: the form, or how the order ended.
type view struct {
	payerpage.Frame
	Form     bool
	Problem  string // what is wrong with the form; empty: nothing
	Amount   string
	Money    string // currency of the amount; empty: the order is not known
	Merchant string
	Order    string
	TxnID    string // id of a successful payment; empty for none
	Back     string // address of the shop
}

// newFrame returns the frame of the page. It is always in French, as that of the operator.
func newFrame(look operatorapi.Look) payerpage.Frame {
	look.Lang = payerpage.French
	return payerpage.Frame{Look: look, Operator: payments.Orange, Brand: "Orange Money", For: "Paiement web"}
}

// page returns the answer with the page and an HTTP status.
func (v *view) page(status int) operatorapi.Answer { return payerpage.Answer(v.document(), status) }

// french has the sentences of the page.
var french = ussd.Of(payments.Orange, payments.CoteDIvoire)

// newView returns the page of an order in its state.
func newView(v *operatorapi.Visit, o *order) *view {
	shown := &view{
		Frame: newFrame(v.Look), Merchant: o.Merchant, Amount: french.Digits(o.Amount), Money: ussd.CurrencyIn("fr", payments.Currency(o.Money)),
		Order: o.Reference, Back: o.ReturnURL,
	}
	switch o.state {
	case success:
		shown.Sign, shown.Class = "st-ok", "ok"
		shown.Title, shown.Text, shown.TxnID = "Paiement effectué", "Le montant a été débité. Retournez à la boutique.", o.txnID
	case pending:
		shown.Sign, shown.Class = "st-wait", "wait"
		shown.Title, shown.Text = "Paiement en cours", "L'opérateur n'a pas encore répondu."
	case expired:
		shown.Sign, shown.Class = "st-time", "bad"
		shown.Title, shown.Text = "Ce paiement a expiré", "Il pouvait être confirmé pendant 10 minutes. Rien n'a été payé."
		if o.status != "" { // it was confirmed
			shown.Text = "L'opérateur n'a pas répondu à temps. Rien n'a été payé."
		}
	case failed:
		shown.Sign, shown.Class = "st-fail", "bad"
		shown.Title, shown.Text = endOf(o)
		if o.status == "" && o.Canceled { // the payer canceled it, and did not confirm it in another tab
			shown.Back = o.CancelURL
		}
	default:
		shown.Title, shown.Text, shown.Form = "Confirmer le paiement", "La boutique attend la confirmation pendant 10 minutes.", true
		switch left := o.Codes - o.Tried; {
		case o.Tried > 0 && left == 1:
			shown.Problem = lastTry + "Il reste un essai."
		case o.Tried > 0:
			shown.Problem = fmt.Sprintf(lastTry+"Il reste %d essais.", left)
		}
	}
	return shown
}

// lastTry is shown after a wrong code, and if the operator did not answer.
const lastTry = "Le dernier essai n'a pas abouti\u00a0: vérifier le numéro et le code. "

// endOf returns the texts that say why an order failed.
func endOf(o *order) (title, text string) {
	switch title = "Le paiement a échoué"; {
	case o.status != "":
		return title, french.Failure(o.status)
	case o.Canceled:
		return "Paiement annulé", "Rien n'a été payé."
	case o.Tried >= o.Codes:
		return title, "Trop d'essais n'ont pas abouti. Rien n'a été payé."
	}
	return title, "La commande a déjà été payée autrement. Rien n'a été payé ici."
}

// servePage answers with the page of an order. If the visit has a form, it first confirms or cancels the order.
func servePage(ctx context.Context, s operatorapi.Sandbox, v *operatorapi.Visit) (operatorapi.Answer, error) {
	o, err := read(ctx, s, v.Order)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	switch {
	case v.Form == nil || o.state != initiated:
		return newView(v, o).page(http.StatusOK), nil
	case v.Form.Get("action") == "cancel":
		return answerDecision(ctx, s, v, o, s.Cancel(ctx, v.Order))
	}
	return confirm(ctx, s, v, o)
}

// confirm records the collection of an order if the number and the code are right.
func confirm(ctx context.Context, s operatorapi.Sandbox, v *operatorapi.Visit, o *order) (operatorapi.Answer, error) {
	shown := newView(v, o)
	msisdn, isNumber := payerpage.MSISDN(v.Form.Get("msisdn"), o.Country) // no page shows it again: the next payer may use the same browser
	shown.Problem = ""
	code := strings.Join(strings.Fields(v.Form.Get("otp")), "")
	switch {
	case !isNumber:
		shown.Problem = "Ce n'est pas un numéro de téléphone. Saisir le numéro avec ou sans l'indicatif +" + o.Country.CallingCode() + "."
	case !codeForm.MatchString(code):
		shown.Problem = "Le code a six chiffres."
	}
	if shown.Problem != "" {
		return shown.page(http.StatusUnprocessableEntity), nil
	}
	err := s.Confirm(ctx, v.Order, code, operatorapi.Order{
		Order: payments.Order{
			Details: payments.Details{Reference: o.Reference, Currency: string(o.checkoutSent.Currency), MSISDN: msisdn},
			Country: o.Country, Amount: o.Amount,
		},
		Operation: payCall, Sent: sent{o.NotifToken}, CallbackURL: o.NotifURL,
	})
	refused := operatorapi.IsRefused(err, operatorapi.WrongCode) || operatorapi.IsRefused(err, operatorapi.Duplicate) ||
		operatorapi.IsRefused(err, operatorapi.NotFound)
	if !refused {
		return answerDecision(ctx, s, v, o, err)
	}
	return payerpage.Redirect(""), nil
}

// again reads an order with its present state.
func again(ctx context.Context, s operatorapi.Sandbox, token string) (*order, error) {
	found, err := s.FindCheckout(ctx, token)
	if err != nil {
		return nil, err
	}
	return read(ctx, s, found)
}

// answerDecision answers the payer's decision on an order. The parameter err is the error of that decision; nil if the decision
// was recorded. The page shows how the order ended. The header Refresh leads the browser to an address of the shop.
// answerDecision does not redirect, because the policy of the page makes browsers refuse a redirect to another site after a
// form.
func answerDecision(ctx context.Context, s operatorapi.Sandbox, v *operatorapi.Visit, o *order, err error) (operatorapi.Answer, error) {
	if err == nil {
		o, err = again(ctx, s, v.Order.Token)
	}
	if err != nil {
		return operatorapi.Answer{}, err
	}
	if o.state == initiated { // another request is confirming the order, so it has not ended
		return payerpage.Redirect(""), nil
	}
	shown := newView(v, o)
	answer := shown.page(http.StatusOK)
	answer.Header = http.Header{"Refresh": {"0; url=" + inHeader(shown.Back)}}
	return answer, nil
}

// inHeader returns an address with escapes for all characters outside ASCII, because browsers read headers as ISO
// 8859-1.
func inHeader(address string) string {
	return notASCII.ReplaceAllStringFunc(address, url.QueryEscape)
}

var notASCII = regexp.MustCompile(`[^\x00-\x7f]+`)

var codeForm = regexp.MustCompile(`^[0-9]{6}$`)

// tryAgain and pageTells are the beginning and the end of a sentence. pageTells says that the page shows whether the
// payment is made: the payment may have succeeded although the payer did not get the page.
const tryAgain, pageTells = "Réessayer ", "\u00a0: la page dira si le paiement est fait."

// refusePage returns the page for a refusal.
func refusePage(r *operatorapi.Refusal, look operatorapi.Look) operatorapi.Answer {
	shown := view{Frame: newFrame(look)}
	shown.Sign, shown.Class, shown.Again = "st-off", "bad", true
	shown.Title, shown.Text = "Service indisponible", tryAgain+"dans un instant"+pageTells
	status := refuse(r).Status
	switch r.Reason {
	case operatorapi.NotFound, operatorapi.KeyInvalid:
		shown.Title, shown.Text = "Ce paiement n'existe pas",
			"L'adresse est incomplète, ou le bac à sable a été remis à zéro. Revenir à la boutique et recommencer le paiement."
		shown.Again, status = false, http.StatusNotFound
	case operatorapi.TooMany:
		shown.Title, shown.Text = "Trop de requêtes", tryAgain+"dans une minute"+pageTells
	case operatorapi.Invalid:
		shown.Title, shown.Text, status = "Formulaire illisible", "Recharger la page et la remplir à nouveau.", http.StatusBadRequest
	}
	return shown.page(status)
}

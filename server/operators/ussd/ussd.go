// Package ussd has the texts that operators show on their customers' phones, in the language of the country.
//
// The sentences are Assumed, because no operator documents them. The codes of menus are Documented.
package ussd

import (
	"fmt"
	"strings"

	"github.com/cauri-dev/cauri/server/payments"
)

// Texts has the texts of an operator in a country.
type Texts struct {
	Lang                   string // BCP 47 tag
	Service                string // name of the operator's money service
	Code                   string // USSD code of its menu; empty: it is not known
	Pay, PIN, Cancel, Send string // text before the merchant's name, label of the field, labels of the keys
	Locked                 string
	account                string
	fee, noFee             string // sentences that ask for the PIN
	paid, received, refund string // sentences, with | around the amount
	balance                string
	money, group           string // a currency with its amount, and the separator of groups of digits
	currency               string
	failed                 string
	failures               map[payments.Status]string
}

var english = Texts{
	Lang: "en", Pay: "Pay", PIN: "PIN", Cancel: "Cancel", Send: "Send", Locked: "SIM blocked", account: "%s account suspended",
	fee: "%s + fee %s. Enter your PIN to confirm.", noFee: "Fee %s. Enter your PIN to confirm.",
	paid: "You have paid |%s| to %s. Fee %s.", received: "You have received |%s| from %s.",
	refund: "You have received a refund of |%s| from %s.", balance: "New balance %s. Txn %s. %s. Ref",
	money: "%[1]s %[2]s", group: ",", failed: "The payment has failed. Nothing was paid.",
	failures: map[payments.Status]string{
		payments.UserCancelled:     "You have cancelled. Nothing was paid.",
		payments.PINInvalid:        "Wrong PIN. Nothing was paid.",
		payments.InsufficientFunds: "Your balance is too low. Nothing was paid.",
		payments.Timeout:           "You did not answer in time. Nothing was paid.",
		payments.LimitExceeded:     "The amount is over your limit. Nothing was paid.",
	},
}

var french = Texts{
	Lang: "fr", Pay: "Paiement à", PIN: "Code secret", Cancel: "Annuler", Send: "Valider", Locked: "SIM bloquée",
	account: "Compte %s suspendu",
	fee:     "%s + frais %s. Tapez votre code secret pour valider.", noFee: "Frais %s. Tapez votre code secret pour valider.",
	paid: "Vous avez payé |%s| à %s. Frais %s.", received: "Vous avez reçu |%s| de %s.",
	refund: "Vous avez reçu un remboursement de |%s| de %s.", balance: "Nouveau solde %s. Txn %s. %s. Réf",
	money: "%[2]s %[1]s", group: "\u202f", failed: "Le paiement a échoué. Rien n'a été payé.",
	failures: map[payments.Status]string{
		payments.UserCancelled:     "Vous avez annulé. Rien n'a été payé.",
		payments.PINInvalid:        "Code secret incorrect. Rien n'a été payé.",
		payments.InsufficientFunds: "Votre solde est insuffisant. Rien n'a été payé.",
		payments.Timeout:           "Vous n'avez pas répondu à temps. Rien n'a été payé.",
		payments.LimitExceeded:     "Le montant dépasse votre plafond. Rien n'a été payé.",
	},
}

// Of returns the texts of an operator in a country.
func Of(o payments.Operator, country payments.Country) Texts {
	s := spoken(country.Facts().Languages)
	s.Service, s.Code = o.Facts().Service, payments.Facts(o, country).USSD
	s.currency = CurrencyIn(s.Lang, country.Facts().Currency)
	return s
}

// spoken returns the texts of the first language that has texts. It is French for none.
func spoken(languages []string) Texts {
	for _, tag := range languages {
		switch tag {
		case english.Lang:
			return english
		case french.Lang:
			return french
		}
	}
	return french
}

// CurrencyIn returns a currency as people write it in a language. In French, the two CFA francs have a name; any other
// currency is its code.
func CurrencyIn(lang string, c payments.Currency) string {
	if lang == french.Lang && (c == payments.XOF || c == payments.XAF) {
		return "FCFA"
	}
	return string(c)
}

// Digits returns a number with its digits in groups of three.
func (s *Texts) Digits(n int64) string {
	digits := fmt.Sprint(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + s.group + digits[at:]
	}
	return digits
}

// Money returns an amount, in whole units of the country's currency.
func (s *Texts) Money(amount int64) string { return fmt.Sprintf(s.money, s.currency, s.Digits(amount)) }

// Account returns the sentence that the account is suspended.
func (s *Texts) Account() string { return fmt.Sprintf(s.account, s.Service) }

// Asks returns the sentence that asks for the PIN. total is what the payer pays: the amount and the fee.
func (s *Texts) Asks(amount, total int64) string {
	if total == amount {
		return fmt.Sprintf(s.noFee, s.Money(0))
	}
	return fmt.Sprintf(s.fee, s.Digits(amount), s.Digits(total-amount))
}

// Message is a text message in parts. Rest comes after the merchant's reference; it is empty for most operators.
type Message struct{ Before, Amount, After, Reference, Rest string }

// Receipt returns the message about a successful transaction of the phone.
func (s *Texts) Receipt(t *payments.Transaction) Message {
	store, total := strings.ToUpper(t.Store), s.Money(t.CustomerTotal())
	text := fmt.Sprintf(s.received, total, store)
	switch t.Type {
	case payments.Collection:
		text = fmt.Sprintf(s.paid, total, store, s.Money(t.CustomerTotal()-t.Amount))
	case payments.Refund:
		text = fmt.Sprintf(s.refund, s.Money(t.Amount), store)
	}
	parts := strings.SplitN(text, "|", 3)
	m := Message{Before: parts[0], Amount: parts[1], After: parts[2], Reference: t.Reference}
	if t.SIMBalanceAfter != nil && t.CompletedAt != nil {
		at := t.CompletedAt.UTC().Format("02/01/2006 15:04")
		m.After += " " + fmt.Sprintf(s.balance, s.Money(*t.SIMBalanceAfter), t.ProviderTxID(), at)
	}
	return m
}

// Failure returns the last screen of a transaction that ended with a status other than [payments.Success].
func (s *Texts) Failure(status payments.Status) string {
	if own, known := s.failures[status]; known {
		return own
	}
	return s.failed
}

// Package payerpage has the parts that the pages for payers share: the frame with its banner, and the number that a payer
// types. The pages have no scripts, and ask for no PIN.
package payerpage

import (
	"bytes"
	"context"
	"net/http"
	"regexp"
	"strings"

	"github.com/a-h/templ"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// Frame is a page without what only its operator has.
type Frame struct {
	operatorapi.Look // Lang is the language of the page
	Operator         payments.Operator
	Brand, For       string // the operator's money service, and what the page is for
	Title, Text      string
	Sign, Class      string // icon beside the title, and its color; empty for none
	Again            bool   // whether to offer to load the page again
}

// words are the sentences of the frame in a language.
type words struct{ skip, simulation, warning, reload, sandbox string }

var english = words{
	"Skip to content", "Simulation.", "No real money moves. Never type a real PIN.", "Load the page again", "A sandbox of Cauri",
}

var french = words{
	"Aller au contenu", "Simulation.", "Aucun argent réel ne circule. Ne jamais saisir un vrai code secret.", "Recharger la page",
	"Un bac à sable de Cauri",
}

// French is the tag of the language. Pages in all other languages are in English.
const French = "fr"

func (f *Frame) words() *words {
	if f.Lang == French {
		return &french
	}
	return &english
}

// Answer returns the answer with a page and an HTTP status.
func Answer(document templ.Component, status int) operatorapi.Answer {
	var text bytes.Buffer
	if err := document.Render(context.Background(), &text); err != nil {
		panic(err) // writing to a buffer does not fail
	}
	return operatorapi.Answer{Status: status, Body: operatorapi.Text{ContentType: operatorapi.HTML, Text: text.String()}}
}

// Redirect redirects the browser to a query of the address of the request. The page there shows the result of the form.
// After the redirect, the payer can load the page again, or use the button Back, and the browser does not send the form
// again.
func Redirect(query string) operatorapi.Answer {
	return operatorapi.Answer{Status: http.StatusSeeOther, Header: http.Header{"Location": {"?" + query}}}
}

var (
	notInNumber = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "-", "", ".", "", "(", "", ")", "")
	numberForm  = regexp.MustCompile(`^(\+|00)?([0-9]{7,15})$`)
)

// longestNational is the length of the longest number without its country code.
const longestNational = 10

// trunk is what people of most countries put before a number without its country code.
const trunk = "0"

// MSISDN returns a typed number in E.164; ok is false if the text is no number. After + or 00, the number begins with
// a country code. Without them, it begins with one only if it is longer than a national number and begins with the code
// of this country. A 0 before a national number is left out.
func MSISDN(typed string, country payments.Country) (msisdn string, ok bool) {
	parts := numberForm.FindStringSubmatch(notInNumber.Replace(strings.TrimSpace(typed)))
	if parts == nil {
		return "", false
	}
	msisdn = "+" + parts[2]
	if code := country.CallingCode(); parts[1] == "" && (len(parts[2]) <= longestNational || !strings.HasPrefix(parts[2], code)) {
		national := parts[2]
		if len(national) == country.Facts().Digits+len(trunk) {
			national = strings.TrimPrefix(national, trunk)
		}
		msisdn = "+" + code + national
	}
	return msisdn, payments.ValidMSISDN(msisdn)
}

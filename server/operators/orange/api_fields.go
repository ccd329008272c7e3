package orange

import "github.com/cauri-dev/cauri/server/operators/operatorapi"

// The fields of bodies, for the description of the API. A field without a mark has the mark of its call.

const (
	tokenForm = `^[0-9a-f]{64}$`
	hexForm   = `^[0-9a-f]{32}$`

	maxOrderID   = 30
	maxReference = 30
	maxURL       = 500
)

func urlField(name, about string) operatorapi.Field {
	return operatorapi.Field{Name: name, Max: maxURL, About: about + " An http or https URL. The bound is assumed."}.Assumed()
}

var (
	grantFields  = []operatorapi.Field{{Name: "grant_type", Enum: []string{"client_credentials"}}}
	bearerFields = []operatorapi.Field{{Name: "token_type", Enum: []string{"Bearer"}}, {Name: "access_token", Pattern: tokenForm}}

	newTokenFields = append(bearerFields[:2:2], operatorapi.Field{
		Name: "expires_in", Types: []string{"integer"}, About: "Seconds, of the sandbox's time: 3600.",
	})
	oldTokenFields = append(bearerFields[:2:2], operatorapi.Field{
		Name: "expires_in", Enum: []string{"7776000"}, About: "90 days in seconds, as a text.", Mark: operatorapi.ThirdParty, Source: operatorapi.PublishedClients,
	})

	orderIDField = operatorapi.Field{Name: "order_id", Max: maxOrderID, About: "The reference of the collection that the order becomes."}
	amountField  = operatorapi.Field{
		Name: "amount", Types: []string{"number", "string"}, Pattern: operatorapi.AmountForm, About: "Whole units, from 1 to 1000000000000. A text is taken too.",
	}

	payFields = []operatorapi.Field{
		{Name: "merchant_key", Pattern: hexForm, About: "`orange-merchant-key` of the credentials Secret."},
		{Name: "currency", Pattern: `^[A-Za-z]{3}$`, About: "OUV under `dev`, else that of the environment."},
		orderIDField, amountField,
		urlField("return_url", "Where the browser goes after a decision."),
		urlField("cancel_url", "Where the browser goes if the payer cancels."),
		urlField("notif_url", "Where the notification goes. Its host has to be allowed by `spec.callbackHosts`."),
		operatorapi.Field{Name: "lang", Optional: true, Enum: []string{"fr", "en"}, About: "The page is French in any case."}.Assumed(),
		operatorapi.Field{Name: "reference", Optional: true, Max: maxReference, About: "The merchant's name on the page; default: the store."}.Assumed(),
	}
	checkoutFields = []operatorapi.Field{
		{Name: "status", Types: []string{"integer"}}, {Name: "message", Enum: []string{"OK"}}, {Name: "pay_token", Pattern: tokenForm},
		{Name: "payment_url", About: "The page, at the host that the request was sent to."}, {Name: "notif_token", Pattern: hexForm},
	}

	askFields   = []operatorapi.Field{orderIDField, amountField, {Name: "pay_token", Max: 100}}
	stateFields = []operatorapi.Field{
		{Name: "status", Enum: []string{initiated, pending, success, failed, expired}}, {Name: "order_id"},
		{Name: "txnid", Optional: true, About: "Orange's id, only of a success."},
	}
)

package mpesa

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// notPulled is the refusal of a short code that was not registered for Pull.
const notPulled operatorapi.Reason = "short_code_not_registered"

// invalidShortCode is Pull's answer for a short code that is unknown or not registered (Documented).
var invalidShortCode = told{http.StatusBadRequest, "400.001", "Invalid ShortCode"}

// pullErrors are the errors of Pull. That of a wrong field is Assumed.
var pullErrors = family{
	badToken: told{http.StatusUnauthorized, "401.001", "Invalid Access Token"},
	notFound: told{http.StatusNotFound, "404.001.01", "Resource not found"},
	badField: "400.002.02", fieldText: "Bad Request - Invalid ",
	others: map[operatorapi.Reason]told{unknownMerchant: invalidShortCode, notPulled: invalidShortCode},
}

// blankKeys is the quirk of the keys in the answer of a registration (Documented: observed by one program of two).
var blankKeys = operatorapi.Quirk{
	Name: "mpesaBlankKeys", Off: true,
	About: "mpesaBlankKeys is whether the answer to a registration for Pull has the keys \"Response Status\" and \"Response Description\", with a blank.\n" +
		"If it is false, they are ResponseStatus and ResponseDescription. Default false.",
}

const (
	pullQueryPath = "/pulltransactions/v1/query"
	pullTimes     = "2006-01-02 15:04:05"

	// The response codes of Pull. Nothing found has the second one too (Documented).
	pullOK    = "1000"
	pullAgain = "1001"
)

// history is how long payments are listed (Documented).
const history = 48 * time.Hour

func pullRoutes() []operatorapi.Route {
	query := operatorapi.Doc{
		Summary: "Lists what was paid in the last 48 hours, as GET with the same body does", Mark: operatorapi.Documented, Source: portal,
		Body: `{"ShortCode": "` + exampleShortCode + `", "StartDate": "2026-11-28 08:00:00", "EndDate": "2026-11-28 20:00:00", "OffSetValue": "0"}`,
		Request: []operatorapi.Field{
			{Name: "ShortCode", Types: textOrNumber, Pattern: shortCodeForm, About: "That of the sandbox, or " + publicShortCode + "."},
			{Name: "StartDate", Pattern: pullTimeForm, About: "In Nairobi. The seconds may be missing."},
			{Name: "EndDate", Pattern: pullTimeForm, About: "In Nairobi, with this second."},
			operatorapi.Field{
				Name: "OffSetValue", Types: textOrNumber, Optional: true, Pattern: "^[0-9]{0,6}$", About: "How many payments to leave out. A page has 100.",
			},
		},
		Status: http.StatusOK,
		Answer: `{"ResponseRefID": "53e3-4aa8-9fe0-8fb5e4092cdd3405976", "ResponseCode": "1000", "ResponseMessage": "Success", "Response": [[{"transactionId": ` +
			`"UKSA2M4K1Q", "trxDate": "2026-11-28T07:15:00Z", "msisdn": 712345678, "sender": "MPESA", "transactiontype": "c2b-pay-bill-debit", ` +
			`"billreference": "order-1042", "amount": "500.00", "organizationname": "Cauri"}]]}`,
		Response: []operatorapi.Field{
			{Name: "ResponseRefID"}, {Name: "ResponseCode", Enum: []string{pullOK, pullAgain}, About: "1001: there is none."}, {Name: "ResponseMessage"},
			{Name: "Response", Types: []string{"array"}, About: "A list with the list of payments."},
		},
		Refused: []operatorapi.Reason{wrongField, unknownMerchant, notPulled}, Test: exchanges + "pull",
	}
	byGet := query // with its description elsewhere: OpenAPI gives no meaning to the body of a GET, and browsers do not send one
	byGet.Summary, byGet.Body, byGet.Request, byGet.Elsewhere = "The same, with the body of POST", "", nil, "/openapi.json"
	return []operatorapi.Route{
		{
			Name: "pullregister", Method: http.MethodPost, Path: "/pulltransactions/v1/register", Refuse: pullErrors.ofRoute, Handle: registerPull,
			Doc: operatorapi.Doc{
				Summary: "Lets a short code ask what was paid", Mark: operatorapi.Documented, Source: portal,
				Body: `{"ShortCode": "` + exampleShortCode + `", "RequestType": "Pull", "NominatedNumber": "` + exampleNumber + `", ` +
					`"CallBackURL": "https://shop.example/pull"}`,
				Request: []operatorapi.Field{
					{Name: "ShortCode", Types: textOrNumber, Pattern: shortCodeForm, About: "That of the sandbox, or " + publicShortCode + "."},
					{Name: "RequestType", Enum: []string{"Pull"}},
					{Name: "NominatedNumber", Types: textOrNumber, Pattern: nominatedForm, About: "With 254 or with 0."},
					{Name: "CallBackURL", Max: maxURL, About: "Nothing is sent to it."},
				},
				Status: http.StatusOK,
				Answer: `{"ResponseRefID": "feb5e3f2-fbc4-4744-844c-ee37b546f627", "ResponseStatus": "1000", "ShortCode": "` + exampleShortCode + `", ` +
					`"ResponseDescription": "Shortcode Registered Successfully"}`,
				Response: []operatorapi.Field{
					{Name: "ResponseRefID"}, {Name: "ResponseStatus", Enum: []string{pullOK, pullAgain}, About: "1001: it was registered before."},
					{Name: "ShortCode"}, {Name: "ResponseDescription"},
				},
				Refused: []operatorapi.Reason{wrongField, unknownMerchant}, Test: exchanges + "pull",
			},
		},
		{Name: "pullquery", Method: http.MethodPost, Path: pullQueryPath, Refuse: pullErrors.ofRoute, Handle: pull, Doc: query},
		{Name: "pullquery", Method: http.MethodGet, Path: pullQueryPath, Refuse: pullErrors.ofRoute, Handle: pull, Doc: byGet},
	}
}

const (
	nominatedForm = `^(254|0)[0-9]{9}$`
	pullTimeForm  = `^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}[ T][0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,3})?$`
)

var (
	nominated = regexp.MustCompile(nominatedForm)
	pullTime  = regexp.MustCompile(`^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})[ T]([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,3}))?$`)
)

// pullSetting is the name of the setting of a short code that was registered for Pull.
func pullSetting(in payments.Country, shortCode string) string {
	return settingOf("pull", in, shortCode)
}

// pullRegistration is what a shop has registered for a short code.
type pullRegistration struct {
	NominatedNumber string `json:"nominated_number"`
	CallBackURL     string `json:"callback_url"`
}

// registerPull registers a short code for Pull.
func registerPull(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	var body struct {
		ShortCode       text   `json:"ShortCode"`
		RequestType     string `json:"RequestType"`
		NominatedNumber text   `json:"NominatedNumber"`
		CallBackURL     string `json:"CallBackURL"`
	}
	if err := decode(r, "ShortCode", &body); err != nil {
		return operatorapi.Answer{}, err
	}
	if err := checkShortCode(s, "ShortCode", body.ShortCode); err != nil {
		return operatorapi.Answer{}, err
	}
	if body.RequestType != "Pull" {
		return operatorapi.Answer{}, refusedField("RequestType", "Pull")
	}
	if !nominated.MatchString(string(body.NominatedNumber)) {
		return operatorapi.Answer{}, refusedField("NominatedNumber", "254 or 0, and the nine digits of a number")
	}
	if err := checkURL(s, "CallBackURL", body.CallBackURL); err != nil {
		return operatorapi.Answer{}, err
	}
	e := s.Environments()[0]
	name, status, description := pullSetting(e.Country, string(body.ShortCode)), pullOK, "Shortcode Registered Successfully"
	isRegistered, err := pulls(ctx, s, name)
	switch {
	case err != nil:
		return operatorapi.Answer{}, err
	case isRegistered:
		status, description = pullAgain, "ShortCode already Registered"
	default:
		if err := s.Keep(ctx, name, pullRegistration{string(body.NominatedNumber), body.CallBackURL}); err != nil {
			return operatorapi.Answer{}, err
		}
	}
	drawn, err := s.RandomHex()
	if err != nil {
		return operatorapi.Answer{}, err
	}
	id := fmt.Sprintf("%s-%s-4%s-8%s-%s", drawn[:8], drawn[8:12], drawn[13:16], drawn[17:20], drawn[20:])
	if e.Has(blankKeys) {
		return operatorapi.Answer{Status: http.StatusOK, Body: struct {
			ResponseRefID       string `json:"ResponseRefID"`
			ResponseStatus      string `json:"Response Status"`
			ShortCode           string `json:"ShortCode"`
			ResponseDescription string `json:"Response Description"`
		}{id, status, string(body.ShortCode), description}}, nil
	}
	return operatorapi.Answer{Status: http.StatusOK, Body: struct {
		ResponseRefID       string `json:"ResponseRefID"`
		ResponseStatus      string `json:"ResponseStatus"`
		ShortCode           string `json:"ShortCode"`
		ResponseDescription string `json:"ResponseDescription"`
	}{id, status, string(body.ShortCode), description}}, nil
}

// pulls reports whether a short code was registered for Pull.
func pulls(ctx context.Context, s operatorapi.Sandbox, name string) (bool, error) {
	err := s.Kept(ctx, name, new(pullRegistration))
	if operatorapi.IsRefused(err, operatorapi.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// pulled is a payment as Pull lists it.
type pulled struct {
	TransactionID    string `json:"transactionId"`
	TrxDate          string `json:"trxDate"`
	MSISDN           int64  `json:"msisdn"` // without the country code, and not masked (Documented)
	Sender           string `json:"sender"`
	TransactionType  string `json:"transactiontype"`
	BillReference    string `json:"billreference"`
	Amount           string `json:"amount"`
	OrganizationName string `json:"organizationname"`
}

// pull lists payments.
func pull(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	var body struct {
		ShortCode   text   `json:"ShortCode"`
		StartDate   string `json:"StartDate"`
		EndDate     string `json:"EndDate"`
		OffSetValue text   `json:"OffSetValue"`
	}
	if err := decode(r, "ShortCode", &body); err != nil {
		return operatorapi.Answer{}, err
	}
	if err := checkShortCode(s, "ShortCode", body.ShortCode); err != nil {
		return operatorapi.Answer{}, err
	}
	e := s.Environments()[0]
	isRegistered, err := pulls(ctx, s, pullSetting(e.Country, string(body.ShortCode)))
	if err != nil {
		return operatorapi.Answer{}, err
	}
	if !isRegistered {
		return operatorapi.Answer{}, operatorapi.Refuse(notPulled).Expect("ShortCode", "a short code that was registered for Pull")
	}
	start, isStart := parsePullTime(body.StartDate)
	end, isEnd := parsePullTime(body.EndDate)
	skip, err := strconv.ParseUint("0"+string(body.OffSetValue), 10, 32)
	switch {
	case !isStart:
		return operatorapi.Answer{}, refusedField("StartDate", wantedPullTime)
	case !isEnd || end.Before(start):
		return operatorapi.Answer{}, refusedField("EndDate", wantedPullTime+", and not before StartDate")
	case err != nil || skip > operatorapi.MaxSkipped:
		return operatorapi.Answer{}, refusedField("OffSetValue", fmt.Sprintf("a number of payments to leave out, at most %d", operatorapi.MaxSkipped))
	}
	now, err := s.Now(ctx)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	from := slices.MaxFunc([]time.Time{start, now.Add(-history)}, time.Time.Compare)
	to := payments.SentValue{Key: "short_code", Value: publicShortCode, Others: string(body.ShortCode) != publicShortCode}
	paid, err := s.ListPaid(ctx, e.Country, from, end.Add(time.Second), to, int(skip))
	if err != nil {
		return operatorapi.Answer{}, err
	}
	code, message, listed := pullOK, "Success", []pulled{}
	for _, t := range paid {
		listed = append(listed, newPulled(t))
	}
	if len(listed) == 0 {
		code, message = pullAgain, "No transactions found" // Assumed: the text
	}
	return operatorapi.Answer{Status: http.StatusOK, Body: struct {
		ResponseRefID   string     `json:"ResponseRefID"`
		ResponseCode    string     `json:"ResponseCode"`
		ResponseMessage string     `json:"ResponseMessage"`
		Response        [][]pulled `json:"Response"`
	}{drawnID(), code, message, [][]pulled{listed}}}, nil
}

// wantedPullTime is the form of a time, which the portal writes with and without seconds (Documented).
const wantedPullTime = "a time in Nairobi, as 2026-11-28 08:00:00"

// parsePullTime parses a time in Nairobi. The portal's samples also have an hour of one digit, and seconds of three.
func parsePullTime(text string) (at time.Time, ok bool) {
	parts := pullTime.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return time.Time{}, false
	}
	var n [6]int
	for i := range n {
		n[i], _ = strconv.Atoi(parts[i+1]) // digits; the seconds may be missing
	}
	at = time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, nairobi)
	return at, at.Format(pullTimes) == fmt.Sprintf("%04d-%02d-%02d %02d:%02d:%02d", n[0], n[1], n[2], n[3], n[4], n[5])
}

// organization is the name of the shop.
const organization = "Cauri"

func newPulled(t *payments.Transaction) pulled {
	at, kept := t.CreatedAt, keptOf(t.NativeSent)
	if t.CompletedAt != nil {
		at = *t.CompletedAt
	}
	national, _ := strconv.ParseInt(strings.TrimPrefix(t.MSISDN, "+"+t.Country.CallingCode()), 10, 64) // digits
	p := pulled{
		TransactionID: receiptOf(t), TrxDate: at.UTC().Format("2006-01-02T15:04:05Z"), MSISDN: national, Sender: "MPESA",
		TransactionType: "c2b-pay-bill-debit", BillReference: t.OrderRef, Amount: shillings(t.Amount).String(), OrganizationName: organization,
	}
	if c := kept.Told; c != nil {
		p.BillReference = c.BillRef
		if c.Goods {
			p.TransactionType = "c2b-buy-goods-debit"
		}
	}
	return p
}

package mpesa

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/qrcode"
)

// The kinds of dynamic QR codes (Documented). Only the first two can be paid here.
const (
	trxGoods    = "BG" // pays a till
	trxPayBill  = "PB"
	trxWithdraw = "WA" // at an agent
	trxSend     = "SM" // to a number
	trxBusiness = "SB"
)

var trxCodes = []string{trxGoods, trxPayBill, trxWithdraw, trxSend, trxBusiness}

const (
	codeLifetime = 30 * 24 * time.Hour // (Assumed)

	cpiForm     = `^[0-9]{4,15}$`
	maxMerchant = 80 // (Assumed)

	// The sides of pictures in pixels (Assumed).
	leastSide, mostSide, usualSide = 64, 1000, 300
)

var cpis = regexp.MustCompile(cpiForm)

// qrMade is the description of an answer with a picture (Documented).
const qrMade = "QR Code Successfully Generated."

// exampleQR returns the Base64 of a picture, for the description of the API.
func exampleQR() string {
	picture, err := qrcode.PNG("http://cauri.example/c/8f2b1c5a9d3e4f60", leastSide)
	if err != nil {
		panic(err) // the picture has room for the address
	}
	return base64.StdEncoding.EncodeToString(picture)
}

func qrRoutes() []operatorapi.Route {
	return []operatorapi.Route{{
		Name: "qrcode", Method: http.MethodPost, Path: "/mpesa/qrcode/v1/generate", Handle: generateQR,
		Doc: operatorapi.Doc{
			Summary: "A QR code with which payers pay an amount to the short code", Mark: operatorapi.Documented, Source: portal,
			Body: `{"MerchantName": "Shop", "RefNo": "order-1042", "Amount": 500, "TrxCode": "` + trxPayBill + `", "CPI": "` + exampleShortCode + `", ` +
				`"Size": "300"}`,
			Request: []operatorapi.Field{
				{Name: "MerchantName", Max: maxMerchant, About: "The shop on the payer's page. The bound is assumed."},
				{Name: "RefNo", Types: textOrNumber, Max: maxReference, About: "The order_ref of /v1, and the BillRefNumber of the confirmation. The bound is assumed."},
				{Name: "Amount", Types: textOrNumber, Pattern: operatorapi.AmountForm, About: "Whole shillings. A text is taken too."},
				{Name: "TrxCode", Enum: trxCodes, About: "PB and BG can be paid, to a pay bill and to a till."},
				{Name: "CPI", Types: textOrNumber, Pattern: cpiForm, About: "The short code of the sandbox. A code for another one is drawn, and cannot be paid."},
				operatorapi.Field{
					Name: "Size", Types: textOrNumber, Optional: true, Max: 4, Pattern: "^[0-9]*$", About: "Pixels, from 64 to 1000. Without it, 300.",
				}.Assumed(),
			},
			Status: http.StatusOK,
			Answer: `{"ResponseCode": "00", "RequestID": "` + exampleMerchant + `", "ResponseDescription": "` + qrMade + `", "QRCode": "` + exampleQR() + `"}`,
			Response: []operatorapi.Field{
				{Name: "ResponseCode", Enum: []string{"00"}, Mark: operatorapi.ThirdParty, Source: operatorapi.PublishedClients}, {Name: "RequestID"},
				{Name: "ResponseDescription", Enum: []string{qrMade}}, {Name: "QRCode", About: "The Base64 of a PNG."},
			},
			Refused: []operatorapi.Reason{wrongField}, Test: exchanges + "qr",
		},
	}}
}

// qrFacts are the facts about dynamic QR codes.
var qrFacts = []operatorapi.Fact{
	operatorapi.Assumed.Fact("a QR code has the address of a page of this service, on which who scans it pays", operatorapi.OurChoice, "TestMPesaQR").Differs(
		"what the picture has is not documented; the app of M-Pesa reads it"),
	operatorapi.Assumed.Fact("paying a QR code is a payment of C2B: `BillRefNumber` is `RefNo`, and a code is paid as often as payers want",
		operatorapi.OurChoice, "TestMPesaQR"),
	operatorapi.Assumed.Fact("a QR code lasts 30 days of the sandbox's time, or until a reset", operatorapi.OurChoice, "TestMPesaQREnds"),
	operatorapi.Assumed.Fact("codes of WA, SM and SB, and those of another `CPI`, are drawn, and cannot be paid", operatorapi.OurChoice,
		"TestMPesaQRThatCannotBePaid"),
	operatorapi.ThirdParty.Fact("`CPI` may be a number, and `Size` may be missing", operatorapi.PublishedClients, "TestMPesaQRFields"),
	operatorapi.Assumed.Fact("the errors are those of M-Pesa Express, such as 400 `400.002.02` \"Bad Request - Invalid TrxCode\"", operatorapi.OurChoice,
		"TestMPesaQRFields"),
	operatorapi.Assumed.Fact("a `Size` in which the address does not fit is refused", operatorapi.OurChoice, "TestMPesaQRFields"),
}

// qrBody is the body of a request for a QR code.
type qrBody struct {
	MerchantName string          `json:"MerchantName"`
	RefNo        text            `json:"RefNo"`
	Amount       json.RawMessage `json:"Amount"`
	TrxCode      string          `json:"TrxCode"`
	CPI          text            `json:"CPI"`
	Size         text            `json:"Size"`
}

// code has what the page of a QR code needs.
type code struct {
	Country   payments.Country  `json:"country"`
	Currency  payments.Currency `json:"currency"`
	Merchant  string            `json:"merchant"`
	RefNo     string            `json:"ref_no"`
	TrxCode   string            `json:"trx_code"`
	ShortCode string            `json:"cpi"`
	Own       bool              `json:"own"`   // whether the short code is one of the sandbox
	Token     string            `json:"token"` // only to show it to the merchant; the ledger finds the code by the token's hash
}

// generateQR stores a code, and answers with its picture.
func generateQR(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	var body qrBody
	if err := decode(r, "MerchantName", &body); err != nil {
		return operatorapi.Answer{}, err
	}
	amount, side, err := body.check()
	if err != nil {
		return operatorapi.Answer{}, err
	}
	token, err := s.RandomHex()
	if err != nil {
		return operatorapi.Answer{}, err
	}
	e, id := s.Environments()[0], derivedID("qr code", token)
	made := operatorapi.Checkout{
		Reference: id, Token: token, Amount: amount, Lifetime: codeLifetime,
		Sent: code{
			e.Country, e.Currency, body.MerchantName, string(body.RefNo), body.TrxCode, string(body.CPI), isShortCode(s, string(body.CPI)), token,
		},
	}
	picture, err := qrcode.PNG(s.PageOf(made), side)
	if small := (qrcode.ErrTooSmall{}); errors.As(err, &small) {
		return operatorapi.Answer{}, refusedField("Size", fmt.Sprintf("at least %d, because the address of the page is long", small.Least))
	}
	if err != nil {
		return operatorapi.Answer{}, err
	}
	if err := s.OpenCheckout(ctx, made); err != nil {
		return operatorapi.Answer{}, err
	}
	return operatorapi.Answer{Status: http.StatusOK, Body: struct {
		ResponseCode        string `json:"ResponseCode"`
		RequestID           string `json:"RequestID"`
		ResponseDescription string `json:"ResponseDescription"`
		QRCode              []byte `json:"QRCode"` // package json encodes it in Base64
	}{"00", id, qrMade, picture}}, nil
}

// check validates the fields. It returns the amount, and the length of a side of the picture in pixels.
func (b *qrBody) check() (amount int64, side int, err error) {
	if b.MerchantName == "" || !operatorapi.IsText(b.MerchantName, maxMerchant) {
		return 0, 0, refusedField("MerchantName", operatorapi.TextForm(1, maxMerchant))
	}
	if b.RefNo == "" || !operatorapi.IsText(string(b.RefNo), maxReference) {
		return 0, 0, refusedField("RefNo", operatorapi.TextForm(1, maxReference))
	}
	if amount, err = amountOf(b.Amount); err != nil {
		return 0, 0, err
	}
	if !slices.Contains(trxCodes, b.TrxCode) {
		return 0, 0, refusedField("TrxCode", "PB or BG, or WA, SM, SB, which cannot be paid here")
	}
	if !cpis.MatchString(string(b.CPI)) {
		return 0, 0, refusedField("CPI", "4 to 15 digits: mpesa-shortcode of the credentials Secret, or "+publicShortCode)
	}
	side = usualSide
	if b.Size != "" {
		if side, err = strconv.Atoi(string(b.Size)); err != nil || side < leastSide || side > mostSide {
			return 0, 0, refusedField("Size", fmt.Sprintf("pixels, from %d to %d", leastSide, mostSide))
		}
	}
	return amount, side, nil
}

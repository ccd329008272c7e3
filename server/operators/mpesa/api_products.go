package mpesa

import (
	"context"
	"net/http"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// absent is a product that no app of a sandbox has. Published clients call it.
type absent struct {
	name, what string
	errors     *family
	paths      []string
}

const billManager = "/v1/billmanager-invoice/"

var absentProducts = []absent{
	{"b2b", "B2B payments and top-ups", &b2cErrors, []string{"/mpesa/b2b/v1/paymentrequest"}},
	{"b2cvalidate", "B2C with the identity of the customer", &b2cErrors, []string{"/mpesa/b2cvalidate/v2/paymentrequest"}},
	{"remittax", "Taxes", &b2cErrors, []string{"/mpesa/b2b/v1/remittax"}},
	{"b2b-express", "B2B Express", &expressErrors, []string{"/v1/ussdpush/get-msisdn"}},
	{"ratiba", "Standing orders", &expressErrors, []string{"/standingorder/v1/createStandingOrderExternal"}},
	{"billmanager", "Bill Manager", &expressErrors, []string{
		billManager + "optin", billManager + "change-optin-details", billManager + "single-invoicing", billManager + "bulk-invoicing",
		billManager + "reconciliation", billManager + "cancel-single-invoice", billManager + "cancel-bulk-invoices",
	}},
	{"identity", "Who has a number", &expressErrors, []string{
		"/imsi/v2/checkATI", "/imsi/v1/checkATI", "/registration/lookup/v1/checkATI", "/v1/KYC-validation/validateID", "/mpesa/checkidentity/v1/query",
	}},
	{"organization", "Who has a short code", &expressErrors, []string{"/sfcverify/v1/query/info"}},
}

// noProduct is the answer of Daraja's gateway for a product that the app does not have (ThirdParty; Assumed: the status).
const (
	noProduct     = "Invalid API call as no apiproduct match found"
	noProductCode = "keymanagement.service.InvalidAPICallAsNoApiProductMatchFound"
)

// noProductHere says the same to a person.
const noProductHere = "the token is right, but no app of a sandbox has this product: it is not simulated"

type gatewayFault struct {
	Fault struct {
		FaultString string `json:"faultstring"`
		Detail      struct {
			ErrorCode string `json:"errorcode"`
		} `json:"detail"`
	} `json:"fault"`
}

func productRoutes() (all []operatorapi.Route) {
	for _, product := range absentProducts {
		for _, path := range product.paths {
			all = append(all, operatorapi.Route{
				Name: product.name, Method: http.MethodPost, Path: path, Handle: hasNoProduct, Refuse: product.errors.ofRoute,
				Doc: operatorapi.Doc{
					Summary: product.what + ", a product that the app does not have", Mark: operatorapi.ThirdParty, Source: gateway,
					Status: http.StatusUnauthorized,
					Answer: `{"fault": {"faultstring": "` + noProduct + `", "detail": {"errorcode": "` + noProductCode + `"}}}`,
					Response: []operatorapi.Field{{Name: "fault", Fields: []operatorapi.Field{
						{Name: "faultstring"}, {Name: "detail", Fields: []operatorapi.Field{{Name: "errorcode"}}},
					}}},
					Test: exchanges + "products",
				},
			})
		}
	}
	return all
}

func hasNoProduct(context.Context, operatorapi.Sandbox, *operatorapi.Request) (operatorapi.Answer, error) {
	var f gatewayFault
	f.Fault.FaultString, f.Fault.Detail.ErrorCode = noProduct, noProductCode
	return operatorapi.Answer{Status: http.StatusUnauthorized, Body: f, Detail: noProductHere}, nil
}

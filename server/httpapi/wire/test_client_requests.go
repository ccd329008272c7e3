package wire

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// TestClientRequest is the body of POST /v1/test_clients. Its rules and its defaults are those of the TestClient
// resource.
type TestClientRequest struct {
	_        struct{} `additionalProperties:"true"`
	MSISDN   string   `json:"msisdn" pattern:"^\\+[1-9][0-9]{6,14}$" patternDescription:"an E.164 number with its leading +" example:"+250788123456" doc:"The number, unique within the sandbox."`
	Name     string   `json:"name,omitempty" minLength:"1" maxLength:"253" example:"alice" doc:"For people: who it is. It need not be unique."`
	Operator string   `json:"operator,omitempty" enum:"mtn,orange,moov,airtel" example:"mtn" doc:"Detected from the msisdn if it is missing."`
	Country  string   `json:"country,omitempty" enum:"CI,RW,BJ,TG" example:"RW" doc:"Detected from the msisdn if it is missing. It decides the currency."`
	State    string   `json:"state,omitempty" enum:"Active,Blocked" default:"Active" example:"Active" doc:"A blocked SIM can neither pay nor be paid."`
	Balance  *int64   `json:"balance,omitempty" minimum:"0" maximum:"1000000000000" default:"0" example:"50000" doc:"Opening balance, in whole units of the currency."`
	Behavior string   `json:"behavior,omitempty" enum:"Approve,Cancel,WrongPin,Ignore,Manual" default:"Approve" example:"Approve" doc:"What its holder does when asked to confirm a payment."`
}

// CreateTestClient reads the body of POST /v1/test_clients.
var CreateTestClient = newDecoder[TestClientRequest]()

// TestClientPatch is the body of PATCH /v1/test_clients/{msisdn}, a JSON merge patch. A missing field stays unchanged,
// and null sets the default.
type TestClientPatch struct {
	_        struct{} `additionalProperties:"true"`
	MSISDN   string   `json:"msisdn,omitempty" pattern:"^\\+[1-9][0-9]{6,14}$" patternDescription:"an E.164 number with its leading +" example:"+250788123456" doc:"It cannot be changed. The present value may be sent."`
	Operator string   `json:"operator,omitempty" enum:"mtn,orange,moov,airtel" example:"mtn" doc:"As msisdn."`
	Country  string   `json:"country,omitempty" enum:"CI,RW,BJ,TG" example:"RW" doc:"As msisdn."`
	Name     *string  `json:"name,omitempty" maxLength:"253" example:"alice" doc:"For people: who it is."`
	State    *string  `json:"state,omitempty" enum:"Active,Blocked" example:"Blocked" doc:"null: Active."`
	Balance  *int64   `json:"balance,omitempty" minimum:"0" maximum:"1000000000000" example:"50000" doc:"The new balance. null: 0."`
	Behavior *string  `json:"behavior,omitempty" enum:"Approve,Cancel,WrongPin,Ignore,Manual" example:"Manual" doc:"null: Approve."`
}

// NewTestClient returns the test client to add. The caller sets the fields that follow from its number.
func NewTestClient(b *TestClientRequest) ledger.TestClient {
	c := ledger.TestClient{Name: b.Name, SIM: payments.SIM{
		MSISDN: b.MSISDN, Operator: payments.Operator(b.Operator), Country: payments.Country(b.Country), Blocked: b.State == StateBlocked,
		Behavior: payments.Behavior(b.Behavior),
	}}
	if b.Balance != nil {
		c.Balance = *b.Balance
	}
	return c
}

// PatchTestClient reads the body of PATCH /v1/test_clients/{msisdn}.
var PatchTestClient = newMergePatch[TestClientPatch]()

// ApplyPatch applies a patch to a test client. Its error has the type [*Error].
func ApplyPatch(p *TestClientPatch, c *ledger.TestClient) error {
	wrong := FieldErrors{}
	for field, change := range map[string]struct{ present, sent string }{
		"msisdn": {c.MSISDN, p.MSISDN}, "operator": {string(c.Operator), p.Operator}, "country": {string(c.Country), p.Country},
	} {
		if change.sent != "" && change.sent != change.present {
			wrong[field] = []string{"cannot be changed from " + change.present + ": leave it out, or delete the test client and create it again"}
		}
	}
	if len(wrong) > 0 {
		return InvalidBody(wrong)
	}
	if p.Name != nil {
		c.Name = *p.Name
	}
	if p.State != nil {
		c.Blocked = *p.State == StateBlocked
	}
	if p.Balance != nil {
		c.Balance = *p.Balance
	}
	if p.Behavior != nil {
		c.Behavior = cmp.Or(payments.Behavior(*p.Behavior), payments.Approve)
	}
	return nil
}

// Reset is the answer of POST /v1/reset.
type Reset struct {
	OrganizationID string `json:"organizationId" doc:"The sandbox that was reset. It stays the same." example:"org_01JCC5H2M4Q7ZXW3V8R6T9B0YE"`
}

// Forbidden is 403 for an action that the sandbox's resource does not allow its API key.
func Forbidden(what, field string) *Error {
	return &Error{Status: http.StatusForbidden, Code: "forbidden", Detail: map[string]any{"field": field},
		Message: fmt.Sprintf("This sandbox does not allow its API key to %s. Set %s of the SandboxEnvironment to true first.", what, field)}
}

// ManagedByResource is 409 for a test client that a TestClient resource manages.
func ManagedByResource(e ledger.ErrManagedByResource) *Error {
	return &Error{Status: http.StatusConflict, Code: "managed_by_resource", Detail: map[string]any{"name": e.Name},
		Message: fmt.Sprintf("The TestClient resource %q in the cluster manages this number. Change or delete that resource.", e.Name)}
}

// TooManyTestClients is 409 for a sandbox that has as many test clients as it may have.
func TooManyTestClients(e ledger.ErrTooManyTestClients) *Error {
	return &Error{Status: http.StatusConflict, Code: "too_many_test_clients", Detail: map[string]any{"limit": e.Limit},
		Message: fmt.Sprintf("This sandbox may have %s, with those of TestClient resources. Delete one that you do not need, or "+
			"ask your platform team for a higher --max-test-clients-per-sandbox.", english.Plural(e.Limit, "test client", "test clients"))}
}

// TooManyResets is 429 for more than five resets in a second.
func TooManyResets() *Error {
	return &Error{Status: http.StatusTooManyRequests, Code: "too_many_resets", RetryAfter: "1",
		Message: "This sandbox was reset five times in the last second. It was not reset again. Try again in a second."}
}

// DuplicateMSISDN is 409 for a number that a test client has already.
func DuplicateMSISDN(e *ledger.ErrTestClientExists) *Error {
	present := e.TestClient
	help := fmt.Sprintf("A test client has the number %s already. Change it with PATCH /v1/test_clients/{msisdn}, or send another number.",
		present.MSISDN)
	if present.Source == sandboxes.SourceResource {
		help = fmt.Sprintf("The TestClient resource %q in the cluster has the number %s already. Send another number.", present.Name, present.MSISDN)
	}
	return &Error{Status: http.StatusConflict, Code: "duplicate_msisdn", Message: help,
		Detail: map[string]any{"msisdn": present.MSISDN, "name": present.Name, "source": present.Source}}
}

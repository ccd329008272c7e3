package wire

// TestClientRequest is the body of POST /v1/test_clients. Its rules and its defaults are those of the TestClient
// resource.
type TestClientRequest struct {
	_        struct{} `additionalProperties:"true"`
	MSISDN   string   `json:"msisdn" pattern:"^\\+[1-9][0-9]{6,14}$" patternDescription:"an E.164 number with its leading +" example:"+250788123456" doc:"The number, unique within the sandbox."`
	Name     string   `json:"name,omitempty" minLength:"1" maxLength:"253" example:"alice" doc:"For people: who it is. It need not be unique."`
	Operator string   `json:"operator,omitempty" enum:"mtn,orange,moov,airtel,mpesa" example:"mtn" doc:"Detected from the msisdn if it is missing."`
	Country  string   `json:"country,omitempty" enum:"CI,RW,BJ,TG,KE,SN,UG,GH,CM,ZM" example:"RW" doc:"Detected from the msisdn if it is missing. It decides the currency."`
	State    string   `json:"state,omitempty" enum:"Active,Blocked" default:"Active" example:"Active" doc:"A blocked SIM can neither pay nor be paid."`
	Balance  *int64   `json:"balance,omitempty" minimum:"0" maximum:"1000000000000" default:"0" example:"50000" doc:"Opening balance, in whole units of the currency."`
	Behavior string   `json:"behavior,omitempty" enum:"Approve,Cancel,WrongPin,Ignore,Manual" default:"Approve" example:"Approve" doc:"What its holder does when asked to confirm a payment."`
}

// TestClientPatch is the body of PATCH /v1/test_clients/{msisdn}, a JSON merge patch. A missing field stays unchanged,
// and null sets the default.
type TestClientPatch struct {
	_        struct{} `additionalProperties:"true"`
	MSISDN   string   `json:"msisdn,omitempty" pattern:"^\\+[1-9][0-9]{6,14}$" patternDescription:"an E.164 number with its leading +" example:"+250788123456" doc:"It cannot be changed. The present value may be sent."`
	Operator string   `json:"operator,omitempty" enum:"mtn,orange,moov,airtel,mpesa" example:"mtn" doc:"As msisdn."`
	Country  string   `json:"country,omitempty" enum:"CI,RW,BJ,TG,KE,SN,UG,GH,CM,ZM" example:"RW" doc:"As msisdn."`
	Name     *string  `json:"name,omitempty" maxLength:"253" example:"alice" doc:"For people: who it is."`
	State    *string  `json:"state,omitempty" enum:"Active,Blocked" example:"Blocked" doc:"null: Active."`
	Balance  *int64   `json:"balance,omitempty" minimum:"0" maximum:"1000000000000" example:"50000" doc:"The new balance. null: 0."`
	Behavior *string  `json:"behavior,omitempty" enum:"Approve,Cancel,WrongPin,Ignore,Manual" example:"Manual" doc:"null: Approve."`
}

// Reset is the answer of POST /v1/reset.
type Reset struct {
	OrganizationID string `json:"organizationId" doc:"The sandbox that was reset. It stays the same." example:"org_01JCC5H2M4Q7ZXW3V8R6T9B0YE"`
}

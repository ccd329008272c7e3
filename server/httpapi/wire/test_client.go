package wire

// TestClient is the view of a SIM and its holder.
type TestClient struct {
	MSISDN         string `json:"msisdn" doc:"Its number."`
	Name           string `json:"name" doc:"Name of its TestClient resource. Of one that was made through the API, what the request said, or empty." example:"alice"`
	Source         string `json:"source" doc:"resource: a TestClient resource in the cluster, which alone changes it. api: it was made through the API."`
	Operator       string `json:"operator"`
	Country        string `json:"country"`
	Currency       string `json:"currency" doc:"Currency of the country and of the balance."`
	State          string `json:"state" doc:"A blocked SIM can neither pay nor be paid."`
	Behavior       string `json:"behavior" doc:"What its holder does when asked to confirm a payment."`
	Balance        int64  `json:"balance" doc:"Current balance, in whole units of the currency."`
	PendingPrompts int64  `json:"pendingPrompts" doc:"Payments that wait for its holder's answer."`
	// ManualUntil is nil for a holder that does what the behavior says.
	ManualUntil *string `json:"manualUntil" format:"date-time" doc:"Until then somebody answers by hand, whatever its behavior. ISO 8601, UTC, in real time; null: its behavior decides."`
}

// The states of a test client, with the names of the TestClient resource.
const (
	StateActive  = "Active"
	StateBlocked = "Blocked"
)

// OneTimeCode is the answer of GET /v1/test_clients/{msisdn}/otp.
type OneTimeCode struct {
	MSISDN string `json:"msisdn"`
	OTP    string `json:"otp" doc:"Six digits."`
}

// TestClientList is the answer of GET /v1/test_clients.
type TestClientList struct {
	Data       []TestClient `json:"data" doc:"Ordered by number."`
	NextCursor *string      `json:"nextCursor" doc:"Send it as cursor to get the next page; null on the last one."`
	HasMore    bool         `json:"hasMore"`
}

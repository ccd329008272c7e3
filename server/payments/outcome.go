package payments

// Behavior is what the holder of a test client does when asked to confirm a collection.
type Behavior string

// The behaviors of a test client.
const (
	Approve  Behavior = "Approve"
	Cancel   Behavior = "Cancel"
	WrongPIN Behavior = "WrongPin"
	Ignore   Behavior = "Ignore" // never answers; the payment expires
	Manual   Behavior = "Manual" // answers only by hand
)

// Answer is the answer that a payer gives to a prompt by hand.
type Answer Behavior

// The answers to a prompt.
const (
	AnswerApprove  = Answer(Approve)
	AnswerCancel   = Answer(Cancel)
	AnswerWrongPIN = Answer(WrongPIN)
)

// Answers are all answers to a prompt.
var Answers = []Answer{AnswerApprove, AnswerCancel, AnswerWrongPIN}

// Outcome returns the status that an answer leads to, if nothing else decides.
func (a Answer) Outcome() Status {
	switch a {
	case AnswerCancel:
		return UserCancelled
	case AnswerWrongPIN:
		return PINInvalid
	}
	return Success
}

// UnknownPolicy is what an environment does with a number that is not in the SIM registry.
type UnknownPolicy string

// The two policies.
const (
	Reject      UnknownPolicy = "reject"
	Passthrough UnknownPolicy = "passthrough"
)

// SIM is the part of a test client that an outcome depends on.
type SIM struct {
	ID       [16]byte
	MSISDN   string
	Operator Operator
	Country  Country
	Blocked  bool
	Behavior Behavior
	Balance  int64
}

// Currency returns the currency of the SIM's country.
func (s *SIM) Currency() Currency {
	c, _ := s.Country.Currency()
	return c
}

// Of reports whether the SIM is of an operator in a country.
func (s *SIM) Of(operator Operator, country Country) bool {
	return s.Operator == operator && s.Country == country
}

// CollectionFacts is everything that the outcome of a new collection depends on.
type CollectionFacts struct {
	Scenario      Scenario // empty: nothing is forced
	Amount        int64
	CustomerTotal int64
	MaxAmount     *int64 // the operator's limit, nil for none
	Policy        UnknownPolicy
	Payer         *SIM        // nil: the number is not in the registry
	TestNumber    *TestNumber // nil: the number is not a test number
}

// Outcome returns the status with which a new collection is answered. The first of these that applies decides: a forced
// scenario, the operator's limit, the registry, the test numbers, the policy for unknown numbers.
func (f CollectionFacts) Outcome() Status {
	if status, forced := f.Scenario.Status(); forced {
		return status
	}
	if f.MaxAmount != nil && f.Amount > *f.MaxAmount {
		return LimitExceeded
	}
	switch {
	case f.Payer == nil && f.TestNumber != nil:
		return f.TestNumber.Status
	case f.Payer == nil && f.Policy == Passthrough:
		return Pending
	case f.Payer == nil:
		return UnknownMSISDN
	case f.Payer.Blocked:
		return AccountBlocked
	case f.Payer.Balance < f.CustomerTotal:
		return InsufficientFunds
	}
	return Pending
}

// PayerState is the state of a payer in the SIM registry, as far as the outcome of a new collection depends on it.
type PayerState int

// The states of a payer.
const (
	PayerUnknown PayerState = iota // the number is not in the registry
	PayerBlocked
	PayerShort // the balance is too small
	PayerAble
	PayerStates // number of states
)

// Outcomes returns the status with which a new collection is answered, for each state of its payer.
func (f CollectionFacts) Outcomes() (outcomes [PayerStates]Status) {
	for state, payer := range [PayerStates]*SIM{
		PayerBlocked: {Blocked: true, Balance: f.CustomerTotal},
		PayerShort:   {Balance: f.CustomerTotal - 1},
		PayerAble:    {Balance: f.CustomerTotal},
	} {
		f.Payer = payer
		outcomes[state] = f.Outcome()
	}
	return outcomes
}

// SettlementFacts is everything that the outcome of a due collection depends on, at the time of settlement. When the
// collection was created, its payer was in the registry or had a test number. The operator decides a collection from
// any other number.
type SettlementFacts struct {
	CustomerTotal int64
	Expired       bool     // it expired before its payer answered
	TestBehavior  Behavior // of the payer's test number; empty: the payer has a SIM
	Payer         *SIM     // nil: removed from the registry, or a test number
	Answer        Answer   // given by hand; empty: the payer does what its behavior says
	FloatFull     bool     // the net amount would raise the float beyond [MaxBalance]
}

// Outcome returns the status that a due collection gets. [Pending] means that its payer has not answered: it stays
// pending until it expires.
func (f SettlementFacts) Outcome() Status {
	switch {
	case f.Expired:
		return Timeout
	case f.TestBehavior != "":
		f.Payer = &SIM{Behavior: f.TestBehavior.Confirmation(), Balance: f.CustomerTotal}
	case f.Payer == nil:
		return UnknownMSISDN
	case f.Payer.Blocked:
		return AccountBlocked
	}
	behavior := f.Payer.Behavior
	if f.Answer != "" {
		behavior = Behavior(f.Answer)
	}
	switch behavior {
	case Ignore, Manual:
		return Pending
	case Cancel:
		return UserCancelled
	case WrongPIN:
		return PINInvalid
	}
	if f.Payer.Balance < f.CustomerTotal {
		return InsufficientFunds
	}
	if f.FloatFull {
		return LimitExceeded
	}
	return Success
}

// DisbursementFacts is everything that the recipient contributes to the outcome of a disbursement.
type DisbursementFacts struct {
	Policy     UnknownPolicy
	Recipient  *SIM        // nil: the number is not in the registry
	TestNumber *TestNumber // nil: the number is not a test number
}

// Outcome returns the status that the recipient decides. [Success] means that the recipient can be paid: whether the
// float suffices is decided when the money moves.
func (f DisbursementFacts) Outcome() Status {
	switch {
	case f.Recipient == nil && f.TestNumber != nil:
		return f.TestNumber.DisbursementOutcome()
	case f.Recipient == nil && f.Policy == Passthrough:
		return Success
	case f.Recipient == nil:
		return UnknownMSISDN
	case f.Recipient.Blocked:
		return AccountBlocked
	}
	return Success
}

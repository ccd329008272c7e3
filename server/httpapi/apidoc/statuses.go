package apidoc

import (
	"fmt"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// StatusMeanings has the meaning of each status.
var StatusMeanings = map[payments.Status]string{
	payments.Success:            "Completed; the money has moved.",
	payments.PINInvalid:         "The payer entered a wrong PIN.",
	payments.InsufficientFunds:  "The payer's balance is below `customerTotal`, or the merchant's float below the amount of a payout.",
	payments.Timeout:            "The operator did not answer, or the payer did not confirm in time.",
	payments.AccountBlocked:     "The SIM is blocked.",
	payments.UserCancelled:      "The payer refused.",
	payments.UnknownMSISDN:      "The number is not in the SIM registry.",
	payments.LimitExceeded:      "The amount is above the operator's limit.",
	payments.ServiceUnavailable: "The operator is in maintenance.",
	payments.DuplicateReference: "The operator has seen the reference before.",
	payments.Pending:            "In flight: the payer has not answered yet. The only status that changes.",
}

// statusDescription returns a Markdown table of the statuses.
func statusDescription() string {
	var b strings.Builder
	b.WriteString("All but `PENDING` are final.\n")
	for _, s := range payments.Statuses {
		fmt.Fprintf(&b, "\n- `%s`: %s", s, StatusMeanings[s])
	}
	return b.String()
}

// LatencyRange returns the shortest and the longest latency of a status.
func LatencyRange(s payments.Status) (least, most time.Duration) {
	least = s.Latency(func(int64) int64 { return 0 })
	most = s.Latency(func(n int64) int64 { return n - 1 })
	return least, most
}

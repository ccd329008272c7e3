package decode

import (
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger/clocks"
)

const (
	defaultWait = 30 * time.Second
	maxWait     = 60 * time.Second
)

// AdvanceClock reads the body of POST /v1/clock/advance.
var AdvanceClock = newDecoder[wire.AdvanceRequest]()

// AdvanceTarget returns the target of an advance, and the time for which the request waits. Its error has the type [*wire.Error].
func AdvanceTarget(a *wire.AdvanceRequest) (to clocks.AdvanceTarget, wait time.Duration, err error) {
	wrong := wire.FieldErrors{}
	switch {
	case a.By != "" && a.To != "":
		wrong["by"] = []string{"cannot be sent together with to: send one of them"}
	case a.By != "":
		by, err := time.ParseDuration(a.By)
		if err != nil || by > clocks.MaxAdvance {
			wrong["by"] = []string{view.TooFar}
		}
		to.By = &by
	case a.To == "nextDue":
		to.NextDue = true
	case a.To != "":
		if problem := moment(&to.To, a.To); problem != "" {
			wrong["to"] = []string{"must be a time like 2026-12-01T00:00:00Z, or nextDue"}
		}
	default:
		wrong["by"] = []string{"is required, for example 61m; or send to, for example 2026-12-01T00:00:00Z or nextDue"}
	}
	wait = defaultWait
	if a.Wait != "" {
		if wait, err = time.ParseDuration(a.Wait); err != nil || wait < 0 || wait > maxWait {
			wrong["wait"] = []string{"must be from 0s to 60s"}
		}
	}
	if len(wrong) > 0 {
		return to, wait, view.InvalidBody(wrong)
	}
	return to, wait, nil
}

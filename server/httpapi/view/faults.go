package view

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger/faultcounts"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
)

// FaultOf returns the view of a fault.
func FaultOf(f *service.FaultState) (view wire.Fault) {
	if err := json.Unmarshal(service.EntryOf(&f.Fault), &view); err != nil {
		panic(err) // it has the fields of the view
	}
	view.Source, view.Effect = "spec", f.Effect().String()
	view.Times, view.LastTime = f.Acts.Acts, momentOf(f.Acts.LastAt)
	if first := f.When.First; first > 0 {
		view.TimesLeft = new(max(0, first-f.Acts.Acts))
	}
	if f.Set != nil {
		view.Source, view.SetBy, view.SetAt = "api", &f.Set.By, new(payments.FormatTime(f.Set.SetAt))
		view.EndsAt = momentOf(f.Set.Ends)
		if f.Set.Ends != nil {
			view.SecondsLeft = new(secondsOf(f.Set.Left))
		}
	}
	return view
}

// FaultListOf returns the view of the faults of a sandbox.
func FaultListOf(all []service.FaultState) wire.FaultList {
	list := wire.FaultList{Data: make([]wire.Fault, len(all))}
	for i := range all {
		list.Data[i] = FaultOf(&all[i])
	}
	return list
}

func secondsOf(d time.Duration) int64 { return max(0, int64(math.Ceil(d.Seconds()))) }

// NoSuchFault is 404 for the name of a fault that was not set.
func NoSuchFault() *wire.Error {
	return NotFound("No fault with this name was set in this sandbox. It may have ended.")
}

// InvalidFault is 400 for a fault that spec.faults could not declare.
func InvalidFault(problems map[string][]string) *wire.Error {
	wrong := wire.FieldErrors(maps.Clone(problems))
	if whole := wrong[""]; whole != nil {
		delete(wrong, "")
		wrong["fault"] = whole
	}
	return InvalidBody(wrong)
}

// DeclaredFault is 409 for the name of a fault of the resource.
func DeclaredFault(e faultcounts.ErrDeclared) *wire.Error {
	return &wire.Error{Status: http.StatusConflict, Code: "managed_by_resource", Detail: map[string]any{"name": e.Name},
		Message: fmt.Sprintf("spec.faults of the SandboxEnvironment declares the fault %q. Send another name, or change the resource.", e.Name)}
}

// TooManyFaults is 409 for a sandbox in which as many faults are set as may be.
func TooManyFaults() *wire.Error {
	return &wire.Error{Status: http.StatusConflict, Code: "too_many_faults", Detail: map[string]any{"limit": faultcounts.MaxSet},
		Message: fmt.Sprintf("%d faults are set in this sandbox, and there may be no more beside those of the resource. Remove one first.",
			faultcounts.MaxSet)}
}

// TooManyChanges is 429 for more than ten changes of faults in ten seconds.
func TooManyChanges(e faultcounts.ErrTooManyChanges) *wire.Error {
	seconds := max(1, secondsOf(e.Wait))
	return &wire.Error{Status: http.StatusTooManyRequests, Code: "too_many_changes", RetryAfter: fmt.Sprint(seconds),
		Message: fmt.Sprintf("The faults of this sandbox were changed ten times in ten seconds. Nothing was changed. Try again in %d s.", seconds)}
}

package sandboxenvironment

import (
	"encoding/json"
	"fmt"
	"time"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// clockConfig returns the configuration of a spec's clock.
func clockConfig(clock *v1alpha1.Clock) (sandboxes.ClockConfig, error) {
	if clock == nil {
		return sandboxes.ClockConfig{}, nil
	}
	config := sandboxes.ClockConfig{Mode: sandboxes.ClockMode(clock.Mode)}
	if clock.Start == "" {
		return config, nil
	}
	start, err := time.Parse(time.RFC3339, string(clock.Start))
	if err != nil {
		return config, &reconciler.StallingError{Reason: v1alpha1.ReasonInvalidSpec, Message: fmt.Sprintf(
			"spec.clock.start: write a date and time with its time zone, such as 2026-11-22T10:00:00Z, not %q", clock.Start,
		)}
	}
	config.Start = &start
	return config, nil
}

// faultsConfig returns the JSON of a spec's faults; nil for none.
func faultsConfig(faults []v1alpha1.Fault) ([]byte, error) {
	if len(faults) == 0 {
		return nil, nil
	}
	return json.Marshal(faults)
}

func clockStatus(clock sandboxes.ClockState) *v1alpha1.ClockStatus {
	status := &v1alpha1.ClockStatus{Mode: v1alpha1.ClockMode(clock.Mode), Now: reconciler.Seconds(clock.Now)}
	if clock.Ahead != 0 {
		status.Offset = clock.Ahead.String()
	}
	return status
}

func faultStatuses(faults []sandboxes.FaultState) []v1alpha1.FaultStatus {
	var statuses []v1alpha1.FaultStatus
	for _, f := range faults {
		statuses = append(statuses, v1alpha1.FaultStatus{Name: f.Name, Times: f.Acts, LastTime: reconciler.Seconds(f.Acted)})
	}
	return statuses
}

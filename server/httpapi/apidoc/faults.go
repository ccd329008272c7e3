package apidoc

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger/faultcounts"
	"github.com/cauri-dev/cauri/server/service"
)

var faultNameParameter = &huma.Param{
	Name: "fault", In: "path", Required: true, Description: "Name of the fault: a-z, 0-9 and -.",
	Schema: &huma.Schema{Type: huma.TypeString, Pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", MaxLength: new(63)},
}

var ListFaults = Operation{
	ID: "listFaults", Method: http.MethodGet, Path: "/v1/faults", Tag: tagFaults, Summary: "List faults",
	Description: "The faults that the SandboxEnvironment declares, and those that were set while the sandbox runs, with how often each acted.",
	answers:     []described{{http.StatusOK, "The faults.", faultListSchema, nil}},
	errors:      []string{"invalid_params"},
	Examples: []Example{{
		name: "twice", Summary: "A fault that was set for a quarter of an hour", Status: http.StatusOK,
		Answer: wire.FaultList{Data: []wire.Fault{view.FaultOf(exampleFault())}},
	}},
}

var SetFault = Operation{
	ID: "setFault", Method: http.MethodPut, Path: "/v1/faults/{fault}", Tag: tagFaults, Summary: "Set a fault",
	Description: "Makes something go wrong from now on, until the fault ends or is removed. The body is an entry of `spec.faults`, with the " +
		"same rules, and `for`. A fault that was set with the same name is replaced, and counts anew. Faults that were set act before those " +
		"of the resource, the newest first. They survive restarts, and a reset removes them. There may be 20 at a time, and ten changes in ten " +
		"seconds. No fault acts on this call.\n\n" +
		"The name of a fault in `spec.faults` is refused with `managed_by_resource`." + onlyIfAllowed,
	Parameters: []*huma.Param{faultNameParameter},
	Body:       decode.SetFault.Schema,
	answers:    []described{{http.StatusOK, "The fault is set.", faultSchema, nil}},
	errors:     []string{"forbidden", "managed_by_resource", "too_many_faults", "too_many_changes"},
	Examples: []Example{{
		name: "twice", Summary: "Each webhook comes twice at the same moment, for a quarter of an hour", Status: http.StatusOK,
		Parameters: map[string]any{"fault": "twice-at-once"}, Answer: view.FaultOf(exampleFault()), Body: `{
  "webhook": {"duplicate": 2, "overlap": true},
  "for": "15m"
}`,
	}},
}

var RemoveFault = Operation{
	ID: "removeFault", Method: http.MethodDelete, Path: "/v1/faults/{fault}", Tag: tagFaults, Summary: "Remove a fault",
	Description: "Removes a fault that was set. It acts on nothing that comes after. No fault acts on this call." + onlyIfAllowed,
	Parameters:  []*huma.Param{faultNameParameter},
	answers:     []described{{http.StatusNoContent, "The fault is removed.", nil, nil}},
	errors:      []string{"forbidden", "not_found", "too_many_changes"},
	Examples: []Example{{
		name: "twice", Summary: "A fault that was set", Status: http.StatusNoContent, Parameters: map[string]any{"fault": "twice-at-once"},
	}},
}

var RemoveFaults = Operation{
	ID: "removeFaults", Method: http.MethodDelete, Path: "/v1/faults", Tag: tagFaults, Summary: "Remove all faults",
	Description: "Removes all faults that were set. Those of the resource stay. No fault acts on this call." + onlyIfAllowed,
	answers:     []described{{http.StatusNoContent, "No fault is set.", nil, nil}},
	errors:      []string{"forbidden", "too_many_changes"},
	Examples:    []Example{{name: "all", Summary: "All that were set", Status: http.StatusNoContent}},
}

// exampleFault returns a fault that was set and has not acted yet.
func exampleFault() *service.FaultState {
	f := faults.PresetNamed("twice-at-once").Fault
	ends := exampleTime.Add(15 * time.Minute)
	return &service.FaultState{Fault: f, Set: &faultcounts.SetState{Fault: f, By: "api", SetAt: exampleTime, Ends: &ends, Left: 15 * time.Minute}}
}

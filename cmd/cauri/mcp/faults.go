package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// faultOn is a fault that is on.
type faultOn struct {
	Name        string `json:"name"`
	Source      string `json:"source"`
	Effect      string `json:"effect"`
	Times       int64  `json:"times"`
	TimesLeft   *int64 `json:"timesLeft,omitempty"`
	SecondsLeft *int64 `json:"secondsLeft,omitempty"`
}

func faultOf(f *wire.Fault) faultOn {
	return faultOn{f.Name, f.Source, f.Effect, f.Times, f.TimesLeft, f.SecondsLeft}
}

type switchFaultInput struct {
	Preset    string         `json:"preset,omitempty" enum:"$presets" doc:"Leave preset, fault and name out for the table of presets and what is on."`
	Fault     map[string]any `json:"fault,omitempty" doc:"A fault of your own, as an entry of spec.faults: {\"api\": {\"status\": 503}}. Needs name."`
	Name      string         `json:"name,omitempty" doc:"Name of the fault; that of the preset if left out."`
	On        *bool          `json:"on,omitempty" doc:"false: switch it off. true if left out."`
	For       string         `json:"for,omitempty" example:"15m" doc:"How long, in real time, 10s to 24h; 15m if left out."`
	Reference string         `json:"reference,omitempty" doc:"Only transactions with this reference; * stands for anything: order-9*."`
	MSISDN    string         `json:"msisdn,omitempty" doc:"Only transactions of this number."`
	Percent   *int64         `json:"percent,omitempty" minimum:"1" maximum:"100" doc:"Only this share."`
	First     *int64         `json:"first,omitempty" minimum:"1" doc:"Only the first so many."`
}

func (in *switchFaultInput) check(wrong fieldErrors) {
	if in.Preset != "" && in.Fault != nil {
		wrong.add("fault", "and preset are both given: send one of them")
	}
	if in.Fault != nil && in.Name == "" {
		wrong.add("name", "is needed for a fault of your own: send one such as busy")
	}
}

func (in *switchFaultInput) off() bool { return in.On != nil && !*in.On }

type presetRow struct {
	Name    string `json:"name"`
	What    string `json:"what"`
	Correct string `json:"correct"`
}

type switchFaultOutput struct {
	head
	Faults  []faultOn   `json:"faults"`
	Presets []presetRow `json:"presets,omitempty"`
}

// defaultFor is how long a fault is on if nothing is said, so that none is forgotten.
const defaultFor = "15m"

var switchFault = define(tool{
	name: "switch_fault", title: "Switch a fault on or off", repeats: true,
	description: "Lets something go wrong on purpose, to see what the shop does: a preset (webhook twice, late, never, forged; answer lost, 503, slow, ...) " +
		"or a fault of your own. Without arguments: the presets, with what a correct shop does, and what is on.",
}, func(ctx context.Context, c *call, in *switchFaultInput) (*switchFaultOutput, error) {
	out, name := &switchFaultOutput{Faults: []faultOn{}}, cmp.Or(in.Name, in.Preset)
	switch {
	case name == "" && in.off():
		if err := c.sandbox.API.RemoveFaults(ctx, ""); err != nil {
			return nil, err
		}
		out.say("All faults that were set are off.")
	case name == "":
		for _, p := range faults.Presets() {
			out.Presets = append(out.Presets, presetRow{p.Name, string(p.What), string(p.Correct)})
		}
	case in.off():
		if err := c.sandbox.API.RemoveFaults(ctx, name); err != nil && !sandboxapi.IsNotFound(err) {
			return nil, err
		}
		out.say("The fault %s is off.", name)
	default:
		if err := c.setFault(ctx, in, name, out); err != nil {
			return nil, err
		}
	}
	on, err := c.sandbox.API.Faults(ctx)
	if err != nil {
		return nil, err
	}
	for i := range on {
		out.Faults = append(out.Faults, faultOf(&on[i]))
	}
	if out.Summary == "" {
		out.say("%s on.", english.Plural(len(on), "fault is", "faults are"))
		out.add(step{Tool: "switch_fault", Arguments: arguments("preset", "twice"), Because: "sends each webhook twice, which a shop has to survive"})
	}
	return out, nil
})

// setFault sets a preset or a fault of the caller.
func (c *call) setFault(ctx context.Context, in *switchFaultInput, name string, out *switchFaultOutput) error {
	body := maps.Clone(in.Fault)
	correct := ""
	if in.Fault == nil {
		preset := faults.PresetNamed(cmp.Or(in.Preset, name))
		if preset == nil {
			return invalid(fieldErrors{"fault": {fmt.Sprintf("or preset is needed to switch %q on", name)}})
		}
		correct = string(preset.Correct)
		if err := json.Unmarshal(raw(preset.Fault), &body); err != nil {
			return err
		}
	}
	delete(body, "name")
	when, _ := body["when"].(map[string]any)
	if when = maps.Clone(when); when == nil {
		when = map[string]any{}
	}
	for field, value := range in.narrowed() {
		when[field] = value
	}
	if len(when) > 0 {
		body["when"] = when
	}
	body["for"] = cmp.Or(in.For, defaultFor)
	set, err := c.sandbox.API.SetFault(ctx, name, body)
	if err != nil {
		return describedFault(err)
	}
	out.say("The fault %s is on. %s", set.Name, correct)
	out.add(step{Change: "Let the shop sell something now, as a customer would.", Because: "the fault acts on what the shop does"},
		step{Tool: "list_transactions", Because: "finds what the shop sold: explain it, and check_expectations with a merchant line asks the shop"},
		step{Tool: "switch_fault", Arguments: arguments("name", set.Name, "on", false), Because: "switches it off again"})
	return nil
}

// narrowed returns the fields of `when` that the arguments set.
func (in *switchFaultInput) narrowed() map[string]any {
	when := map[string]any{}
	if in.Reference != "" {
		when["reference"] = in.Reference
	}
	if in.MSISDN != "" {
		when["msisdn"] = in.MSISDN
	}
	if in.Percent != nil {
		when["percent"] = *in.Percent
	}
	if in.First != nil {
		when["first"] = *in.First
	}
	return when
}

// describedFault adds where the form of a fault is described.
func describedFault(err error) error {
	var refused *sandboxapi.RefusedError
	f := failureOf(err)
	if errors.As(err, &refused) && len(refused.Fields) > 0 {
		f.Next = append(f.Next, step{Tool: "read_docs", Arguments: arguments("page", "faults"), Because: "describes the fields of a fault"})
	}
	return f
}

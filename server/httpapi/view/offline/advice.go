// Package offline maps what a program judges without a sandbox to types of package wire: advice, and the card of a receiver.
package offline

import (
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// AdviceOf returns the view of an advice about an event with a page in the console; empty: there is no console.
func AdviceOf(a advice.Advice, page string) *wire.Advice {
	view := &wire.Advice{Cause: string(a.Code), Message: a.What.String() + ".", Action: a.Do.String(), Next: []wire.AdviceStep{}, Page: page}
	for i := range a.Steps {
		step := &a.Steps[i]
		view.Next = append(view.Next, wire.AdviceStep{Command: step.String(), Because: step.Purpose, Tool: step.Tool, Arguments: step.Arguments})
	}
	return view
}

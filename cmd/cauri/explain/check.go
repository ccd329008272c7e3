package explain

import (
	"context"
	"fmt"
	"strings"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/grade"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

func (e *explaining) check(ctx context.Context, id string) error {
	e.Kind = Check
	found, err := e.API.ReceiverCheck(ctx, id)
	if sandboxapi.IsNotFound(err) {
		return &NotFoundError{ID: id, Kind: "check"}
	}
	if err != nil {
		return err
	}
	e.tell(found.RequestedAt, "request", found.ID, "The receiver is to be graded")
	for i := range found.Lines {
		l := &found.Lines[i]
		e.tell("", "line", l.ID, "%s, %s: %s. %s", l.What, l.Expects, l.Outcome, l.Observed)
		if l.Outcome == string(grade.Failed) && !l.Bonus {
			e.blame(OfLine(l))
		}
	}
	if found.FinishedAt != nil {
		e.tell(*found.FinishedAt, "settlement", found.ID, "The letter is %s", letterOf(&found))
	}
	e.Summary = fmt.Sprintf("The check is %s", found.State)
	switch {
	case found.Problem != nil:
		e.Summary += ": " + *found.Problem
	case found.Letter != nil:
		e.Summary = fmt.Sprintf("The receiver has the letter %s", *found.Letter)
	}
	e.summarize("")
	return nil
}

func letterOf(c *wire.ReceiverCheck) string {
	if c.Letter == nil {
		return "not known"
	}
	return *c.Letter
}

// OfLine returns the cause of a line of a grade that failed.
func OfLine(l *wire.ReceiverLineView) advice.Advice {
	a := advice.Advice{
		Code: grade.CodeOf(l.ID), Title: english.Say("%s", l.What), What: english.Say("%s: %s", l.What, strings.TrimSuffix(l.Observed, ".")),
		Do: english.Say("%s", l.Fix),
	}
	a.Steps = []advice.Step{{
		Purpose: "When it is repaired, grade the receiver again", Command: "grade", Tool: "grade_receiver", Arguments: map[string]any{},
	}}
	return a
}

package offline

import (
	"github.com/cauri-dev/cauri/server/grade"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// SetCard sets the fields of a check that a report card has.
func SetCard(c *wire.ReceiverCheck, card *grade.Card) {
	c.Battery = card.Battery
	if card.Letter != "" {
		c.Letter = new(string(card.Letter))
	}
	if !card.FinishedAt.IsZero() {
		c.Summary = new(card.Sentence().String())
	}
	for i := range card.Results {
		c.Lines = append(c.Lines, receiverLineOf(&card.Results[i]))
	}
}

func receiverLineOf(r *grade.Result) wire.ReceiverLineView {
	line := r.Of()
	why, fix := r.Advice()
	view := wire.ReceiverLineView{
		ID: line.ID, Group: string(line.Group), What: line.What.String(), Expects: string(line.Expects), Outcome: string(r.Outcome),
		Observed: r.Observed().String(), Bonus: line.Bonus(), Why: string(why), Fix: fix.String(),
	}
	if r.Reason != "" {
		view.Reason = new(string(r.Reason))
	}
	return view
}

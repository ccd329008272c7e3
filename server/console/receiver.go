package console

import "github.com/cauri-dev/cauri/server/advice"

// trouble says in words why events do not reach a receiver: where the cause is, and what to do.
type trouble struct {
	title  string // in two or three words
	what   string // in a sentence without its full stop
	advice string
}

// troubleOf returns the trouble behind a failed attempt.
func troubleOf(v *visit, attempt advice.Attempt) trouble {
	a := advice.OfAttempt(attempt)
	return troubleSaid(v, &a, attempt.Failure)
}

// troubleSaid returns an advice about a failure in the language of the visit.
func troubleSaid(v *visit, a *advice.Advice, failure string) trouble {
	t := trouble{v.Say(a.Title), v.Say(a.What), v.Say(a.Do)}
	if a.Code == advice.NotDelivered {
		t.advice = isolated(failure)
	}
	return t
}

// titleOfFailure returns the title of the trouble behind an error.
func titleOfFailure(v *visit, failure string) string {
	return troubleOf(v, advice.Attempt{Failure: failure}).title
}

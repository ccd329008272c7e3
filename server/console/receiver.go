package console

import "github.com/cauri-dev/cauri/server/advice"

// trouble has the texts that say why events do not reach a receiver, and what to do.
type trouble struct {
	title  string // two or three words
	what   string // the cause, as a sentence without its period
	advice string
}

// troubleOf returns why an attempt failed.
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

// titleOfFailure returns the title for the error of a failed attempt.
func titleOfFailure(v *visit, failure string) string {
	return troubleOf(v, advice.Attempt{Failure: failure}).title
}

package console

import "github.com/cauri-dev/cauri/server/advice"

// deliveryProblem has the texts that say why events do not reach a receiver, and what to do.
type deliveryProblem struct {
	title  string // two or three words
	what   string // the cause, as a sentence without its period
	advice string
}

// deliveryProblemOf returns why an attempt failed.
func deliveryProblemOf(v *visit, attempt advice.Attempt) deliveryProblem {
	a := advice.OfAttempt(attempt)
	return describeProblem(v, &a, attempt.Failure)
}

// describeProblem returns the texts of an advice in the language of the visit. The parameter failure is the error of the attempt.
func describeProblem(v *visit, a *advice.Advice, failure string) deliveryProblem {
	t := deliveryProblem{v.Say(a.Title), v.Say(a.What), v.Say(a.Do)}
	if a.Code == advice.NotDelivered {
		t.advice = isolated(failure)
	}
	return t
}

// titleOfFailure returns the title for the error of a failed attempt.
func titleOfFailure(v *visit, failure string) string {
	return deliveryProblemOf(v, advice.Attempt{Failure: failure}).title
}

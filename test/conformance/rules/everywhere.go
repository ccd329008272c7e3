package rules

import (
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"strings"

	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// everywhereRules are the rules about all answers of the run.
func everywhereRules() []suite.Rule {
	return []suite.Rule{
		{ID: "everywhere/version-header", Look: looksAtVersion,
			Text: "every answer, including errors, has the API's version in X-Service-Api-Version"},
		{ID: "everywhere/request-id", Look: looksAtRequestID,
			Text: "every answer, including errors, has an X-Request-Id"},
		{ID: "everywhere/json", Look: looksAtContentType,
			Text: "every answer with a body is JSON and has its content type"},
		{ID: "everywhere/no-5xx", Look: looksForFailures,
			Text: "no request makes the service fail, or leaves it overloaded for a minute"},
		{ID: "everywhere/error-body", Look: looksAtErrors,
			Text: "every error has a code in error, a text in message, and an object, null or nothing in detail"},
		{ID: "everywhere/no-redirect", Look: looksForRedirects,
			Text: "no call is answered by a redirect"},
		{ID: "everywhere/representation", Look: eachRepresentation(shapeProblem),
			Text: "every transaction in any answer has all documented fields with their types"},
		{ID: "everywhere/camel-case", Look: eachRepresentation(spellingProblem),
			Text: "every field of a transaction's representation is written in camelCase"},
		{ID: "everywhere/sums", Look: eachRepresentation(sumsProblem),
			Text: "in every transaction the payer's total is the net amount plus the commission, and the two shares match the amounts"},
		{ID: "everywhere/completion", Look: eachRepresentation(completionProblem),
			Text: "a terminal transaction has a completedAt at or after its createdAt, and a PENDING one has none"},
	}
}

func looksAtVersion(a suite.Answer) suite.Verdict {
	if v := a.Header.Get("X-Service-Api-Version"); v != apiVersion {
		return suite.Verdict{Applies: true, Problem: fmt.Sprintf("X-Service-Api-Version is %q, want %q", v, apiVersion)}
	}
	return suite.Verdict{Applies: true}
}

var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

func looksAtRequestID(a suite.Answer) suite.Verdict {
	if id := a.Header.Get("X-Request-Id"); !requestIDForm.MatchString(id) {
		return suite.Verdict{Applies: true, Problem: fmt.Sprintf("X-Request-Id is %q, want 1 to 128 of A-Z a-z 0-9 . _ -", id)}
	}
	return suite.Verdict{Applies: true}
}

func looksAtContentType(a suite.Answer) suite.Verdict {
	if a.Status == http.StatusNoContent {
		return suite.Verdict{}
	}
	media, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return suite.Verdict{Applies: true, Problem: fmt.Sprintf("Content-Type is %q", a.Header.Get("Content-Type"))}
	}
	return suite.Verdict{Applies: true}
}

func looksForFailures(a suite.Answer) suite.Verdict {
	if a.Status >= http.StatusInternalServerError && a.Header.Get("X-Cauri-Fault") == "" {
		return suite.Verdict{Applies: true, Problem: "the service failed"}
	}
	return suite.Verdict{Applies: true}
}

func looksForRedirects(a suite.Answer) suite.Verdict {
	if a.Status >= 300 && a.Status < 400 {
		return suite.Verdict{Applies: true, Problem: "a redirect to " + a.Header.Get("Location")}
	}
	return suite.Verdict{Applies: true}
}

func looksAtErrors(a suite.Answer) suite.Verdict {
	if a.Status < http.StatusBadRequest {
		return suite.Verdict{}
	}
	o, err := a.Object()
	if err != nil {
		return suite.Verdict{Applies: true, Problem: err.Error()}
	}
	problems := suite.Compare("", o, suite.Object{
		"error": suite.Matching(`^[a-z][a-z0-9_]*$`), "message": suite.AnyText, "detail": suite.AbsentOr(suite.NullOr(suite.AnyObject)),
	})
	return suite.Verdict{Applies: true, Problem: strings.Join(problems, "; ")}
}

// eachRepresentation checks every transaction in an answer.
func eachRepresentation(problem func(suite.Object) string) func(suite.Answer) suite.Verdict {
	return func(a suite.Answer) suite.Verdict {
		found := representationsIn(a)
		for _, o := range found {
			if p := problem(o); p != "" {
				return suite.Verdict{Applies: true, Problem: p}
			}
		}
		return suite.Verdict{Applies: len(found) > 0}
	}
}

func shapeProblem(o suite.Object) string {
	want := representation()
	if o["type"] == "collection" {
		want = collectionRepresentation()
	}
	return strings.Join(suite.Compare("", o, want), "; ")
}

func spellingProblem(o suite.Object) string {
	if wrong := misspelt(o); len(wrong) > 0 {
		return "fields that are not in camelCase: " + strings.Join(wrong, ", ")
	}
	return ""
}

func completionProblem(o suite.Object) string {
	if o["status"] == "PENDING" {
		if o["completedAt"] != nil {
			return fmt.Sprintf("%v is PENDING and has the completedAt %v", o["id"], o["completedAt"])
		}
		return ""
	}
	created, _ := suite.TimeOf(o["createdAt"])
	completed, ok := suite.TimeOf(o["completedAt"])
	if !ok || completed.Before(created) {
		return fmt.Sprintf("%v is %v, was created at %v and completed at %v", o["id"], o["status"], o["createdAt"], o["completedAt"])
	}
	return ""
}

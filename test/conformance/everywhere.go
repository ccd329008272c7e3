package main

import (
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"strings"
)

// everywhereRules are about every answer that the other rules get.
func everywhereRules() []rule {
	return []rule{
		{id: "everywhere/version-header", look: looksAtVersion,
			text: "every answer, an error too, names the API's version in X-Service-Api-Version"},
		{id: "everywhere/request-id", look: looksAtRequestID,
			text: "every answer, an error too, carries an X-Request-Id"},
		{id: "everywhere/json", look: looksAtContentType,
			text: "every answer is JSON and says so"},
		{id: "everywhere/no-5xx", look: looksForFailures,
			text: "nothing that a caller sends makes the service fail"},
		{id: "everywhere/error-body", look: looksAtErrors,
			text: "every error has a code in error, words in message, and in detail an object, null or nothing"},
		{id: "everywhere/no-redirect", look: looksForRedirects,
			text: "no call is answered by a redirect"},
		{id: "everywhere/representation", look: eachRepresentation(shapeProblem),
			text: "every transaction, wherever it shows up, has all documented fields with their types"},
		{id: "everywhere/camel-case", look: eachRepresentation(spellingProblem),
			text: "every field of a transaction's representation is written in camelCase"},
		{id: "everywhere/sums", look: eachRepresentation(sumsProblem),
			text: "in every transaction the payer's total is the net amount and the commission, and the two shares are what they are named for"},
		{id: "everywhere/completion", look: eachRepresentation(completionProblem),
			text: "a transaction has a completedAt, not before its createdAt, as soon as it is not PENDING any more, and none before"},
	}
}

func looksAtVersion(a answer) verdict {
	if v := a.header.Get("X-Service-Api-Version"); v != apiVersion {
		return verdict{true, fmt.Sprintf("X-Service-Api-Version is %q, want %q", v, apiVersion)}
	}
	return verdict{applies: true}
}

var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

func looksAtRequestID(a answer) verdict {
	if id := a.header.Get("X-Request-Id"); !requestIDForm.MatchString(id) {
		return verdict{true, fmt.Sprintf("X-Request-Id is %q, want 1 to 128 of A-Z a-z 0-9 . _ -", id)}
	}
	return verdict{applies: true}
}

func looksAtContentType(a answer) verdict {
	media, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return verdict{true, fmt.Sprintf("Content-Type is %q", a.header.Get("Content-Type"))}
	}
	return verdict{applies: true}
}

func looksForFailures(a answer) verdict {
	if a.status >= http.StatusInternalServerError {
		return verdict{true, "the service failed"}
	}
	return verdict{applies: true}
}

func looksForRedirects(a answer) verdict {
	if a.status >= 300 && a.status < 400 {
		return verdict{true, "a redirect to " + a.header.Get("Location")}
	}
	return verdict{applies: true}
}

func looksAtErrors(a answer) verdict {
	if a.status < http.StatusBadRequest {
		return verdict{}
	}
	o, err := a.object()
	if err != nil {
		return verdict{true, err.Error()}
	}
	problems := compare("", o, object{
		"error": matching(`^[a-z][a-z0-9_]*$`), "message": anyText, "detail": absentOr(nullOr(anyObject)),
	})
	return verdict{true, strings.Join(problems, "; ")}
}

// eachRepresentation judges every transaction in an answer.
func eachRepresentation(problem func(object) string) func(answer) verdict {
	return func(a answer) verdict {
		found := representationsIn(a)
		for _, o := range found {
			if p := problem(o); p != "" {
				return verdict{true, p}
			}
		}
		return verdict{applies: len(found) > 0}
	}
}

func shapeProblem(o object) string {
	want := representation()
	if o["type"] == "collection" {
		want = collectionRepresentation()
	}
	return strings.Join(compare("", o, want), "; ")
}

func spellingProblem(o object) string {
	if wrong := misspelt(o); len(wrong) > 0 {
		return "fields that are not in camelCase: " + strings.Join(wrong, ", ")
	}
	return ""
}

func completionProblem(o object) string {
	if o["status"] == "PENDING" {
		if o["completedAt"] != nil {
			return fmt.Sprintf("%v is PENDING and has the completedAt %v", o["id"], o["completedAt"])
		}
		return ""
	}
	created, _ := timeOf(o["createdAt"])
	completed, ok := timeOf(o["completedAt"])
	if !ok || completed.Before(created) {
		return fmt.Sprintf("%v is %v, was created at %v and completed at %v", o["id"], o["status"], o["createdAt"], o["completedAt"])
	}
	return ""
}

package main

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
)

// The parts of a collection in Postman's format 2.1, with the used fields.
type (
	collection struct {
		Info      info       `json:"info"`
		Auth      auth       `json:"auth"`
		Events    []event    `json:"event"`
		Variables []variable `json:"variable"`
		Items     []folderOf `json:"item"`
	}
	info struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Schema      string `json:"schema"`
	}
	auth struct {
		Type   string     `json:"type"`
		Bearer []variable `json:"bearer,omitempty"`
	}
	variable struct {
		Key     string `json:"key"`
		Value   string `json:"value"`
		Type    string `json:"type,omitempty"`
		Enabled bool   `json:"enabled,omitempty"`
	}
	event struct {
		Listen string `json:"listen"`
		Script script `json:"script"`
	}
	script struct {
		Type  string   `json:"type"`
		Lines []string `json:"exec"`
	}
	folderOf struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Items       []item `json:"item"`
	}
	item struct {
		Name    string  `json:"name"`
		Events  []event `json:"event"`
		Request request `json:"request"`
	}
	request struct {
		Method      string     `json:"method"`
		URL         string     `json:"url"`
		Headers     []variable `json:"header"`
		Body        *body      `json:"body,omitempty"`
		Auth        *auth      `json:"auth,omitempty"`
		Description string     `json:"description"`
	}
	body struct {
		Mode string `json:"mode"`
		Raw  string `json:"raw"`
	}
)

// The names in Postman's environment. They are the same as those of the environment variables.
const uri, apiKey = "CAURI_URI", "CAURI_API_KEY"

// The variables with ids of earlier answers, for later requests.
const paymentID, promptID, eventID, checkID, sessionID = "payment_id", "prompt_id", "event_id", "check_id", "session_id"

// keepIDs is the script that runs after every request and stores the ids of the answer.
var keepIDs = []string{
	`const body = pm.response.code < 300 && pm.response.text() ? pm.response.json() : {};`,
	`if (body.type === "collection" && body.status === "SUCCESS" && pm.response.code === 201) {`,
	`  pm.collectionVariables.set("` + paymentID + `", body.id);`,
	`  pm.collectionVariables.set("` + eventID + `", "evt_" + body.id.slice("TX_".length));`,
	`}`,
	`if (body.status === "PENDING") pm.collectionVariables.set("` + promptID + `", body.id);`,
	`if (pm.response.code === 202 && body.id?.startsWith("chk_")) pm.collectionVariables.set("` + checkID + `", body.id);`,
	`if (body.data?.[0]?.id?.startsWith("cs_")) pm.collectionVariables.set("` + sessionID + `", body.data[0].id);`,
}

const description = "Every example of the API's description, but for the stream, which does not end, in an order in which each finds what it needs. Fill in the environment: `" +
	uri + "` and `" + apiKey + "` are `uri` and `api-key` in the Secret of the sandbox. The requests suppose a store `shop`, MTN in Rwanda, " +
	"a float of 1,000,000 RWF, a webhook URL, `spec.api` with both fields true, and a test client +250788123456 with 50,000 RWF and the behavior Manual, " +
	"and a browser that is signed in to the console. The " +
	"last one of the test clients resets the sandbox."

func newCollection() collection {
	c := collection{
		Info:      info{"Cauri", description, "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
		Auth:      auth{"bearer", []variable{{Key: "token", Value: "{{" + apiKey + "}}", Type: "string"}}},
		Events:    []event{afterwards(keepIDs...)},
		Variables: []variable{{Key: paymentID}, {Key: promptID}, {Key: eventID}, {Key: checkID}, {Key: sessionID}},
	}
	for _, tag := range apidoc.NewDocument().Tags {
		f := folderOf{Name: tag.Name, Description: tag.Description}
		for _, o := range apidoc.Operations {
			if o.Tag == tag.Name && o.Media != apidoc.MediaEvents { // without streams, whose answers do not end
				f.Items = append(f.Items, itemsOf(o)...)
			}
		}
		if len(f.Items) > 0 {
			c.Items = append(c.Items, f)
		}
	}
	return c
}

func newEnvironment() any {
	return map[string]any{
		"name": "Cauri", "_postman_variable_scope": "environment",
		"values": []variable{
			{Key: uri, Value: "http://localhost:8080", Type: "default", Enabled: true}, {Key: apiKey, Type: "secret", Enabled: true},
		},
	}
}

// itemsOf returns the requests of an operation: its examples, without repetitions of a request.
func itemsOf(o apidoc.Operation) []item {
	if len(o.Examples) == 0 {
		return []item{newItem(o, apidoc.Example{Summary: o.Summary, Status: 200})}
	}
	var items []item
	for _, e := range o.Examples {
		i := newItem(o, e)
		same := func(other item) bool { return other.Request.URL == i.Request.URL && rawOf(other) == rawOf(i) }
		if !slices.ContainsFunc(items, same) {
			items = append(items, i)
		}
	}
	return items
}

// referenceValue matches the reference in a body. Its group is the constant first part; the rest makes the reference
// unique.
var referenceValue = regexp.MustCompile(`("reference": "[A-Z]+-[A-Z]+-)[^"]*"`)

func newItem(o apidoc.Operation, e apidoc.Example) item {
	r := request{Method: o.Method, URL: "{{" + uri + "}}" + target(o, e), Headers: []variable{}, Description: o.Description}
	if e.Body != "" {
		r.Headers = []variable{{Key: "Content-Type", Value: apidoc.MediaJSON}}
		r.Body = &body{"raw", referenceValue.ReplaceAllString(e.Body, `$1{{$$guid}}"`)}
	}
	if o.Open {
		r.Auth = &auth{Type: "noauth"}
	}
	name := o.Summary
	if len(o.Examples) > 1 {
		name += ": " + strings.ToLower(e.Summary[:1]) + e.Summary[1:]
	}
	return item{Name: name, Request: r, Events: []event{afterwards(
		fmt.Sprintf(`pm.test("answers %d", () => pm.response.to.have.status(%d));`, e.Status, e.Status))}}
}

func rawOf(i item) string {
	if i.Request.Body == nil {
		return ""
	}
	return i.Request.Body.Raw
}

// target returns the path and query of an example, with variables in place of ids.
func target(o apidoc.Operation, e apidoc.Example) string {
	path := strings.NewReplacer("/payments/{id}", "/payments/{{"+paymentID+"}}", "/events/{id}", "/events/{{"+eventID+"}}",
		"{tx}", "{{"+promptID+"}}", "{check}", "{{"+checkID+"}}", "{session}", "{{"+sessionID+"}}").Replace(o.Path)
	query := url.Values{}
	for _, p := range o.Parameters {
		value, given := e.Parameters[p.Name]
		switch {
		case !given:
		case p.In == "path":
			path = strings.ReplaceAll(path, "/{"+p.Name+"}", "/"+fmt.Sprint(value))
		default:
			query.Set(p.Name, fmt.Sprint(value))
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

func afterwards(lines ...string) event { return event{"test", script{"text/javascript", lines}} }

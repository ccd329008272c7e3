package main

import (
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// operatorPage is the page of an operator's own API. All of it comes from the table of that API.
type operatorPage struct {
	frame
	api         *operatorapi.API
	Operator    payments.Operator
	Base        string         // base URL of the API
	RootEntry   pageCredential // entry of the base URL at a root
	Credentials []pageCredential
	Elsewhere   []pageElsewhere
	Groups      []pageGroup
	Errors      []pageError
	Facts       []operatorapi.Fact
}

// pageCredential is an entry of the credentials Secret, with the variable that has its value.
type pageCredential struct{ Entry, Variable string }

// pageElsewhere is a call that is described elsewhere.
type pageElsewhere struct {
	*operatorapi.Route
	Group string
}

// operatorPages returns the pages of all operators' own APIs.
func operatorPages() ([]operatorPage, error) {
	var pages []operatorPage
	for _, api := range operators.NativeAPIs() {
		p, err := newOperatorPage(api)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", api.Operator, err)
		}
		pages = append(pages, p)
	}
	return pages, nil
}

func newOperatorPage(api *operatorapi.API) (operatorPage, error) {
	name := string(api.Operator)
	p := operatorPage{
		frame: frame{Title: nameOf(api) + "'s own API", Path: "docs/" + name, Root: "../"},
		api:   api, Operator: api.Operator, Base: apidoc.PageAddress + "/operators/" + name,
		RootEntry: pageCredential{name + "-root-uri", variableOf(name + "-root-uri")}, Facts: api.Facts,
	}
	for _, entry := range slices.Sorted(maps.Keys(api.SecretEntries("", ""))) {
		p.Credentials = append(p.Credentials, pageCredential{entry, variableOf(entry)})
	}
	p.Contents = []pageContents{{"Start", []pageLink{{"start", "Overview"}, {"addresses", "Address and credentials"}}}}
	for i := range api.Routes {
		if r := &api.Routes[i]; r.Doc.Elsewhere != "" {
			call := pageElsewhere{r, capitalized(r.Tag())}
			if slices.ContainsFunc(api.Described(), func(of *operatorapi.Route) bool { return of.Tag() == r.Tag() }) {
				call.Group = r.Method + " " + r.Path // another section has the name of the group
			}
			p.Elsewhere = append(p.Elsewhere, call)
			p.Contents = append(p.Contents, pageContents{call.Group, []pageLink{{r.ID(), linkTo(r.Method, r.Path)}}})
		}
	}
	for _, r := range api.Described() {
		if err := p.addOperation(r); err != nil {
			return p, err
		}
	}
	for _, g := range p.Groups {
		group := pageContents{Name: g.Name}
		for _, o := range g.Operations { // summaries of an operator's calls are alike, and people know the calls
			group.Links = append(group.Links, pageLink{o.ID, linkTo(o.Method, strings.TrimPrefix(o.Path, "/"+strings.ToLower(g.Name)))})
		}
		p.Contents = append(p.Contents, group)
	}
	p.Contents = append(p.Contents, pageContents{"Reference", []pageLink{{"errors", "Refusals"}, {"facts", "Rules and differences"}}})
	return p, nil
}

// linkTo returns the name of a call in the menu. A line may end before each slash, at a space without a width.
func linkTo(method, path string) string {
	return method + " " + strings.ReplaceAll(path, "/", "\u200b/")
}

// variableOf returns the variable of an entry of the credentials Secret.
func variableOf(entry string) string {
	return "CAURI_" + strings.ToUpper(strings.ReplaceAll(entry, "-", "_"))
}

// addOperation adds a call to the group of its product.
func (p *operatorPage) addOperation(r *operatorapi.Route) error {
	o := pageOperation{
		ID: r.ID(), Method: r.Method, Path: r.Path, Summary: r.Doc.Summary, Mark: shownMark(r.Doc.Mark), Headers: p.fields(r.Doc.Headers),
		Parameters: p.fields(r.Doc.Query),
	}
	if len(r.Doc.Request) > 0 {
		o.Body = &pageBody{Fields: p.fields(r.Doc.Request)}
	}
	o.Answers = []pageAnswer{{
		Status: fmt.Sprint(r.Doc.Status), When: http.StatusText(r.Doc.Status) + ".", Fields: p.fields(r.Doc.Response),
	}}
	p.addErrors(&o, r)
	written, err := p.requestOf(r).inLanguages()
	if err != nil {
		return err
	}
	var answer any
	if r.Doc.Answer != "" {
		answer = json.RawMessage(r.Doc.Answer)
	}
	if r.Doc.Query == nil { // credentials in a query are for no shell's history
		o.Examples = []pageExample{{
			Name: r.Name, Summary: "The request and its answer", Request: written, Answer: answerCode(r.Doc.Status, answer),
		}}
	}
	group := pageGroup{ID: "group-" + r.Tag(), Name: capitalized(r.Tag())}
	i := slices.IndexFunc(p.Groups, func(g pageGroup) bool { return g.ID == group.ID })
	if i < 0 {
		i, p.Groups = len(p.Groups), append(p.Groups, group)
	}
	p.Groups[i].Operations = append(p.Groups[i].Operations, o)
	return nil
}

func capitalized(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// addErrors adds the refusals of a call to the call, and to the refusals of the page.
func (p *operatorPage) addErrors(o *pageOperation, r *operatorapi.Route) {
	var also []string
	for _, why := range p.api.Refusals(r) {
		answer, advice := p.api.Answer(r, operatorapi.Refuse(why)), p.api.Advice(why)
		e := pageError{Status: answer.Status, Code: string(why), When: advice.When, Instead: advice.Instead}
		if answer.Body != nil {
			e.Example = pageCode{Caption: fmt.Sprint(answer.Status), Text: p.withoutDrawn(indented(answer.Body))}
		}
		if slices.Contains(r.Doc.Refused, why) {
			o.Errors = append(o.Errors, e)
		} else {
			also = append(also, linkToError(e.Code))
		}
		if !slices.ContainsFunc(p.Errors, func(other pageError) bool { return other.Code == e.Code }) {
			p.Errors = append(p.Errors, e)
		}
	}
	o.AlsoErrors = template.HTML(strings.Join(also, ", "))
}

// withoutDrawn replaces the values that differ in each answer by those of the examples: a page is the same each time.
func (p *operatorPage) withoutDrawn(text string) string {
	for _, name := range p.api.Drawn {
		text = regexp.MustCompile(`("`+name+`": )"[^"]*"`).ReplaceAllString(text, `${1}"`+p.api.Examples[name]+`"`)
	}
	return text
}

var parameter = regexp.MustCompile(`\{(\w+)\}`)

// requestOf returns the example of a call.
func (p *operatorPage) requestOf(r *operatorapi.Route) request {
	path := parameter.ReplaceAllStringFunc(r.Path, func(name string) string { return p.api.Examples[strings.Trim(name, "{}")] })
	q := request{Method: r.Method, Address: p.Base + path}
	credentials := p.api.Derive("")
	variable := func(value string) string {
		for entry, v := range credentials.Secret {
			if v == value {
				return variableOf(entry)
			}
		}
		return ""
	}
	switch {
	case r.Access == operatorapi.ByUser && p.api.Login == nil:
		q.User, q.Password = variable(credentials.User), variable(credentials.UserKey)
	case r.Access == operatorapi.ByToken:
		q.Headers = append(q.Headers, requestHeader{"Authorization", "Bearer ", "BEARER"})
	}
	if p.api.KeyHeader != "" {
		q.Headers = append(q.Headers, requestHeader{Name: p.api.KeyHeader, Variable: variable(credentials.Key)})
	}
	for _, h := range r.Doc.Headers {
		if !h.Optional {
			q.Headers = append(q.Headers, requestHeader{Name: h.Name, Text: p.api.Examples[h.Name]})
		}
	}
	if r.Doc.Body != "" {
		q.Body, q.Variables = r.Doc.Body, p.api.Variables
		kind := apidoc.MediaJSON
		if r.Doc.Form {
			kind, q.Form = operatorapi.FormType, formOf(r.Doc.Body)
		}
		q.Headers = append(q.Headers, requestHeader{Name: "Content-Type", Text: kind})
	}
	return q
}

// fields returns the fields of a body, or headers.
func (p *operatorPage) fields(all []operatorapi.Field) (shown []pageField) {
	for _, f := range all {
		kind := strings.Join(f.Types, " or ")
		switch {
		case len(f.Fields) > 0:
			kind = "object"
		case kind == "":
			kind = "string"
		}
		words := []string{kind}
		if f.Max > 0 {
			words = append(words, fmt.Sprintf("at most %d characters", f.Max))
		}
		if len(f.Enum) > 0 {
			words = append(words, strings.Join(f.Enum, " | "))
		}
		if f.Pattern != "" {
			words = append(words, f.Pattern)
		}
		shown = append(shown, pageField{
			Name: f.Name, Kind: template.HTML(template.HTMLEscapeString(strings.Join(words, ", "))), Required: !f.Optional,
			Description: f.About, Mark: shownMark(f.Mark), Fields: p.fields(f.Fields),
		})
	}
	return shown
}

// shownMark returns the mark of a call or a field, if it is not the one that most have.
func shownMark(m operatorapi.Mark) operatorapi.Mark {
	if m == operatorapi.Documented {
		return ""
	}
	return m
}

// formOf returns an object with texts as a form.
func formOf(object string) string {
	var fields map[string]string
	if err := json.Unmarshal([]byte(object), &fields); err != nil {
		panic(err) // an example that is wrong fails every run
	}
	form := url.Values{}
	for name, value := range fields {
		form.Set(name, value)
	}
	return form.Encode()
}

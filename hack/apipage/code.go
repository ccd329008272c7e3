package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"text/template"
)

// request is an HTTP request that can be written in several languages. It has no secret: a program reads those from its
// environment.
type request struct {
	Method, Address string
	Headers         []requestHeader
	User, Password  string            // variables of Basic authentication; empty for none
	Body            string            // JSON; empty for none
	Form            string            // Body as a form; empty: it is sent as JSON
	Variables       map[string]string // values of Body that a program reads from its environment, and their variables
}

// requestHeader is a header whose value is a text, followed by the value of a variable if it names one.
type requestHeader struct{ Name, Text, Variable string }

// Explicit reports whether tools would send another method if the request did not name it.
func (r request) Explicit() bool {
	return r.Method != http.MethodGet && (r.Method != http.MethodPost || r.Body == "")
}

// Keyed reports whether the request has headers.
func (r request) Keyed() bool { return r.User != "" || len(r.Headers) > 0 }

// Plain reports whether the address says everything.
func (r request) Plain() bool { return r.Method == http.MethodGet && !r.Keyed() }

// languages are the languages of examples, in the order of their tabs. ID names the tab in the page and the file of the
// template, and Name is also what the browser keeps. Variable is what stands for a quoted value that comes from a
// variable.
var languages = []struct{ ID, Name, Variable string }{
	{"curl", "curl", `"'"$%s"'"`}, {"javascript", "JavaScript", `process.env.%s`}, {"python", "Python", `os.environ["%s"]`},
	{"php", "PHP", `getenv("%s")`}, {"go", "Go", "\"` + os.Getenv(\"%s\") + `\""},
}

//go:embed languages/*.tmpl
var languageFiles embed.FS

// inLanguages returns a request in all languages, by their ids.
func (r request) inLanguages() (map[string]string, error) {
	templates, err := template.New("").Funcs(template.FuncMap{
		"json": func(prefix, indent string) (string, error) {
			var text bytes.Buffer
			err := json.Indent(&text, []byte(r.Body), prefix, indent)
			return text.String(), err
		},
		"word": regexp.MustCompile(`^\w+$`).MatchString, "shell": asShell, "javascript": asJavaScript, "python": asPython, "php": asPHP,
	}).ParseFS(languageFiles, "languages/*.tmpl")
	if err != nil {
		return nil, err
	}
	written := map[string]string{}
	for _, l := range languages {
		var text strings.Builder
		if err := templates.ExecuteTemplate(&text, l.ID+".tmpl", r); err != nil {
			return nil, err
		}
		written[l.ID] = strings.TrimSpace(text.String())
		for value, variable := range r.Variables {
			written[l.ID] = strings.ReplaceAll(written[l.ID], strconv.Quote(value), fmt.Sprintf(l.Variable, variable))
		}
	}
	return written, nil
}

// The functions that follow change indented JSON to a value in a language. In indented JSON each name begins a line, so
// they need no parser.
var (
	jsonName  = regexp.MustCompile(`(?m)^(\s*)"(\w+)": `)
	jsonWord  = regexp.MustCompile(`(?m)(: |^\s+)(true|false|null)(,?)$`)
	jsonBegin = regexp.MustCompile(`(?m)\{$`)
	jsonEnd   = regexp.MustCompile(`(?m)^(\s*)\}`)
)

func asShell(text string) string { return strings.ReplaceAll(text, "'", `'\''`) }

func asJavaScript(text string) string { return jsonName.ReplaceAllString(text, "$1$2: ") }

func asPython(text string) string {
	words := map[string]string{"true": "True", "false": "False", "null": "None"}
	return jsonWord.ReplaceAllStringFunc(text, func(found string) string {
		parts := jsonWord.FindStringSubmatch(found)
		return parts[1] + words[parts[2]] + parts[3]
	})
}

func asPHP(text string) string {
	text = strings.ReplaceAll(text, "{}", "(object) []")
	text = jsonName.ReplaceAllString(strings.ReplaceAll(text, "$", `\$`), `$1"$2" => `)
	return jsonEnd.ReplaceAllString(jsonBegin.ReplaceAllString(text, "["), "$1]")
}

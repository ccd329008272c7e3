package main

import (
	"html/template"
	"strings"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// frame is what all pages have around their content.
type frame struct {
	Title    string
	Path     string // of the page, relative to Root
	Root     string // relative path to the address of the sandbox
	Contents []pageContents
}

// pageContents is a part of the menu.
type pageContents struct {
	Name  string
	Links []pageLink
}

type pageLink struct{ ID, Name string }

// pageOfAPI is a page in the list of APIs.
type pageOfAPI struct {
	Path, Name string
	Operator   payments.Operator // empty for the API of Cauri
}

// Address stands for the address at which the page is opened.
func (frame) Address() string { return apidoc.PageAddress }

// Languages are the languages of examples.
func (frame) Languages() any { return languages }

// APIs are the APIs that have a page.
func (frame) APIs() []pageOfAPI {
	all := []pageOfAPI{{Path: "docs", Name: "Cauri's API"}}
	for _, api := range operators.NativeAPIs() {
		all = append(all, pageOfAPI{"docs/" + string(api.Operator), nameOf(api) + "'s own API", api.Operator})
	}
	return all
}

func (f frame) icon(name string) template.HTML {
	return template.HTML(`<svg class="i" aria-hidden="true"><use href="` + f.Root + `docs/assets/sprite.svg#` + name + `"></use></svg>`)
}

// nameOf returns the name of an operator as people write it: short names are abbreviations.
func nameOf(api *operatorapi.API) string {
	switch o := string(api.Operator); {
	case api.Name != "":
		return api.Name
	case len(o) <= 3:
		return strings.ToUpper(o)
	default:
		return capitalized(o)
	}
}

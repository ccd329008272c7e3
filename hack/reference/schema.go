package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// kind is a kind of resource, read from its CRD.
type kind struct {
	Name       string
	ShortNames []string
	Schema     schema
	Columns    []column
}

type column struct {
	Name        string `json:"name"`
	JSONPath    string `json:"jsonPath"`
	Description string `json:"description"`
	Priority    int    `json:"priority"`
}

// schema has the fields of an OpenAPI schema that the reference shows.
type schema struct {
	Type        string            `json:"type"`
	Format      string            `json:"format"`
	Description string            `json:"description"`
	Default     json.RawMessage   `json:"default"`
	Enum        []string          `json:"enum"`
	Properties  map[string]schema `json:"properties"`
	Items       *schema           `json:"items"`
	Required    []string          `json:"required"`
	MapKeys     []string          `json:"x-kubernetes-list-map-keys"`
}

func readKind(file string) (kind, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return kind{}, err
	}
	var crd struct {
		Spec struct {
			Names struct {
				Kind       string   `json:"kind"`
				ShortNames []string `json:"shortNames"`
			} `json:"names"`
			Versions []struct {
				AdditionalPrinterColumns []column `json:"additionalPrinterColumns"`
				Schema                   struct {
					OpenAPIV3Schema schema `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return kind{}, err
	}
	if len(crd.Spec.Versions) != 1 {
		return kind{}, fmt.Errorf("it has %d versions; the reference knows how to show one", len(crd.Spec.Versions))
	}
	version := crd.Spec.Versions[0]
	return kind{
		Name: crd.Spec.Names.Kind, ShortNames: crd.Spec.Names.ShortNames,
		Schema: version.Schema.OpenAPIV3Schema, Columns: version.AdditionalPrinterColumns,
	}, nil
}

func (k kind) page() string { return strings.ToLower(k.Name) + ".md" }

// generated is the first line of each page.
const generated = "<!-- Written by `make generate` from the types in api/v1alpha1. Edit those. -->\n\n"

func (k kind) markdown() string {
	var b strings.Builder
	b.WriteString(generated)
	fmt.Fprintf(&b, "# %s\n\n`apiVersion: cauri.dev/v1alpha1`, `kind: %s`, short name `%s`\n\n%s\n\n", k.Name, k.Name,
		strings.Join(k.ShortNames, "`, `"), paragraphs(k.Schema.Description))
	b.WriteString("`kubectl get` shows:\n\n| column | from | |\n| --- | --- | --- |\n")
	for _, c := range k.Columns {
		note := c.Description
		if c.Priority > 0 {
			note = strings.TrimPrefix(note+", with `--output=wide`", ", ")
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", c.Name, strings.ReplaceAll(c.JSONPath, "|", `\|`), note)
	}
	for _, part := range []string{"spec", "status"} {
		writeObject(&b, part, k.Schema.Properties[part])
	}
	return b.String()
}

// writeObject writes sections about an object and its nested objects.
func writeObject(b *strings.Builder, path string, s schema) {
	fmt.Fprintf(b, "\n## %s\n\n", path)
	if s.Description != "" && !strings.Contains(path, ".") {
		fmt.Fprintf(b, "%s\n\n", paragraphs(s.Description))
	}
	b.WriteString("| field | type | default | |\n| --- | --- | --- | --- |\n")
	names := slices.Sorted(maps.Keys(s.Properties))
	for _, name := range names {
		field := s.Properties[name]
		required := ""
		if slices.Contains(s.Required, name) {
			required = "required"
		}
		fmt.Fprintf(
			b,
			"| `%s` | %s | %s | %s |\n",
			name,
			field.typeName(),
			strings.TrimPrefix(required+field.defaultValue(), " "),
			cell(field.Description),
		)
	}
	for _, name := range names {
		field := s.Properties[name]
		at := path + "." + name
		if field.Items != nil {
			field, at = *field.Items, at+"[]"
		}
		if len(field.Properties) > 0 && name != "conditions" {
			writeObject(b, at, field)
		}
	}
}

func (s schema) typeName() string {
	switch {
	case s.Items != nil && len(s.MapKeys) > 0:
		return "list of " + s.Items.typeName() + ", one for each " + strings.Join(s.MapKeys, " and ")
	case s.Items != nil:
		return "list of " + s.Items.typeName()
	case len(s.Enum) > 0:
		return "`" + strings.Join(s.Enum, "`, `") + "`"
	case s.Format == "date-time":
		return "time"
	}
	return s.Type
}

func (s schema) defaultValue() string {
	if s.Default == nil {
		return ""
	}
	text := strings.Trim(string(s.Default), `"`)
	return " `" + text + "`"
}

// cell escapes a text for a cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// paragraphs joins the lines of each paragraph of a doc comment.
func paragraphs(text string) string {
	var joined []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		joined = append(joined, strings.Join(strings.Fields(paragraph), " "))
	}
	return strings.Join(joined, "\n\n")
}

func indexPage(kinds []kind) string {
	var b strings.Builder
	b.WriteString(generated + "# Reference\n\n")
	for _, k := range kinds {
		fmt.Fprintf(&b, "- [%s](%s)\n", k.Name, k.page())
	}
	b.WriteString(
		"- [Conditions](conditions.md) and their reasons\n- [Commands](commands/README.md)\n\n`kubectl explain` says the same, for example `kubectl explain sandboxenvironment.spec.webhook`.\n",
	)
	return b.String()
}

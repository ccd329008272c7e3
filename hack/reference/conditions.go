package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// group is a block of constants with their comment.
type group struct {
	about  string
	values []value
}

type value struct {
	name   string // value in a status
	text   string
	reason bool // false: a type of condition
}

// readConditions reads the constants of a file whose names begin with Condition or Reason.
func readConditions(file string) ([]group, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var groups []group
	for _, d := range parsed.Decls {
		constants, ok := d.(*ast.GenDecl)
		if !ok || constants.Tok != token.CONST {
			continue
		}
		g := group{about: constants.Doc.Text()}
		for _, s := range constants.Specs {
			v, err := readValue(s.(*ast.ValueSpec))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			g.values = append(g.values, v)
		}
		groups = append(groups, g)
	}
	return groups, nil
}

func readValue(s *ast.ValueSpec) (value, error) {
	name := s.Names[0].Name
	literal, ok := s.Values[0].(*ast.BasicLit)
	if !ok {
		return value{}, fmt.Errorf("%s is no literal", name)
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		return value{}, fmt.Errorf("%s: %w", name, err)
	}
	if s.Doc.Text() == "" {
		return value{}, fmt.Errorf("%s has no comment", name)
	}
	about := paragraphs(s.Doc.Text())
	about = strings.TrimPrefix(about, name+" ")
	return value{name: text, text: about, reason: strings.HasPrefix(name, "Reason")}, nil
}

func conditionsPage(groups []group) string {
	var b strings.Builder
	b.WriteString(generated + "# Conditions and reasons\n")
	for _, g := range groups {
		about := strings.TrimSuffix(paragraphs(g.about), ".")
		title, rest, _ := strings.Cut(about, ". ")
		fmt.Fprintf(&b, "\n## %s\n\n", strings.TrimSuffix(title, "."))
		if rest != "" {
			fmt.Fprintf(&b, "%s.\n\n", rest)
		}
		first := "condition"
		if len(g.values) > 0 && g.values[0].reason {
			first = "reason"
		}
		fmt.Fprintf(&b, "| %s | |\n| --- | --- |\n", first)
		for _, v := range g.values {
			fmt.Fprintf(&b, "| `%s` | %s |\n", v.name, strings.ReplaceAll(v.text, "\n\n", "<br>"))
		}
	}
	return b.String()
}

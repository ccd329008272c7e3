package main

import (
	"reflect"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	rules, err := parseRules("# a comment\n\nmend(?:s|ed)? | fix")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("word ", maxWords)
	for name, c := range map[string]struct {
		text string
		want []finding
	}{
		"a retired word":                    {"It works.\nIt is\nMended now.", []finding{{3, `"Mended": write fix`}}},
		"only whole words":                  {"We recommend it.", nil},
		"not in code":                       {"Call `mend`.\n\n```sh\nmend\n```", nil},
		"not in the address of a link":      {"[fix](mend.md)", nil},
		"as many words as a sentence has":   {long + ".\n" + long, nil},
		"one more":                          {"# Title\n" + long + "more. Next.", []finding{{2, "a sentence of 41 words, at most 40: word word word word word word ..."}}},
		"items of a list are no sentence":   {"- " + long + "\n- " + long, nil},
		"cells of a table are no sentence":  {"| " + long + " | " + long + " |", nil},
		"and each of them is looked at":     {"| a | mends |", []finding{{1, `"mends": write fix`}}},
		"paragraphs are apart":              {long + "\n\n" + long, nil},
		"a colon ends what is read at once": {long + ": " + long, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := check(c.text, rules); !reflect.DeepEqual(got, c.want) {
				t.Errorf("found %v, want %v", got, c.want)
			}
		})
	}
	if _, err := parseRules(ruleText); err != nil {
		t.Error(err)
	}
}

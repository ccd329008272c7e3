package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// The files have the present lists. An operator, a country and a quirk that are added to the table come into every one of them, and go
// with it again.
func TestTheTableIsInEveryFile(t *testing.T) {
	now, then := table{}, table{}
	for _, one := range []*table{&now, &then} {
		var err error
		if *one, err = read("../../" + tableFile); err != nil {
			t.Fatal(err)
		}
	}
	then.Operators = append(then.Operators, then.Operators[0])
	then.Operators[len(then.Operators)-1].Code = "nosuch"
	then.Countries = append(then.Countries, then.Countries[0])
	country := &then.Countries[len(then.Countries)-1]
	country.Code, country.Currency, country.English, country.French = "ZZ", "ZZZ", "Nowhere", "Nulle part"
	then.Markets = append(then.Markets, then.Markets[0])
	last := &then.Markets[len(then.Markets)-1]
	last.Operator, last.Country = "nosuch", "ZZ"
	then.quirks = append(then.quirks, operatorapi.Quirk{Name: "nosuchFreeTransfers", About: "nosuchFreeTransfers is a made-up quirk."})
	then.flickers = []string{"nosuch"}
	rules, flickers := 0, 0
	for _, file := range listing {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(now.rewrite(text)), string(text)); diff != "" {
			t.Errorf("%s does not have the present lists: run `make generate` (-want +got):\n%s", file, diff)
		}
		added := then.rewrite(text)
		if !bytes.Contains(added, []byte("nosuch")) && !bytes.Contains(added, []byte("ZZZ")) {
			t.Errorf("%s would get neither an added operator nor an added currency", file)
		}
		rules += strings.Count(string(added), "self.operator != 'nosuch' || self.country in ['ZZ']")
		flickers += strings.Count(string(added), "operator in ['nosuch']")
		lists, of := 0, 0
		present := now.operators()
		for _, between := range []string{";", ",", " or "} {
			lists += strings.Count(string(added), present[len(present)-1]+between+"nosuch")
			of += strings.Count(string(text), present[len(present)-2]+between+present[len(present)-1])
		}
		if lists != of {
			t.Errorf("%s: %d of %d lists get an added operator", file, lists, of)
		}
		if diff := cmp.Diff(string(text), string(now.rewrite(added))); diff != "" {
			t.Errorf("%s keeps something of an operator that is gone (-want +got):\n%s", file, diff)
		}
	}
	if rules != 3 {
		t.Errorf("%d rules know that the added operator is in one country only, want those of environments, credentials and test clients", rules)
	}
	if flickers != 2 {
		t.Errorf("%d rules know that the status of the added operator flickers, want those of a fault and of a sandbox", flickers)
	}
	for _, page := range pages {
		text, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		again, err := now.page(page, text)
		if diff := cmp.Diff(string(again), string(text)); err != nil || diff != "" {
			t.Errorf("%s does not have the present tables (%v): run `make generate` (-want +got):\n%s", page, err, diff)
		}
		if added, err := then.page(page, text); err != nil || !bytes.Contains(added, []byte("| ZZ |")) || !bytes.Contains(added, []byte("nosuch")) {
			t.Errorf("%s would not get an added market: %v", page, err)
		}
		if _, err := now.page(page, []byte("# A page without a table")); err == nil {
			t.Errorf("nothing is said of %s without its tables", page)
		}
	}
	quirks, err := then.quirksType()
	if err != nil || !bytes.Contains(quirks, []byte("NosuchFreeTransfers *bool `json:\"nosuchFreeTransfers,omitempty\"`")) {
		t.Errorf("the quirks are (%v)\n%s", err, quirks)
	}
	for file, generate := range map[string]func() ([]byte, error){quirksFile: now.quirksType, marketsFile: now.inGo} {
		written, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := generate(); err != nil || !bytes.Equal(text, written) {
			t.Errorf("%s is not up to date: run `make generate` (%v)", file, err)
		}
	}
}

// Each cell names where its fact comes from, and no empty cell does.
func TestEachCellHasASource(t *testing.T) {
	text, err := os.ReadFile("../../" + tableFile)
	if err != nil {
		t.Fatal(err)
	}
	var rows map[string]any
	if err := yaml.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	known := rows["sources"].(map[string]any)
	for name, source := range known {
		if _, err := time.Parse(time.DateOnly, fmt.Sprint(source.(map[string]any)["seen"])); err != nil {
			t.Errorf("the source %s has no day on which it was seen: %v", name, err)
		}
	}
	for _, list := range []string{"operators", "countries", "markets"} {
		for _, each := range rows[list].([]any) {
			row := each.(map[string]any)
			of, _ := row["sources"].(map[string]any)
			for cell := range row {
				isKey := cell == "code" || cell == "operator" || cell == "country" || cell == "sources"
				if source := fmt.Sprint(of[cell]); !isKey && known[source] == nil {
					t.Errorf("%s %v %v %v: %s has the source %q, which is none of the table", list, row["code"], row["operator"], row["country"], cell, source)
				}
			}
			for cell := range of {
				if row[cell] == nil {
					t.Errorf("%s %v %v %v: %s is empty and has a source", list, row["code"], row["operator"], row["country"], cell)
				}
			}
		}
	}
}

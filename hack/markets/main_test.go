package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// The files have the present lists. An operator, a country and a quirk that are added to the table come into every one of them, and go
// with it again.
func TestTheTableIsInEveryFile(t *testing.T) {
	now, then := present(), present()
	then.operators = append(then.operators, "nosuch")
	then.countries = append(then.countries, "ZZ")
	then.only = append(then.only, [2]string{"nosuch", "ZZ"})
	then.quirks = append(then.quirks, operatorapi.Quirk{Name: "nosuchFreeTransfers", About: "nosuchFreeTransfers is a made-up quirk."})
	rules := 0
	for _, file := range listing {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(now.rewrite(text)), string(text)); diff != "" {
			t.Errorf("%s does not have the present lists: run `make generate` (-want +got):\n%s", file, diff)
		}
		added := then.rewrite(text)
		if !bytes.Contains(added, []byte("nosuch")) {
			t.Errorf("%s would not get an added operator", file)
		}
		rules += strings.Count(string(added), "self.operator != 'nosuch' || self.country == 'ZZ'")
		lists := strings.Count(string(added), "airtel;nosuch") + strings.Count(string(added), "airtel,nosuch") + strings.Count(string(added), "airtel or nosuch")
		if of := strings.Count(string(text), "moov;airtel") + strings.Count(string(text), "moov,airtel") + strings.Count(string(text), "moov or airtel"); lists != of {
			t.Errorf("%s: %d of %d lists get an added operator", file, lists, of)
		}
		if diff := cmp.Diff(string(text), string(now.rewrite(added))); diff != "" {
			t.Errorf("%s keeps something of an operator that is gone (-want +got):\n%s", file, diff)
		}
	}
	if rules != 3 {
		t.Errorf("%d rules know that the added operator is in one country only, want those of environments, credentials and test clients", rules)
	}
	quirks, err := then.quirksType()
	if err != nil || !bytes.Contains(quirks, []byte("NosuchFreeTransfers *bool `json:\"nosuchFreeTransfers,omitempty\"`")) {
		t.Errorf("the quirks are (%v)\n%s", err, quirks)
	}
	written, err := os.ReadFile("../../" + quirksFile)
	if err != nil {
		t.Fatal(err)
	}
	if quirks, err = now.quirksType(); err != nil || !bytes.Equal(quirks, written) {
		t.Errorf("%s is not up to date: run `make generate` (%v)", quirksFile, err)
	}
}

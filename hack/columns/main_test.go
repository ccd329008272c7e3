package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStructs(t *testing.T) {
	folder := t.TempDir()
	const source = "package sqlc\n\ntype A struct {\n\tX int `db:\"x\"`\n}\n\ntype B struct {\n\tID int `db:\"id\"`\n\tSentAt int `db:\"sent_at\"`\n}\n"
	if err := os.WriteFile(filepath.Join(folder, "models.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := parseStructs(folder)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.constant("B", "Columns"); err != nil || got != "Columns = \"id, sent_at\"\n" || s.field("B", "sent_at") != "SentAt" {
		t.Errorf("the columns are %q, with the error %v", got, err)
	}
	for _, render := range []func(structs) ([]byte, error){renderReading, renderRecording} {
		if _, err := render(s); !errors.Is(err, errMissing) {
			t.Errorf("a struct that is not there has columns: %v", err)
		}
	}
}

// A column that the list has is read in both ways, and given to the statements that have a parameter for it.
func TestColumnsFollowFromTheList(t *testing.T) {
	s, err := parseStructs("../../" + generated)
	if err != nil {
		t.Fatal(err)
	}
	reads, err := renderReading(s)
	if err != nil {
		t.Fatal(err)
	}
	records, err := renderRecording(s)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"t.Description = row.Description": 1, "t.Description = r.optionalText()": 1} {
		if strings.Count(string(reads), text) != want {
			t.Errorf("%q is not there %d times", text, want)
		}
	}
	for text, want := range map[string]int{
		"p.Description = t.Description": 4, "append(p.Described, t.Description != nil)": 2, "Description: p.Description": 1,
	} {
		if strings.Count(string(records), text) != want {
			t.Errorf("%q is not there %d times", text, want)
		}
	}
}

func TestAnswer(t *testing.T) {
	name := filepath.Join(t.TempDir(), "payment.go")
	for of, want := range map[string]string{
		"Note *string `json:\"note\" doc:\"A note.\"`": `o.optionalText("note", v.Note)`, "At time.Time `json:\"at\"`": "",
	} {
		if err := os.WriteFile(name, []byte("package wire\n\ntype Payment struct {\n\t"+of+"\n}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		text, err := renderAnswer(name)
		if want == "" && err == nil || want != "" && (err != nil || !strings.Contains(string(text), want)) {
			t.Errorf("%s is written by %s, with the error %v", of, text, err)
		}
	}
}

package mcp

import (
	"encoding/json"
	"strings"
	"testing"
)

// A list that is known as a whole is paged: each row once, in pages that fit into an output.
func TestWindow(t *testing.T) {
	t.Parallel()
	type row struct{ Name, Text string }
	var all []row
	for i := range 300 {
		all = append(all, row{strings.Repeat("x", i+1), strings.Repeat("é", 100)})
	}
	seen, cursor, pages := 0, "", 0
	for {
		rows, next, err := window(all, cursor, 100, func(r *row) string { return r.Name })
		if err != nil || len(rows) == 0 {
			t.Fatal(rows, err)
		}
		if text, err := json.Marshal(rows); err != nil || len(text) > maxRows+2 {
			t.Errorf("a page has %d bytes (%v)", len(text), err)
		}
		seen, pages = seen+len(rows), pages+1
		if next == nil {
			break
		}
		cursor = *next
	}
	if seen != len(all) || pages < 4 {
		t.Errorf("%d rows in %d pages", seen, pages)
	}
	if _, _, err := window(all, "y", 10, func(r *row) string { return r.Name }); err == nil {
		t.Error("a cursor of another list is taken")
	}
}

// Texts of others are cut between characters, and say so.
func TestForeignTexts(t *testing.T) {
	t.Parallel()
	long := foreignOf(strings.Repeat("é", maxText))
	if !long.Cut || len(long.Text) > maxText || strings.Trim(long.Text, "é") != "" {
		t.Errorf("%d bytes, cut: %t", len(long.Text), long.Cut)
	}
	if short := foreignOf("short"); short.Cut || short.Text != "short" || foreignOf("") != nil {
		t.Errorf("%+v", short)
	}
}

// Steps are at most three, and none is there twice.
func TestSteps(t *testing.T) {
	t.Parallel()
	one := step{Tool: "explain", Arguments: arguments("id", "1"), Because: "a"}
	same := step{Tool: "explain", Arguments: arguments("id", "1"), Because: "b"}
	if got := steps([]step{one, same, {Tool: "a"}, {Tool: "b"}, {Tool: "c"}}); len(got) != 3 || got[0].Because != "a" || got[1].Tool != "a" {
		t.Errorf("%+v", got)
	}
	if got := steps(nil); got == nil {
		t.Error("no steps are null in JSON")
	}
}

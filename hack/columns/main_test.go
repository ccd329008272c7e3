package main

import (
	"slices"
	"testing"
)

func TestColumns(t *testing.T) {
	const source = "type A struct {\n\tX int `db:\"x\"`\n}\n\ntype B struct {\n\tID int `db:\"id\"`\n\tSentAt int `db:\"sent_at\"`\n}\n"
	if got := columnsOf(source, "B"); !slices.Equal(got, []string{"id", "sent_at"}) {
		t.Errorf("the columns are %q", got)
	}
	if _, err := render(source); err == nil {
		t.Error("a struct that is not there has columns")
	}
}

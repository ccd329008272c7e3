package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDescriptionsFlow(t *testing.T) {
	const written = `spec:
  description: |-
    clock is how the time
    of a sandbox passes:
    - Real, the default,
      is the present
    - Manual
    1. first

    A second paragraph
    of two lines.
  properties:
    start:
      description: 'one: that is
        folded'
      rule: |-
        a
        b
    end:
      description: |-
        the last
        one`
	const want = `spec:
  description: |-
    clock is how the time of a sandbox passes:
    - Real, the default,
      is the present
    - Manual
    1. first

    A second paragraph of two lines.
  properties:
    start:
      description: 'one: that is
        folded'
      rule: |-
        a
        b
    end:
      description: |-
        the last one
`
	if got := joined(written); got != want {
		t.Errorf("got\n%s", got)
	}
	if again := joined(want); again != want {
		t.Errorf("a second run makes\n%s", again)
	}
}

// What the repository holds was joined: `make generate` ran it.
func TestCRDsFlow(t *testing.T) {
	files, err := filepath.Glob("../../config/crd/cauri.dev_*.yaml")
	if err != nil || len(files) != 3 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := joined(string(text)); strings.TrimSpace(got) != strings.TrimSpace(string(text)) {
			t.Errorf("%s has descriptions with line breaks: run `make generate`", file)
		}
	}
}

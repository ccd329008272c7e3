package receivers

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/grade"
)

// Common mistakes of programs in Node.js get no A, and the card names what they refuse.
func TestReceiversWithAMistake(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("Node.js is not on this machine")
	}
	texts := []string{"accents", "arabic", "emoji", "line-separator", "split-character"}
	for mistake, failed := range map[string][]string{
		"writesAgain": {"genuine"}, "latin1": texts, "ascii": texts, "decomposes": texts[:2], "threeBytes": texts[2:3], "joinsTexts": texts[4:],
	} {
		t.Run(mistake, func(t *testing.T) {
			t.Parallel()
			program := func() *exec.Cmd { return exec.Command("node", filepath.Join("testdata", "mistaken.mjs")) }
			card := check(t, program(), "MISTAKE="+mistake)
			// On a machine that is busy, two pieces of a body may be there before the program reads the first.
			for end := time.Now().Add(time.Minute); card.Letter == grade.A && time.Now().Before(end); {
				card = check(t, program(), "MISTAKE="+mistake)
			}
			if diff := cmp.Diff(failed, failedLines(card)); diff != "" {
				t.Errorf("the letter is %s; failed lines (-want +got):\n%s", card.Letter, diff)
			}
			if rewritten := card.Results[0].Reason == grade.Rewritten; rewritten != (mistake == "writesAgain") {
				t.Errorf("the card says: %s", card.Sentence())
			}
		})
	}
}

func failedLines(card *grade.Card) (ids []string) {
	for _, r := range card.Results {
		if r.Outcome == grade.Failed && r.Of().Group != grade.Time {
			ids = append(ids, r.Line)
		}
	}
	return ids
}

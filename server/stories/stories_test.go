package stories_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	files "github.com/cauri-dev/cauri/config/samples/stories"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/stories"
)

var update = flag.Bool("update", false, "write the table of docs/stories.md and the comments of the files again")

const again = "go test ./server/stories -update"

// Each file of the folder is a story, and begins with what the catalog says of it.
func TestFilesSayWhatTheCatalogSays(t *testing.T) {
	t.Parallel()
	found, err := fs.Glob(files.Files, "*.yaml")
	if err != nil || len(found) != len(stories.All()) {
		t.Fatalf("there are %d stories and the files %q, %v", len(stories.All()), found, err)
	}
	for _, s := range stories.All() {
		text := string(s.Text())
		_, rest, _ := strings.Cut(text, "\napiVersion")
		want := "# " + string(s.What) + "\n#\n"
		for _, step := range s.Steps(s.Number(s.Market())) {
			want += "# " + step.String() + "\n"
		}
		want += "apiVersion" + rest
		switch path := filepath.Join("../../config/samples/stories", s.Name+".yaml"); {
		case text == want:
		case *update:
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s begins with another comment: %s", path, again)
		}
	}
}

// docs/stories.md has the table of stories as it is now.
func TestStoriesInTheDocuments(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../docs/stories.md", "<!-- stories: begin -->\n", "<!-- stories: end -->\n"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(page), begin)
	told, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s has no place for the stories", path)
	}
	want := "| story | what happens | what a correct shop does | needs |\n| --- | --- | --- | --- |\n"
	for _, s := range stories.All() {
		needs := "only faults"
		if fields := s.Needs(); len(fields) > 0 {
			needs = "`" + strings.Join(fields, "`, `") + "`"
		}
		want += fmt.Sprintf("| [%s](../config/samples/stories/%[1]s.yaml) | %s | %s | %s |\n", s.Name, s.What, s.Correct, needs)
	}
	switch {
	case told == want:
	case *update:
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s has another table of stories: %s", path, again)
	}
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	got := map[string][]string{}
	for _, s := range stories.All() {
		got[s.Name] = s.Needs()
	}
	if diff := cmp.Diff(map[string][]string{
		"double-tap": nil, "network-drop-after-pin": nil, "twice-at-once": nil, "lost-webhook": nil,
		"silent-operator":           {"spec.clock", "spec.pendingTimeout"},
		"late-callback-at-midnight": {"spec.clock"}, "maintenance-at-noon": {"spec.clock"}, "mtn-in-doubt": {"spec.clock"},
		"salary-day": {"spec.clock", "spec.seed"}, "flapping-query": {"spec.clock", "spec.seed"},
		"lost-callback": {"spec.clock"}, "duplicate-confirmation": {"spec.clock"},
	}, got); diff != "" {
		t.Error(diff)
	}
}

// A market is written into the fields that name one, and the files stay as they are.
func TestStoriesHappenInAnyMarket(t *testing.T) {
	t.Parallel()
	abidjan := stories.Market{Operator: payments.Orange, Country: payments.CoteDIvoire}
	for _, s := range stories.All() {
		sandbox, expectation, err := s.Resources(abidjan)
		if s.Market().Operator == payments.MPesa { // it is in one market
			if err == nil || !strings.Contains(err.Error(), "M-Pesa's own API") {
				t.Errorf("%s happens with Orange: %v", s.Name, err)
			}
			if _, _, err := s.Resources(s.Market()); err != nil || !strings.HasPrefix(s.Number(s.Market()), "+254") || len(s.Lines()) == 0 {
				t.Errorf("%s is paid by %s, and expects %v: %v", s.Name, s.Number(s.Market()), s.Lines(), err)
			}
			continue
		}
		if s.Name == "mtn-in-doubt" {
			if err == nil || !strings.Contains(err.Error(), "MTN's own API") {
				t.Errorf("%s happens with Orange: %v", s.Name, err)
			}
			if sandbox, expectation, err = s.Resources(stories.Market{Operator: payments.MTN, Country: payments.Benin}); err != nil {
				t.Error(err)
			}
		} else if err != nil {
			t.Error(err)
		}
		for _, resource := range []map[string]any{sandbox, expectation} {
			if text := fmt.Sprint(resource); strings.Contains(text, "RW") || strings.Contains(text, "+250") {
				t.Errorf("%s has not left Rwanda: %s", s.Name, text)
			}
		}
		if !strings.HasPrefix(s.Number(abidjan), "+225073") || s.Market().Country != payments.Rwanda {
			t.Errorf("%s is paid by %s, and of %+v", s.Name, s.Number(abidjan), s.Market())
		}
		if len(s.Lines()) == 0 {
			t.Errorf("%s expects nothing", s.Name)
		}
	}
	for none, want := range map[stories.Market]string{
		{payments.Airtel, payments.Benin}: "airtel is not in BJ: it is in RW, KE, ", {payments.MTN, "FR"}: "mtn is not in FR: it is in CI, ",
		{"wave", payments.Togo}: "wave is no operator: write mtn, ",
	} {
		if _, _, err := stories.All()[0].Resources(none); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v", none, err)
		}
	}
}

// The name of a fault that is set says of which story it is.
func TestFaultsNameTheirStory(t *testing.T) {
	t.Parallel()
	began := time.Now()
	for _, s := range stories.All() {
		if len(s.Faults(began)) == 0 {
			t.Errorf("nothing goes wrong in %s", s.Name)
		}
		for _, f := range s.Faults(began) {
			if !f.When.From.Equal(began) {
				t.Errorf("%s acts from %s on", f.Name, f.When.From)
			}
			if of := stories.OfFault(f.Name); of == nil || of.Name != s.Name || len(f.Name) > 63 {
				t.Errorf("the fault %s of %s is of %+v", f.Name, s.Name, of)
			}
		}
		if of := stories.Named(s.Name); of == nil || of.Title != s.Title {
			t.Errorf("%s is not found by its name", s.Name)
		}
	}
	if stories.OfFault("lost-answer") != nil || stories.OfFault("story-none-lost") != nil || stories.Named("none") != nil {
		t.Error("a name of no story is one of a story")
	}
}

package locale

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/english"
)

// plainSentences are the beginnings of texts that are not translated: code, commands, names of classes, and texts that
// code compares.
var plainSentences = []string{
	"cauri dev", "cauri expect ", "cauri grade ", "grade sm", "kubectl ", "get testclients", "inline ok", "pip calm", "rule off", "public, max-age", "const answer", "import os",
	"for example ", "expected integer", "console session ", "forms of the console",
}

// Every text of the source has its French in french.go, and french.go has no other texts.
func TestCatalogHasTheTextsOfTheSource(t *testing.T) {
	t.Parallel()
	s := readSource(t)
	for _, text := range slices.Sorted(maps.Keys(s.texts)) {
		if french[text] == "" {
			t.Errorf("%s says %q, which french.go does not have", s.texts[text], text)
		}
	}
	for text, own := range french {
		if s.texts[text] == "" {
			t.Errorf("french.go has %q, which nobody says", text)
		}
		if s.singles[text] && strings.Contains(string(own), "1") {
			t.Errorf("%q is said about 0 things too: %q needs a verb for the number", text, own)
		}
		want, got := arguments(text), arguments(own)
		if s.singles[text] && got == arguments("%s"+text) {
			continue // the French has the number too
		}
		if want != got {
			t.Errorf("%q has the arguments %s, in French %s: %q", text, want, got, own)
		}
	}
	for text, file := range s.plain {
		if !slices.ContainsFunc(plainSentences, func(begin string) bool { return strings.HasPrefix(text, begin) }) {
			t.Errorf("%s has the sentence %q, which no language translates: pass it to Text, or say in plainSentences that it stays", file, text)
		}
	}
	for _, file := range s.made {
		t.Errorf("%s makes an english.Text of something that is not constant: no test finds its translation", file)
	}
}

// unspaced matches signs and quotes that lack the no-break space of French, and signs that French does not use.
var unspaced = regexp.MustCompile("[^\u00a0][:;?!»](\\s|\u00a0|$)|«[^\u00a0]|[^\u00a0]%%|\\.\\.\\.|  |\u2019|\"")

// inCode matches code in a text.
var inCode = regexp.MustCompile("`[^`]*`")

// unelided matches words that a name which begins with a vowel changes.
var unelided = regexp.MustCompile(`(?i)\b(console|téléphone|clavier|page) de %`)

func TestFrenchNeedsNoElision(t *testing.T) {
	t.Parallel()
	for _, own := range french {
		if unelided.MatchString(string(own)) {
			t.Errorf("%q: write a sentence that needs no elision", own)
		}
	}
	if french["Refund"] == french["Refund, on a button"] {
		t.Error("a title and a button have the same word")
	}
}

// Messages of the API have as many arguments in French, and their forms do not hide each other.
func TestAnswersAreTranslated(t *testing.T) {
	t.Parallel()
	for _, a := range frenchAnswers {
		values := strings.NewReplacer("%s", "17", "%m", "expected integer").Replace(a.english)
		own, known := French.Heard(values)
		want := strings.NewReplacer("%s", "17").Replace(a.own)
		if strings.HasPrefix(a.english, "%m") {
			want = strings.Replace(a.own, "%s", "doit être un nombre entier", 1)
			want = strings.Replace(want, "%s", "17", 1)
		}
		if !known || own != spaced.Replace(want) || strings.Contains(own, "!") {
			t.Errorf("%q is %q (%v), not %q", values, own, known, want)
		}
	}
	for _, c := range []struct{ said, want string }{
		{"expected integer, for example 25000", "doit être un nombre entier, par exemple 25000"},
		{"expected length <= 200; must not contain NUL characters", "doit avoir 200 caractères au plus\u00a0; ne doit pas contenir de caractère NUL"},
	} {
		if own, known := French.Heard(c.said); !known || own != c.want {
			t.Errorf("%q is %q", c.said, own)
		}
		if own, known := English.Heard(c.said); !known || own != c.said {
			t.Errorf("in English, %q is %q", c.said, own)
		}
	}
	for _, unknown := range []string{"Something else.", "a number, for example 1", "expected integer; something"} {
		if own, known := French.Heard(unknown); known || own != unknown {
			t.Errorf("%q is %q", unknown, own)
		}
	}
}

func TestFrenchTypography(t *testing.T) {
	t.Parallel()
	for _, a := range frenchAnswers {
		if found := unspaced.FindString(spaced.Replace(inCode.ReplaceAllString(strings.ReplaceAll(a.own, "Content-Type: ", ""), "code"))); found != "" {
			t.Errorf("%q: write %q with the signs and spaces of French", a.own, found)
		}
	}
	for text, own := range french {
		if found := unspaced.FindString(inCode.ReplaceAllString(string(own), "code")); found != "" {
			t.Errorf("%q: write %q with the signs and spaces of French", own, found)
		}
		for _, end := range []string{".", "?", "…", ":"} {
			if text != "No." && strings.HasSuffix(string(text), end) != strings.HasSuffix(string(own), end) {
				t.Errorf("one of these ends with %q: %q, %q", end, text, own)
			}
		}
	}
}

func TestTheTestsOfTheCatalogFindMistakes(t *testing.T) {
	t.Parallel()
	for _, wrong := range []english.Text{"Vous : ", "Vous: oui", "«oui»", "oui »", "Quoi?", "10%%"} {
		if !unspaced.MatchString(string(wrong)) {
			t.Errorf("%q passes", wrong)
		}
	}
	if arguments("%s of %s") != arguments("%[2]s, %[1]s") || arguments("%s") == arguments("%s %s") || arguments("%d") == arguments("%s") {
		t.Error("arguments are not compared")
	}
}

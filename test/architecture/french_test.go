package architecture

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
)

// translated is given by who has brought the French pages up to date.
var translated = flag.Bool("translated", false, "write into each page of docs/fr that it says what its English page says now")

var (
	// source matches the first line of a page in French: the page in English, and the digest of what was translated.
	source    = regexp.MustCompile(`^<!-- French of (\S+), as of ([0-9a-f]{12}) -->\n`)
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```$")
	// elsewhere matches the currency, the numbers and the names of countries other than Côte d'Ivoire.
	elsewhere = func() *regexp.Regexp {
		home := payments.CoteDIvoire.Facts()
		var all []string
		for _, c := range payments.Countries {
			if facts := c.Facts(); c != payments.CoteDIvoire {
				all = append(all, `\b`+string(c)+`\b`, `\+`+facts.CallingCode)
				if facts.Currency != home.Currency {
					all = append(all, `\b`+string(facts.Currency)+`\b`)
				}
			}
		}
		return regexp.MustCompile(strings.Join(all, "|"))
	}()
	errorLine = regexp.MustCompile("(?m)^\\| [0-9]{3} \\| `[a-z_]+` \\|")
)

// A page in French names the page in English that it follows, and has examples of Côte d'Ivoire. test/examples runs them.
func TestFrenchPagesFollowTheEnglishOnes(t *testing.T) {
	pages, err := filepath.Glob(root + "docs/fr/*.md")
	if err != nil || len(pages) < 3 {
		t.Fatalf("pages in French: %q, %v", pages, err)
	}
	for _, file := range pages {
		page := strings.TrimPrefix(filepath.ToSlash(file), root)
		text := read(t, page)
		of := source.FindStringSubmatch(text)
		if of == nil {
			t.Errorf("%s does not begin with the name of its page in English: %s", page, source)
			continue
		}
		english := read(t, of[1])
		sum := sha256.Sum256([]byte(english))
		switch now := hex.EncodeToString(sum[:6]); {
		case now == of[2]:
		case *translated:
			if err := os.WriteFile(file, []byte(strings.Replace(text, of[2], now, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s has changed since %s was translated. Say there in French what has changed (git log -p -- %[1]s), then run\n"+
				"go test ./test/architecture -run FrenchPages -args -translated", of[1], page)
		}
		for _, block := range codeBlock.FindAllString(text, -1) {
			if wrong := elsewhere.FindString(block); wrong != "" {
				t.Errorf("%s shows %s: write an example of Côte d'Ivoire, in XOF and with numbers of +225:\n%s", page, wrong, block)
			}
		}
		if got, want := strings.Join(errorLine.FindAllString(text, -1), "\n"), strings.Join(errorLine.FindAllString(english, -1), "\n"); got != want {
			t.Errorf("%s has other errors than %s:\n%s\nwant\n%s", page, of[1], got, want)
		}
		for _, line := range prose(text) {
			if wrong := unspaced.FindString(codeSpan.ReplaceAllString(line, "code")); wrong != "" && !strings.HasPrefix(line, "<!--") {
				t.Errorf("%s: write a no-break space at %q in %q", page, wrong, line)
			}
		}
		firstScreen := strings.Join(strings.SplitAfterN(read(t, "README.md"), "\n", 26)[:25], "")
		if !strings.Contains(firstScreen, "]("+page+")") {
			t.Errorf("the first screen of README.md does not link to %s", page)
		}
		if index := "docs/README.md"; !strings.Contains(read(t, index), "]("+strings.TrimPrefix(page, "docs/")+")") {
			t.Errorf("%s does not link to %s", index, page)
		}
	}
}

// unspaced matches a sign of French without its no-break space.
var unspaced = regexp.MustCompile(`[^\x{a0}][:;?!»]([\s,.)]|$)|«[^\x{a0}]|[0-9] ?%`)

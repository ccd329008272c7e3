package examples

import (
	"fmt"
	"html"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/test/snippets"
)

const picture = "docs/images/dev.svg"

// TestPicture compares the picture of a terminal in the README with a run of `cauri dev`. With CAURI_UPDATE=1 it draws the picture again.
func TestPicture(t *testing.T) {
	t.Parallel()
	s := newSession(t, nil, "", "")
	const command = "cauri dev --webhook-url=http://127.0.0.1:3000/webhooks"
	s.startDev(snippets.Snippet{Document: picture, Body: command})
	listener, err := net.Listen("tcp", "127.0.0.1"+s.Replace.Replace(":3000"))
	if err != nil {
		t.Fatal(err)
	}
	shop := http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})}
	go func() { _ = shop.Serve(listener) }()
	defer func() { _ = shop.Close() }()
	s.Run(snippets.Snippet{Document: picture, Body: `. <(grep '^  CAURI_' .dev)
for payer in 901 902 904; do
  curl -sS "$CAURI_URI/api/v1/payments" -H "Authorization: Bearer $CAURI_API_KEY" -H 'Content-Type: application/json' \
    -d '{"amount": 1500, "currency": "RWF", "msisdn": "+250790000'$payer'", "reference": "order-'$payer'", "application": "shop"}'
  events=$((events + 1))
  until [ "$(grep -c 'attempt 1 .*delivered' .dev)" = $events ]; do sleep 0.05; done
done`})
	if os.Getenv("CAURI_UPDATE") != "" {
		text := strings.NewReplacer(s.Replace.Replace(":8080"), ":8080", s.Replace.Replace(":3000"), ":3000").Replace(s.printed())
		write(t, root, picture, draw("$ "+command, shownLines(text)))
	}
	shown := strings.Join(drawnLines(read(t, picture)), "\n")
	_, shown, _ = strings.Cut(shown, "\n") // the command
	if missing, found := missingLine(shown, s.printed()); found || strings.Count(shown, "\n") < 10 {
		t.Errorf("%s shows what is not printed: run this test with CAURI_UPDATE=1\n%s\nPrinted was\n%s", picture, missing, s.printed())
	}
}

// shownLines are the lines of the picture: all from the first address on, but the operators' own APIs and the payment to paste, which
// are too many and too wide.
func shownLines(printed string) (lines []string) {
	head, rest, _ := strings.Cut(printed[max(0, strings.Index(printed, "Cauri is ready")):], "\nA first payment:\n")
	head, _, _ = strings.Cut(head, "\n\n  mtn's own API")
	_, rest, _ = strings.Cut(rest, "Ctrl-C stops it.\n\n")
	return strings.Split(strings.TrimSpace(head)+"\n\n"+strings.TrimSpace(rest), "\n")
}

var (
	colored = regexp.MustCompile(`\b(PENDING|SUCCESS|delivered|INSUFFICIENT_FUNDS|USER_CANCELLED)\b`)
	colors  = map[string]string{"PENDING": "#e3b341", "SUCCESS": "#7ee787", "delivered": "#7ee787"}
	drawn   = regexp.MustCompile(`(?s)<text [^>]*>(.*?)</text>`)
	element = regexp.MustCompile(`<[^>]*>`)
)

// draw draws a terminal with a command and its output.
func draw(command string, lines []string) string {
	lines = append([]string{command}, lines...)
	const label = "cauri dev prints the address and the key of a sandbox, and then each payment, event and delivery"
	width, height := 0, 52+20*len(lines)
	for _, line := range lines {
		width = max(width, 40+8*len(line))
	}
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="%[3]s">
<rect width="%[1]d" height="%[2]d" rx="8" fill="#0d1117"/>
<g><circle cx="20" cy="20" r="6" fill="#30363d"/><circle cx="40" cy="20" r="6" fill="#30363d"/><circle cx="60" cy="20" r="6" fill="#30363d"/></g>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13" fill="#c9d1d9">
`, width, height, label)
	for i, line := range lines {
		line = colored.ReplaceAllStringFunc(html.EscapeString(line), func(word string) string {
			color, good := colors[word]
			if !good {
				color = "#ff7b72"
			}
			return `<tspan fill="` + color + `">` + word + `</tspan>`
		})
		fmt.Fprintf(&svg, `<text x="20" y="%d" xml:space="preserve">%s</text>`+"\n", 52+20*i, line)
	}
	return svg.String() + "</g></svg>\n"
}

// drawnLines are the lines that a picture shows.
func drawnLines(svg string) (lines []string) {
	for _, line := range drawn.FindAllStringSubmatch(svg, -1) {
		lines = append(lines, html.UnescapeString(element.ReplaceAllString(line[1], "")))
	}
	return lines
}

package apidoc

import (
	"bytes"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/cauri-dev/cauri/server/assets"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/httpfront/static"
	"github.com/cauri-dev/cauri/server/httpserver"
	"github.com/cauri-dev/cauri/server/manual"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// TextPaths are the routes of the texts for programs. All of them are also served below /sandboxes/{namespace}/{name}.
var TextPaths = []string{"/llms.txt", "/llms-full.txt", PagePath + ".md", PagePath + "/*"}

const markdown = "text/markdown; charset=utf-8"

// Text returns the text for programs at a path, which may begin with that of a sandbox; nil: none. It says nothing of that sandbox, not
// even whether it exists, unless the hosts show the examples of sandboxes.
func (h Hosts) Text(r *http.Request, path string) *static.Content {
	within := httpfront.PathWithin(path)
	form := (&url.URL{Path: strings.TrimSuffix(path, within)}).EscapedPath()
	base := assets.Shown(h.originOf(r) + form)
	at := func(file string) string { return base + PagePath + "/" + file }
	switch within {
	case "/llms.txt":
		return static.New("text/plain; charset=utf-8", []byte(manual.Index(at, furtherLinks(base)...)))
	case "/llms-full.txt":
		pieces := manual.Full(at)
		return static.Of("text/plain; charset=utf-8", string(bytes.Join(pieces, nil)), pieces...)
	case PagePath + ".md":
		return h.generated("page/docs.md", base, form)
	}
	name := strings.TrimSuffix(strings.TrimPrefix(within, PagePath+"/"), ".md")
	if id, isOperation := strings.CutPrefix(name, "api/"); isOperation {
		return h.generated("page/api/"+id+".md", base, form)
	}
	if page := manual.Named(name); page != nil {
		return static.Of(markdown, string(page.Text), page.Text)
	}
	return nil
}

// originOf returns the scheme and the host of the links in a text: those of the request. A name that is neither local nor that of the
// service may be anybody's, so the links then lead to the public URL.
func (h Hosts) originOf(r *http.Request) string {
	origin, _ := static.AskedAt(r, h.Public, "")
	local, _ := httpserver.NewHosts() // no patterns, so none is invalid
	if h.Public != nil && local.Refused(r) != "" {
		origin = strings.TrimSuffix(h.Public.String(), "/")
	}
	return origin
}

// furtherLinks returns the lines of llms.txt about what the service has beside the documents.
func furtherLinks(base string) []string {
	return []string{
		"- [Operations](" + base + PagePath + ".md): all operations, statuses and errors, with what to send instead\n",
		"- [One operation](" + base + PagePath + "/api/" + CreatePayment.ID + ".md): fields, an example, answers and errors; so for each operation\n",
		"- [OpenAPI](" + base + GetDocument.Path + "?" + SliceParameter + "=" + CreatePayment.ID + "): of one operation; of all without the parameter\n",
		"- [llms-full.txt](" + base + "/llms-full.txt): the pages of a merchant's developer in one file, " + strconv.Itoa(manual.MostOfFull/1000) + " KB\n",
	}
}

// generated returns a text that `make generate` wrote (hack/apipage), with the address and the market of a request; nil for none.
func (h Hosts) generated(file, base, form string) *static.Content {
	text, err := rendered.ReadFile(file)
	if err != nil {
		return nil
	}
	text = bytes.ReplaceAll(text, []byte(PageAddress), []byte(base))
	return static.New(markdown, inMarketOf(text, h.marketOf(form)))
}

// The request and the answer of an example, and what they have of their market.
var (
	fencedExample    = regexp.MustCompile("(?s)```(sh|json)\n.*?```")
	ofMarketMarkdown = regexp.MustCompile(regexp.QuoteMeta(strings.TrimPrefix(exampleMSISDN, "+")) + `|\bRWF\b|"(RW|mtn)"`)
)

// inMarketOf returns a text whose examples are of a market. The answer of another operator has another form, so it stays.
func inMarketOf(text []byte, m sandboxes.Market) []byte {
	if m == exampleMarket {
		return text
	}
	currency, _ := m.Country.Currency()
	return fencedExample.ReplaceAllFunc(text, func(example []byte) []byte {
		isAnswer := bytes.HasPrefix(example, []byte("```json"))
		if bytes.Contains(bytes.ToLower(example), []byte("signature")) || isAnswer && m.Operator != payments.MTN {
			return example
		}
		return ofMarketMarkdown.ReplaceAllFunc(example, func(found []byte) []byte {
			switch string(found) {
			case "RWF":
				return []byte(currency)
			case `"RW"`:
				return []byte(strconv.Quote(string(m.Country)))
			case `"mtn"`:
				return []byte(strconv.Quote(string(m.Operator)))
			}
			return []byte(strings.TrimPrefix(operators.ExampleNumber(m.Operator, m.Country), "+"))
		})
	})
}

// prefersMarkdown reports whether a client asks for Markdown, and not more for HTML.
func prefersMarkdown(r *http.Request) bool {
	weights := map[string]float64{}
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		kind, parameters, _ := strings.Cut(strings.TrimSpace(part), ";")
		weight := 1.0
		if _, value, has := strings.Cut(parameters, "q="); has {
			weight, _ = strconv.ParseFloat(strings.TrimSpace(value), 64) // what is no number counts as 0
		}
		weights[strings.ToLower(strings.TrimSpace(kind))] = weight
	}
	return weights["text/markdown"] > 0 && weights["text/markdown"] >= weights["text/html"]
}

// asMarkdown returns a page as Markdown, if the client prefers that and the page has it; otherwise nil.
func (p *page) asMarkdown(r *http.Request) *static.Content {
	if !prefersMarkdown(r) {
		return nil
	}
	content := p.Text(r, r.URL.Path+".md")
	if content != nil {
		content.Header.Set("Vary", "Accept, Accept-Encoding")
	}
	return content
}

package browser

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// devKey is the API key of the sandbox that [startDev] starts.
const devKey = "cauri_sk_test_0123456789abcdef0123456789abcdef"

// startDev starts `cauri dev` of a country on an empty database until the end of the test, and returns the address of the api.
func startDev(t *testing.T, database, country, webhookURL string) string {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	process, err := running.StartProgram("dev-"+country, running.program, database, "dev", "--country="+country, "--key="+devKey,
		"--database-url="+running.Postgres.URL(database), "--port=0", "--operator-ports=off", "--webhook-url="+webhookURL,
		"--ready-file="+ready)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = process.Terminate(within) })
	for deadline := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		if address, err := os.ReadFile(ready); err == nil && len(address) > 0 {
			return strings.TrimSpace(string(address))
		}
		if time.Now().After(deadline) || !process.Running() {
			t.Fatal("cauri dev is not ready\n" + process.LogTail(20))
		}
	}
}

// said are the visible texts of a page, with those that only a screen reader says and those of empty fields. What the API or an
// operator says is left out: code, phones, and parts in another language.
const said = `(() => {
	const texts = [document.title], skipped = "script, style, textarea, code, pre, kbd, .lines, .screen, [lang]:not(html), [hreflang]";
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!e.closest(skipped) && (e.closest("option") ?? e).checkVisibility()) texts.push(walk.currentNode.data);
	}
	for (const e of document.querySelectorAll("[placeholder], [title], [aria-label], [alt]")) {
		if (e.closest(skipped) || !e.checkVisibility()) continue;
		texts.push(...["placeholder", "title", "aria-label", "alt"].map((n) => e.getAttribute(n) ?? ""));
	}
	return [...new Set(texts.map((t) => t.replace(/[\s\u00a0\u202f]+/g, " ").trim()).filter(Boolean))];
})()`

var (
	// englishWords are words of English sentences that are not French too.
	englishWords = regexp.MustCompile(`(?i)(^|[^\pL])(the|is|are|was|were|of|and|to|with|for|this|that|these|has|have|not|from|by|your|you|its?|` +
		`which|when|nothing|answered|must|cannot|does|be|been|at|an|any|all|expected|there|here|who|what|how|only|again|request|answer|` +
		`number|refund)($|[^\pL])`)
	// names are identifiers of the API, such as payment.completed and USER_CANCELLED, addresses and references.
	names = regexp.MustCompile(`\S*[\pL\d][._/@=:-][\pL\d]\S*|\b[A-Z][A-Z_]+\b|https?:\S*|--\S+|\S{25,}`) // no word is as long as a signature
)

// englishTexts returns the texts of the console's catalog whose French differs: those that stand for themselves, and those with
// arguments.
func englishTexts(t *testing.T) (whole map[string]bool, forms []*regexp.Regexp) {
	t.Helper()
	whole = map[string]bool{}
	french := map[string]bool{} // some of them are a word in English too
	arguments := regexp.MustCompile(`%(%|[0-9]*[a-z])`)
	add := func(key, value ast.Expr) {
		in, ok := literal(key)
		own, also := literal(value)
		plain := strings.ReplaceAll(in, "`", "")
		french[own] = also
		switch {
		case !ok || !also || in == own || !englishLetters.MatchString(arguments.ReplaceAllString(plain, "")):
		case arguments.MatchString(plain):
			form := regexp.QuoteMeta(arguments.ReplaceAllString(plain, "\x00"))
			forms = append(forms, regexp.MustCompile("^"+strings.ReplaceAll(form, "\x00", ".+")+"$"))
		default:
			whole[plain] = true
		}
	}
	for _, name := range []string{"french.go", "french_answers.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../../server/console/locale", name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				add(n.Key, n.Value)
			case *ast.CompositeLit:
				if n.Type == nil && len(n.Elts) == 2 {
					add(n.Elts[0], n.Elts[1])
				}
			}
			return true
		})
	}
	maps.DeleteFunc(whole, func(text string, _ bool) bool { return french[text] })
	if len(whole) < 300 || len(forms) < 200 {
		t.Fatalf("only %d and %d texts are found", len(whole), len(forms))
	}
	return whole, forms
}

var englishLetters = regexp.MustCompile(`[a-z]{4}`)

// literal returns a constant string of the source.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := literal(e.X)
		right, also := literal(e.Y)
		return left + right, ok && also
	}
	return "", false
}

// walker looks for English on the pages that it passes.
type walker struct {
	*tab
	whole map[string]bool
	forms []*regexp.Regexp
	pages int
}

// reads fails for each text of the page that is English.
func (r *walker) reads(page string) {
	r.t.Helper()
	r.pages++
	if language := read[string](r.tab, `document.documentElement.lang`); language != "fr" {
		r.t.Errorf("%s is in %q", page, language)
	}
	for _, text := range read[[]string](r.tab, said) {
		rest := names.ReplaceAllString(text, "")
		formed := slices.ContainsFunc(r.forms, func(f *regexp.Regexp) bool { return f.MatchString(text) })
		if r.whole[text] || formed || englishWords.MatchString(rest) {
			r.t.Errorf("%s says in English: %s", page, text)
		}
	}
}

// A developer in Abidjan goes from `cauri dev --country=CI` to ten situations and back, makes mistakes, and meets no word of English.
func TestAtHomeInAbidjan(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer receiver.Close()
	r := &walker{tab: newTab(t)}
	r.whole, r.forms = englishTexts(t)
	database, err := running.Postgres.NewDatabase(t.Context())
	r.do(err)
	r.origin = startDev(t, database, "CI", receiver.URL+"/webhooks")
	pool, err := pgxpool.New(t.Context(), running.Postgres.URL(database))
	r.do(err)
	defer pool.Close()
	r.speak("fr-CI,fr;q=0.9")
	sandbox := r.origin + "/sandboxes/default/shop"
	r.signsInByKey(sandbox + "/console")
	r.paysFirst()
	r.click("Pannes simulées")
	for _, each := range situations {
		_, err := pool.Exec(t.Context(), "update organizations set fault_changes = '{}'") // a person is not so fast
		r.do(err)
		r.situation(each.preset, each.minutes, func() { r.reads("the page of faults, with " + each.preset) })
	}
	r.makesMistakes(sandbox)
	r.open(sandbox + "/console/overview")
	for _, path := range r.tab.pages() {
		r.open(sandbox + "/console" + path)
		r.reads(path)
	}
	t.Logf("%d pages are read", r.pages)
}

// signsInByKey tries a wrong key first.
func (r *walker) signsInByKey(console string) {
	r.t.Helper()
	r.open(console)
	r.reads("the sign-in page")
	r.fill("#key", "cauri_sk_test_wrong\r")
	r.shows("#key-wrong", "pas celle")
	r.reads("the sign-in page after a wrong key")
	r.fill("#key", devKey+"\r")
	r.shows("#lead", "Rien ne s'est encore passé")
	r.reads("the empty overview")
	for _, link := range []string{"Téléphones", "Paiements", "Webhooks", "Requêtes", "Grand livre", "Résultats attendus"} {
		r.click(link)
		r.shows("h1", link)
		r.reads(link + ", empty")
	}
}

// paysFirst makes the first payment, and answers the phone.
func (r *walker) paysFirst() {
	r.t.Helper()
	const awa = "2250700000001"
	r.click("Essayer")
	r.click("Je réponds")
	r.reads("Essayer")
	r.click("Payer")
	r.shows(".note.ok", "Un téléphone sonne")
	r.reads("the payment that was made")
	r.click("Au téléphone")
	r.until(`document.querySelector("#phone-` + awa + `.rings")`)
	r.reads("the phone that rings")
	r.fill("#pin-"+awa, "1234\r")
	r.shows("#under-"+awa, "Réussi")
	r.reads("the phone that was answered")
	r.click("Webhooks")
	r.shows("#list", "Livré")
	r.click("Bulletin")
	r.click("Contrôler le récepteur")
	r.shows("#card .lead", "Il ")
	r.reads("the report card")
}

// makesMistakes sends what the API and the forms refuse.
func (r *walker) makesMistakes(sandbox string) {
	r.t.Helper()
	for _, wrong := range []struct{ method, path, body string }{
		{http.MethodPost, "/payments", `{"amount":"ten","msisdn":"0700000001"}`},
		{http.MethodPost, "/payments", `{"amount":1500,"currency":"RWF","msisdn":"+2250700000001","reference":"a","application":"shop"}`},
		{http.MethodPost, "/payments", `{"amount":1500,"currency":"XOF","msisdn":"+2250700000001","reference":"b","application":"kiosque"}`},
		{http.MethodPost, "/payments", `{}`}, {http.MethodGet, "/payments/TX_0", ""}, {http.MethodGet, "/payments?limit=0", ""},
		{http.MethodGet, "/nothing", ""}, {http.MethodGet, "/test_clients/0700", ""},
	} {
		request, err := http.NewRequestWithContext(r.t.Context(), wrong.method, sandbox+"/api/v1"+wrong.path, strings.NewReader(wrong.body))
		if err != nil {
			r.t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+devKey)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			r.t.Fatal(err)
		}
		if _ = answer.Body.Close(); answer.StatusCode/100 != 4 {
			r.t.Errorf("%s answered %d", wrong.path, answer.StatusCode)
		}
	}
	r.open(sandbox + "/console/requests")
	r.until(`document.querySelectorAll("#list tbody tr").length === 8`)
	for _, path := range read[[]string](r.tab, `[...document.querySelectorAll("#list a.row")].map((a) => a.href)`) {
		r.open(path)
		r.reads("the refusal of " + r.text("#one h2"))
	}
	for path, fields := range map[string]map[string]string{
		"/handsets/new": {"number": "0700"},
		"/try":          {"amount": "dix", "number": "0788"},
		"/expectations": {"lines": "- rien: 1"},
		"/reset":        {"name": "autre"},
	} {
		r.open(sandbox + "/console" + path)
		for name, value := range fields {
			read[bool](r.tab, fmt.Sprintf(`(document.querySelector("main [name=%s]").value = %s, true)`, name, quoted(value)))
		}
		read[bool](r.tab, `(document.querySelector("main form:has(input:not([type=hidden]), textarea)").requestSubmit(), true)`)
		r.shows("main", "")
		r.until(`document.querySelector("main .wrong, main .note.bad, main [role=alert]")`)
		r.reads(path + " that was refused")
	}
	for _, path := range []string{
		"/payments?number=1&after=demain", "/webhooks?tx=1", "/requests?status=x", "/payments/TX_0", "/nothing", "/link?token=x",
	} {
		r.open(sandbox + "/console" + path)
		r.reads(path)
	}
}

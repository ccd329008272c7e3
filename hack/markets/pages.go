package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/payments"
)

// pages are the documents with tables of markets.
var pages = []string{"docs/api.md", "docs/fr/api.md", "docs/markets.md", "docs/fr/marches.md"}

// block matches a table in a page, from the line that names it.
var block = regexp.MustCompile("(<!-- Written by `go run ./hack/markets`: ([a-z ]+)\\. -->\n)(?s:.*?)(<!-- End of the table\\. -->\n)")

// page returns the text of a page with its tables.
func (t table) page(name string, text []byte) ([]byte, error) {
	in := english
	if strings.HasPrefix(name, "docs/fr/") {
		in = french
	}
	tables := map[string]func(words) string{
		"countries": t.countryTable, "markets": t.marketTable, "numbers": t.numberTable, "blocks": t.blockTable, "sources": t.sourceTable,
	}
	var unknown error
	found := false
	text = block.ReplaceAllFunc(text, func(old []byte) []byte {
		parts := block.FindSubmatch(old)
		write := tables[string(parts[2])]
		if write == nil {
			unknown = fmt.Errorf("%s: no table is called %s", name, parts[2])
			return old
		}
		found = true
		return slices.Concat(parts[1], []byte("\n"+write(in)+"\n"), parts[3])
	})
	if !found && unknown == nil {
		unknown = fmt.Errorf("%s has no place for a table: %s", name, block)
	}
	return text, unknown
}

// words are the words of the tables in a language.
type words struct {
	french                                               bool
	countries, markets, numbers, sources                 []string // heads of columns
	decimals, noDecimals, digits, former                 string
	pin, page, atLeast, atMost, perDay, balance, seconds string
	marks                                                map[string]string
	languages                                            map[string]string
	group                                                string // separator of groups of digits
}

var (
	english = words{
		countries: []string{"", "country", "currency", "numbers", "languages of the phone", "operators"},
		markets:   []string{"", "menu", "the payer confirms by", "limits of the operator", "in the operator's own API"},
		numbers:   []string{"", "first digits, after the country code", "test numbers begin with"},
		sources:   []string{"source", "mark", "seen"},
		decimals:  "%d decimals", noDecimals: "no decimals", digits: "`+%s` and %d digits", former: ", until %s %d",
		pin: "a PIN on the phone", page: "a code from the phone, on a page", atLeast: "at least %s", atMost: "at most %s",
		perDay: "%s a day", balance: "a balance of %s", seconds: "the phone asks for %d s",
		marks:     map[string]string{"documented": "documented", "third-party": "third-party", "assumed": "assumed"},
		languages: map[string]string{"en": "English", "fr": "French", "sw": "Swahili"}, group: ",",
	}
	french = words{
		french:    true,
		countries: []string{"", "pays", "devise", "numéros", "langues du téléphone", "opérateurs"},
		markets:   []string{"", "menu", "le client valide par", "limites de l'opérateur", "dans l'API propre de l'opérateur"},
		numbers:   []string{"", "premiers chiffres, après l'indicatif", "les numéros de test commencent par"},
		sources:   []string{"source", "marque", "vue le"},
		decimals:  "%d décimales", noDecimals: "sans décimales", digits: "`+%s` et %d chiffres", former: ", jusqu'au %s %d",
		pin: "un code secret sur le téléphone", page: "un code du téléphone, saisi sur une page", atLeast: "au moins %s", atMost: "au plus %s",
		perDay: "%s par jour", balance: "un solde de %s", seconds: "le téléphone demande pendant %d s",
		marks:     map[string]string{"documented": "documenté", "third-party": "tiers", "assumed": "supposé"},
		languages: map[string]string{"en": "anglais", "fr": "français", "sw": "swahili"}, group: "\u00a0",
	}
)

// marked returns a cell with the mark of its source, unless that is a document of who decides it.
func (t table) marked(in words, text string, of sources, cell string) string {
	if mark := t.Sources[of[cell]].Mark; text != "" && mark != "documented" {
		return text + " (" + in.marks[mark] + ")"
	}
	return text
}

func tableOf(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		for _, cell := range cells {
			b.WriteString("| " + cell + strings.Repeat(" ", min(1, len(cell))))
		}
		b.WriteString("|\n")
	}
	line(head)
	b.WriteString(strings.Repeat("| --- ", len(head)) + "|\n")
	for _, row := range rows {
		line(row)
	}
	return b.String()
}

func (t table) countryTable(in words) string {
	var rows [][]string
	for _, c := range t.Countries {
		name, decimals := c.English, in.noDecimals
		if in.french {
			name = c.French
		}
		if c.MinorUnit > 0 {
			decimals = fmt.Sprintf(in.decimals, c.MinorUnit)
		}
		var languages, present []string
		for _, tag := range c.Languages {
			languages = append(languages, in.languages[tag])
		}
		for _, o := range t.operators() {
			if countries, _ := t.in(o); slices.Contains(countries, c.Code) {
				present = append(present, o)
			}
		}
		rows = append(rows, []string{
			c.Code, name, c.Currency + ", " + decimals, fmt.Sprintf(in.digits, c.CallingCode, c.Digits),
			strings.Join(languages, ", "), payments.List(present),
		})
	}
	return tableOf(in.countries, rows)
}

func (t table) marketTable(in words) string {
	var rows [][]string
	for _, m := range t.Markets {
		code := func(text string) string {
			if text == "" {
				return ""
			}
			return "`" + text + "`"
		}
		var limits []string
		for _, limit := range []struct {
			form, cell string
			amount     int64
		}{
			{in.atLeast, "minAmount", m.MinAmount}, {in.atMost, "maxAmount", m.MaxAmount}, {in.perDay, "maxPerDay", m.MaxPerDay},
			{in.balance, "maxBalance", m.MaxBalance}, {in.seconds, "promptSeconds", 0},
		} {
			text := ""
			switch {
			case limit.amount > 0:
				text = fmt.Sprintf(limit.form, in.amount(limit.amount))
			case limit.cell == "promptSeconds" && m.PromptSeconds > 0:
				text = fmt.Sprintf(limit.form, m.PromptSeconds)
			default:
				continue
			}
			limits = append(limits, t.marked(in, text, m.Sources, limit.cell))
		}
		rows = append(rows, []string{
			m.Operator + "/" + m.Country, t.marked(in, code(m.USSD), m.Sources, "ussd"),
			t.marked(in, map[string]string{"pin": in.pin, "page": in.page}[m.Authorization], m.Sources, "authorization"),
			strings.Join(limits, ", "), t.marked(in, code(m.NameInAPI), m.Sources, "nameInAPI"),
		})
	}
	return tableOf(in.markets, rows)
}

// amount returns an amount with its digits in groups of three.
func (w words) amount(n int64) string {
	digits := fmt.Sprint(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + w.group + digits[at:]
	}
	return digits
}

func (t table) numberTable(in words) string {
	var rows [][]string
	for _, m := range t.Markets {
		rows = append(rows, []string{
			m.Operator + "/" + m.Country, t.marked(in, strings.Join(m.Prefixes, " "), m.Sources, "prefixes"),
			t.marked(in, "`"+m.TestNumbers+"`", m.Sources, "testNumbers"),
		})
	}
	return tableOf(in.numbers, rows)
}

// blockTable has the beginnings of the test numbers: a row for each country and a column for each operator.
func (t table) blockTable(words) string {
	blocks := map[string]string{}
	for _, m := range t.Markets {
		blocks[m.Operator+"/"+m.Country] = "`" + m.TestNumbers + "...`"
	}
	var rows [][]string
	for _, c := range t.countries() {
		row := []string{c}
		for _, o := range t.operators() {
			row = append(row, blocks[o+"/"+c])
		}
		rows = append(rows, row)
	}
	return tableOf(append([]string{""}, t.operators()...), rows)
}

func (t table) sourceTable(in words) string {
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(t.Sources)) {
		source := t.Sources[name]
		title := source.Title
		if in.french {
			title = source.French
		}
		rows = append(rows, []string{title, in.marks[source.Mark], source.Seen})
	}
	return tableOf(in.sources, rows)
}

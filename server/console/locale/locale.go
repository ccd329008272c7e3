// Package locale translates the texts of the console, and formats numbers, money, times and phone numbers.
//
// The key of a text is its English text, so that templates stay readable. Each other language has a catalog.
package locale

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/text/language"

	"github.com/cauri-dev/cauri/server/english"
)

// Locale is a language with its formats. It is safe for concurrent use.
type Locale struct {
	Tag       string // value of the HTML attribute lang, such as en
	Name      string // name of the language, in that language
	texts     map[english.Text]english.Text
	group     string        // separator between groups of three digits
	decimal   string        // separator before the decimals
	first     string        // text for the first day of a month
	noneIsOne bool          // whether texts about 0 things use the singular
	answers   func() []form // messages of the API; nil: they are in this language
	between   string        // sign between two messages
	or        string        // word before the last one of several values
	CodeLast  bool          // whether the currency follows the amount

	months, shortMonths, days, shortDays []string // from January, and from Sunday
}

// English is the language in which the texts are written. Its catalog has only keys that are not the English text
// itself.
var English = &Locale{
	Tag: "en", Name: "English", group: ",", decimal: ".", first: "1", between: "; ",
	texts:       map[english.Text]english.Text{"Overview, in a word": "Overview", "Refund, on a button": "Refund"},
	months:      names("January February March April May June July August September October November December"),
	shortMonths: names("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"),
	days:        names("Sunday Monday Tuesday Wednesday Thursday Friday Saturday"),
	shortDays:   names("Sun Mon Tue Wed Thu Fri Sat"),
}

// French is the language of most of the countries whose operators are simulated.
var French = &Locale{
	Tag: "fr", Name: "Français", texts: french, group: "\u202f", decimal: ",", first: "1er",
	noneIsOne: true, answers: formsOf(frenchAnswers), between: "\u00a0; ", or: "ou", CodeLast: true,
	months:      names("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
	shortMonths: names("janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc."),
	days:        names("dimanche lundi mardi mercredi jeudi vendredi samedi"),
	shortDays:   names("dim. lun. mar. mer. jeu. ven. sam."),
}

func names(text string) []string { return strings.Fields(text) }

// All are the languages. The first one is the default.
var All = []*Locale{English, French}

// Tags returns the tags of all languages.
func Tags() (tags []string) {
	for _, l := range All {
		tags = append(tags, l.Tag)
	}
	return tags
}

var matcher = language.NewMatcher([]language.Tag{language.English, language.French})

// Of returns the best language for the tag that a person has chosen, or else for a header Accept-Language. Both may be
// empty.
func Of(chosen, accepted string) *Locale {
	_, i := language.MatchStrings(matcher, chosen, accepted)
	return All[i]
}

// Text translates a text, and replaces its verbs by arguments.
func (l *Locale) Text(text english.Text, args ...any) string { return l.own(text).With(args...) }

// unbroken is put before a unit, which stays beside its number.
var unbroken = strings.NewReplacer("%s ms", "%s\u00a0ms")

// Say translates a phrase.
func (l *Locale) Say(p english.Phrase) string { return p.In(l.own) }

func (l *Locale) own(text english.Text) english.Text {
	if own, ok := l.texts[text]; ok {
		text = own
	}
	return english.Text(unbroken.Replace(string(text)))
}

// Count translates a text about n things. It uses one if the language has the singular for n, otherwise many. French
// also has the singular for 0. The arguments are args. If the translation has one verb more, n comes before them.
func (l *Locale) Count(n int64, one, many english.Text, args ...any) string {
	text := l.own(many)
	if n == 1 || n == 0 && l.noneIsOne {
		text = l.own(one)
	}
	if verbs(text) > len(args) {
		args = append([]any{l.Number(n)}, args...)
	}
	return text.With(args...)
}

func verbs(text english.Text) int {
	return strings.Count(strings.ReplaceAll(string(text), "%%", ""), "%")
}

// minus is the sign of negative numbers.
const minus = "−"

// Number returns a number with its digits in groups of three.
func (l *Locale) Number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = minus, digits[1:]
	}
	var text strings.Builder
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			text.WriteString(l.group)
		}
		text.WriteRune(digit)
	}
	return sign + text.String()
}

// Signed is Number with a plus sign before a positive number.
func (l *Locale) Signed(n int64) string {
	if n > 0 {
		return "+" + l.Number(n)
	}
	return l.Number(n)
}

// Money returns an amount, in whole units, with its currency.
func (l *Locale) Money(currency string, amount int64) string {
	if l.CodeLast {
		return l.Number(amount) + "\u00a0" + currency
	}
	return currency + "\u00a0" + l.Number(amount)
}

// Decimal returns a number with a fixed number of decimals. For -1, it has as many as it needs.
func (l *Locale) Decimal(n float64, decimals int) string {
	return strings.Replace(strconv.FormatFloat(n, 'f', decimals, 64), ".", l.decimal, 1)
}

// Percent returns a share as a percentage: 1.8 %. The parameter is in hundredths of a percent.
func (l *Locale) Percent(hundredths int) string {
	return l.Decimal(float64(hundredths)/100, -1) + "\u00a0%"
}

// Clock returns the time of day in UTC.
func (l *Locale) Clock(t time.Time) string { return t.UTC().Format("15:04:05") }

// Date returns a day in UTC: 29 May 2026.
func (l *Locale) Date(t time.Time) string {
	return l.day(t, l.months) + " " + strconv.Itoa(t.UTC().Year())
}

// ShortDate returns a day in UTC, without its year: Fri 29 May.
func (l *Locale) ShortDate(t time.Time) string {
	return l.shortDays[t.UTC().Weekday()] + " " + l.day(t, l.shortMonths)
}

// LongDate returns a day in UTC with its weekday: Friday 29 May 2026.
func (l *Locale) LongDate(t time.Time) string { return l.days[t.UTC().Weekday()] + " " + l.Date(t) }

func (l *Locale) day(t time.Time, months []string) string {
	t = t.UTC()
	day := strconv.Itoa(t.Day())
	if t.Day() == 1 {
		day = l.first
	}
	return day + " " + months[t.Month()-1]
}

// otherDay returns the day of a time in UTC. It leaves out the year of now. It returns "" for the day of now.
func (l *Locale) otherDay(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	switch {
	case t.Format(time.DateOnly) == now.Format(time.DateOnly):
		return ""
	case t.Year() == now.Year():
		return l.day(t, l.shortMonths)
	}
	return l.Date(t)
}

// Moment returns a time: 14:32:07. On another day than now, it has the day too: 29 May, 14:32:07.
func (l *Locale) Moment(t, now time.Time) string {
	if day := l.otherDay(t, now); day != "" {
		return day + ", " + l.Clock(t)
	}
	return l.Clock(t)
}

// At is Moment in a sentence: at 14:32:07, on 29 May at 14:32:07.
func (l *Locale) At(t, now time.Time) string {
	if day := l.otherDay(t, now); day != "" {
		return l.Text("on %s at %s", day, l.Clock(t))
	}
	return l.Text("at %s", l.Clock(t))
}

// Since is Moment in a sentence: since 14:32:07, since 29 May at 14:32:07.
func (l *Locale) Since(t, now time.Time) string {
	if day := l.otherDay(t, now); day != "" {
		return l.Text("since %s at %s", day, l.Clock(t))
	}
	return l.Text("since %s", l.Clock(t))
}

// Until is Moment in a sentence: until 14:32:07, until 29 May at 14:32:07.
func (l *Locale) Until(t, now time.Time) string {
	if day := l.otherDay(t, now); day != "" {
		return l.Text("until %s at %s", day, l.Clock(t))
	}
	return l.Text("until %s", l.Clock(t))
}

// Duration returns a duration in its two largest units: 1 h 01 min.
func (l *Locale) Duration(d time.Duration) string {
	d = d.Abs().Round(time.Second)
	days, hours, minutes, seconds := d/(24*time.Hour), d/time.Hour%24, d/time.Minute%60, d/time.Second%60
	switch {
	case days > 0:
		return l.Text("%d d %02d h", days, hours)
	case hours > 0:
		return l.Text("%d h %02d min", hours, minutes)
	case minutes > 0:
		return l.Text("%d min %02d s", minutes, seconds)
	}
	return l.Text("%d s", seconds)
}

// Phone returns a number in the groups of its country: +225 07 09 00 00 01. The groups stay on one line. It returns any
// other text unchanged.
func Phone(msisdn string) string { return strings.ReplaceAll(grouped(msisdn), " ", "\u00a0") }

func grouped(msisdn string) string {
	number, err := phonenumbers.Parse(msisdn, "")
	if err != nil {
		return msisdn
	}
	if e164 := phonenumbers.Format(number, phonenumbers.E164); strings.HasPrefix(e164, "+225") && len(e164) == len("+2250709000001") {
		var pairs []string
		for pair := range slices.Chunk([]byte(e164[len("+225"):]), 2) {
			pairs = append(pairs, string(pair))
		}
		return "+225 " + strings.Join(pairs, " ") // as people of Côte d'Ivoire write it
	}
	return phonenumbers.Format(number, phonenumbers.INTERNATIONAL)
}

// International returns a number in E.164, such as +2250709000001, from the form in which people of a country write it.
// It returns "" for any other text.
func International(text, country string) string {
	number, err := phonenumbers.Parse(text, country)
	if err != nil || !phonenumbers.IsValidNumberForRegion(number, country) {
		return ""
	}
	return phonenumbers.Format(number, phonenumbers.E164)
}

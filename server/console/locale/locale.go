// Package locale translates the texts of the console, and formats numbers, money, times and phone numbers.
//
// The key of a text is its English text, so that templates stay readable.
package locale

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nyaruka/phonenumbers"
)

// Locale is a language with its formats. It is safe for concurrent use.
type Locale struct {
	Tag   string            // value of the HTML attribute lang, such as en
	texts map[string]string // by the English text; nil: English
	group string            // separator between groups of three digits
	code  string            // separator between a currency and an amount
}

// English is the language in which the texts are written.
var English = &Locale{Tag: "en", group: ",", code: " "}

// Text returns a text in the language. Arguments replace its verbs, see package fmt.
func (l *Locale) Text(text string, args ...any) string {
	if own, ok := l.texts[text]; ok {
		text = own
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// Count returns the translation of the parameter one, with args, if n is 1. Otherwise it translates many, with n and
// args.
func (l *Locale) Count(n int64, one, many string, args ...any) string {
	if n == 1 {
		return l.Text(one, args...)
	}
	return l.Text(many, append([]any{l.Number(n)}, args...)...)
}

// minus is the sign of negative numbers.
const minus = "−"

// Number returns a number with its thousands in groups.
func (l *Locale) Number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = minus, digits[1:]
	}
	var grouped strings.Builder
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			grouped.WriteString(l.group)
		}
		grouped.WriteRune(digit)
	}
	return sign + grouped.String()
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
	return currency + l.code + l.Number(amount)
}

// Percent returns a share that is given in hundredths of a percent: 1.8 %.
func (l *Locale) Percent(hundredths int) string {
	return strconv.FormatFloat(float64(hundredths)/100, 'f', -1, 64) + "\u00a0%"
}

// Clock returns the time of day in UTC.
func (l *Locale) Clock(t time.Time) string { return t.UTC().Format("15:04:05") }

// Date returns a day in UTC: 29 May 2026.
func (l *Locale) Date(t time.Time) string { return l.day(t, "%d %s %d") }

// ShortDate returns a day in UTC, without its year: Fri 29 May.
func (l *Locale) ShortDate(t time.Time) string {
	t = t.UTC()
	return fmt.Sprintf("%s %d %s", l.Text(t.Format("Mon")), t.Day(), l.Text(t.Format("Jan")))
}

// LongDate returns a day in UTC with its weekday: Friday 29 May 2026.
func (l *Locale) LongDate(t time.Time) string {
	return l.Text(t.UTC().Weekday().String()) + " " + l.Date(t)
}

func (l *Locale) day(t time.Time, form string) string {
	t = t.UTC()
	return fmt.Sprintf(form, t.Day(), l.Text(t.Month().String()), t.Year())
}

// Moment returns a time, with its day if that is not the day of now.
func (l *Locale) Moment(t, now time.Time) string {
	if t.UTC().Format(time.DateOnly) == now.UTC().Format(time.DateOnly) {
		return l.Clock(t)
	}
	if t.UTC().Year() == now.UTC().Year() {
		return fmt.Sprintf("%d %s, %s", t.UTC().Day(), l.Text(t.UTC().Format("Jan")), l.Clock(t))
	}
	return l.Date(t) + ", " + l.Clock(t)
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

// Phone returns a number in the groups of its country: +225 07 09 000001. It returns any other text unchanged.
func Phone(msisdn string) string {
	number, err := phonenumbers.Parse(msisdn, "")
	if err != nil {
		return msisdn
	}
	return phonenumbers.Format(number, phonenumbers.INTERNATIONAL)
}

// International returns a number that is written as people in a country write it, with the country's calling code:
// +2250709000001. It returns an empty text for any other text.
func International(text, country string) string {
	number, err := phonenumbers.Parse(text, country)
	if err != nil || !phonenumbers.IsValidNumberForRegion(number, country) {
		return ""
	}
	return phonenumbers.Format(number, phonenumbers.E164)
}

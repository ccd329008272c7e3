package locale_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/console/locale"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 29, 14, 32, 7, 0, time.UTC)
	first := time.Date(2027, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600))
	for _, c := range []struct {
		format          func(*locale.Locale) string
		english, french string
	}{
		{func(l *locale.Locale) string { return l.Money("XOF", 25_000) }, "XOF\u00a025,000", "25\u202f000\u00a0XOF"},
		{func(l *locale.Locale) string { return l.Money("RWF", -1_234_567) }, "RWF\u00a0−1,234,567", "−1\u202f234\u202f567\u00a0RWF"},
		{func(l *locale.Locale) string { return l.Number(999) + " " + l.Signed(1000) + " " + l.Signed(0) }, "999 +1,000 0", "999 +1\u202f000 0"},
		{func(l *locale.Locale) string { return l.Percent(180) + " " + l.Percent(6000) }, "1.8\u00a0% 60\u00a0%", "1,8\u00a0% 60\u00a0%"},
		{func(l *locale.Locale) string { return l.Decimal(0.02, 2) }, "0.02", "0,02"},
		{func(l *locale.Locale) string { return l.Date(at) }, "29 May 2026", "29 mai 2026"},
		{func(l *locale.Locale) string { return l.ShortDate(at) }, "Fri 29 May", "ven. 29 mai"},
		{func(l *locale.Locale) string { return l.LongDate(at) }, "Friday 29 May 2026", "vendredi 29 mai 2026"},
		{func(l *locale.Locale) string { return l.Date(first.Add(time.Hour)) }, "1 January 2027", "1er janvier 2027"},
		{func(l *locale.Locale) string { return l.Moment(at, at) }, "14:32:07", "14:32:07"},
		{func(l *locale.Locale) string { return l.Moment(at, at.AddDate(0, 2, 0)) }, "29 May, 14:32:07", "29 mai, 14:32:07"},
		{func(l *locale.Locale) string { return l.Moment(first, at) }, "31 Dec, 23:00:00", "31 déc., 23:00:00"},
		{func(l *locale.Locale) string { return l.Moment(at, first.AddDate(0, 0, 1)) }, "29 May 2026, 14:32:07", "29 mai 2026, 14:32:07"},
		{func(l *locale.Locale) string { return l.At(at, at) + ", " + l.At(at, first) }, "at 14:32:07, on 29 May at 14:32:07",
			"à 14:32:07, le 29 mai à 14:32:07"},
		{func(l *locale.Locale) string { return l.Since(at, at) + ", " + l.Since(at, first) }, "since 14:32:07, since 29 May at 14:32:07",
			"depuis 14:32:07, depuis le 29 mai à 14:32:07"},
		{func(l *locale.Locale) string { return l.Until(at, at) + ", " + l.Until(at, first) }, "until 14:32:07, until 29 May at 14:32:07",
			"jusqu'à 14:32:07, jusqu'au 29 mai à 14:32:07"},
		{func(l *locale.Locale) string { return l.Duration(61 * time.Minute) }, "1 h 01 min", "1\u00a0h 01\u00a0min"},
		{func(l *locale.Locale) string { return l.Duration(50 * time.Hour) }, "2 d 02 h", "2\u00a0j 02\u00a0h"},
		{func(l *locale.Locale) string { return l.Duration(-65*time.Second) + " " + l.Duration(5*time.Second) }, "1 min 05 s 5 s", "1\u00a0min 05\u00a0s 5\u00a0s"},
	} {
		if got := c.format(locale.English); got != c.english {
			t.Errorf("in English %q, want %q", got, c.english)
		}
		if got := c.format(locale.French); got != c.french {
			t.Errorf("in French %q, want %q", got, c.french)
		}
	}
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ chosen, accepted, want string }{
		{"", "", "en"}, {"fr", "en", "fr"}, {"en", "fr", "en"}, {"", "fr-SN, en;q=0.1", "fr"}, {"no language", "fr", "fr"}, {"", "*", "en"},
	} {
		if got := locale.Of(c.chosen, c.accepted).Tag; got != c.want {
			t.Errorf("chosen %q, accepted %q: %s", c.chosen, c.accepted, got)
		}
	}
}

// In French, 0 and 1 have the same form, with the number.
func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64][2]string{
		0: {"0 events wait", "0 événement en attente"}, 1: {"1 event waits", "1 événement en attente"},
		2: {"2 events wait", "2 événements en attente"}, 1000: {"1,000 events wait", "1\u202f000 événements en attente"},
	} {
		for i, l := range locale.All {
			if got := l.Count(n, "1 event waits", "%s events wait"); got != want[i] {
				t.Errorf("%s: %q, want %q", l.Tag, got, want[i])
			}
		}
	}
	if got := locale.French.Count(1, "Acted once, %s", "Acted %s times, last %s", "à midi"); got != "A agi une fois, à midi" {
		t.Error(got)
	}
}

// The groups of a number stay on one line.
func TestPhoneIsWrittenInGroups(t *testing.T) {
	t.Parallel()
	for msisdn, want := range map[string]string{
		"+2250709000001": "+225 07 09 00 00 01", "+250788000001": "+250 788 000 001", "nobody's number": "nobody's number",
	} {
		if got := locale.Phone(msisdn); strings.HasPrefix(msisdn, "+") && strings.Contains(got, " ") || strings.ReplaceAll(got, "\u00a0", " ") != want {
			t.Errorf("%s is %q, want %q", msisdn, got, want)
		}
	}
}

package ussd

import "testing"

// A phone speaks the first language of its country that somebody wrote the sentences of.
func TestPhonesSpeakALanguageThatHasTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		languages []string
		want      string
	}{
		{[]string{"en", "fr"}, "en"}, {[]string{"fr", "en"}, "fr"}, {[]string{"sw", "en"}, "en"}, {[]string{"sw"}, "fr"}, {nil, "fr"},
	} {
		if got := spoken(c.languages).Lang; got != c.want {
			t.Errorf("a phone of a country with %v speaks %s, want %s", c.languages, got, c.want)
		}
	}
}

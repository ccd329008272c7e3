package webhooks_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/webhooks"
)

// triedBody is an event as it is sent: with one blank, and with all that libraries write in different ways.
const triedBody = `{"event":"payment.completed","tx_id":"TX_1","description":"Thé & <b>\"à l'eau\"</b> = 5/6 😀","order_url":null,` +
	`"completed_at":"2026-05-31T12:00:00.500Z","amount":1500, "raw":{"z":1,"a":[true,null]}}`

const triedSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// What each library writes, as its own language prints it for triedBody.
func TestRewritesAreThoseOfTheLibraries(t *testing.T) {
	t.Parallel()
	const (
		head = `{"event":"payment.completed","tx_id":"TX_1","description":"`
		tail = `","order_url":null,"completed_at":"2026-05-31T12:00:00.500Z","amount":1500,"raw":{"z":1,"a":[true,null]}}`
	)
	for writer, want := range map[string]string{
		"JavaScript (JSON.stringify)":   head + `Thé & <b>\"à l'eau\"</b> = 5/6 😀` + tail,
		"PHP (json_encode)":             head + `Th\u00e9 & <b>\"\u00e0 l'eau\"<\/b> = 5\/6 \ud83d\ude00` + tail,
		"Go (json.Marshal of a struct)": head + `Thé \u0026 \u003cb\u003e\"à l'eau\"\u003c/b\u003e = 5/6 😀` + tail,
		"Java (Gson)":                   head + `Thé \u0026 \u003cb\u003e\"à l\u0027eau\"\u003c/b\u003e \u003d 5/6 😀` + tail,
		"C# (System.Text.Json)": head + `Th\u00E9 \u0026 \u003Cb\u003E\u0022\u00E0 l\u0027eau\u0022\u003C/b\u003E = 5/6 \uD83D\uDE00` +
			tail,
		"Python (json.dumps)": `{"event": "payment.completed", "tx_id": "TX_1", "description": "Th\u00e9 & <b>\"\u00e0 l'eau\"</b> = 5/6 \ud83d\ude00", ` +
			`"order_url": null, "completed_at": "2026-05-31T12:00:00.500Z", "amount": 1500, "raw": {"z": 1, "a": [true, null]}}`,
		"Python (str of a dict)": `{'event': 'payment.completed', 'tx_id': 'TX_1', 'description': 'Thé & <b>"à l\'eau"</b> = 5/6 😀', ` +
			`'order_url': None, 'completed_at': '2026-05-31T12:00:00.500Z', 'amount': 1500, 'raw': {'z': 1, 'a': [True, None]}}`,
		"Go (json.Marshal of a map)": `{"amount":1500,"completed_at":"2026-05-31T12:00:00.500Z","description":"Thé \u0026 \u003cb\u003e\"à l'eau\"\u003c/b\u003e = 5/6 😀",` +
			`"event":"payment.completed","order_url":null,"raw":{"a":[true,null],"z":1},"tx_id":"TX_1"}`,
	} {
		i := slices.IndexFunc(webhooks.Rewrites([]byte(triedBody)), func(r webhooks.Rewrite) bool { return string(r.Body) == want })
		if i < 0 || !slices.Contains(webhooks.Rewrites([]byte(triedBody))[i].Writers, writer) {
			t.Errorf("%s does not write\n%s", writer, want)
		}
	}
	if got := webhooks.Rewrites([]byte("[1]")); got != nil {
		t.Errorf("a list is written as %v", got)
	}
}

func macOf(key, message string) []byte {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(message))
	return h.Sum(nil)
}

// One mistake after the other is named from nothing but the value that it gives, in hexadecimal digits or in base64.
func TestTrialNamesTheMistake(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_780_000_000, 0)
	trial := webhooks.Trial{
		ID: "evt_1", Timestamps: []string{"1780000000"}, Body: []byte(triedBody), Secret: triedSecret,
		Others: map[string]string{"CAURI_API_KEY": "cauri_sk_test_0123456789", "CAURI_MTN_API_KEY": "53332686869d606152ed38"},
	}
	key := strings.TrimPrefix(triedSecret, webhooks.SecretPrefix)
	decoded, _ := base64.StdEncoding.DecodeString(key)
	latin1 := strings.NewReplacer("é", "\xe9", "à", "\xe0", "😀", "?").Replace(triedBody)
	plain := sha256.Sum256([]byte(triedBody))
	var compact string
	for _, r := range webhooks.Rewrites([]byte(triedBody)) {
		if slices.Contains(r.Writers, "JavaScript (JSON.stringify)") {
			compact = string(r.Body)
			break
		}
	}
	hexOf := func(key, message string) string { return "sha256=" + hex.EncodeToString(macOf(key, message)) }
	for name, c := range map[string]struct {
		value string
		kind  webhooks.MistakeKind
		how   string
	}{
		"rewritten":              {hexOf(triedSecret, compact), webhooks.MistakeRewritten, "JavaScript"},
		"rewritten, in base64":   {base64.StdEncoding.EncodeToString(macOf(triedSecret, compact)), webhooks.MistakeRewritten, "Ruby"},
		"rewritten, standard":    {webhooks.StandardSignature(triedSecret, "evt_1", at, []byte(compact)), webhooks.MistakeRewritten, "C#"},
		"cut":                    {hexOf(triedSecret, triedBody[:100]), webhooks.MistakeBody, "cut"},
		"empty":                  {hexOf(triedSecret, ""), webhooks.MistakeBody, "empty"},
		"a line break":           {hexOf(triedSecret, triedBody+"\n"), webhooks.MistakeBody, "line break"},
		"another charset":        {hexOf(triedSecret, latin1), webhooks.MistakeBody, "ISO 8859-1"},
		"of base64":              {hexOf(triedSecret, base64.StdEncoding.EncodeToString([]byte(triedBody))), webhooks.MistakeBody, "base64"},
		"an object as a text":    {hexOf(triedSecret, "[object Object]"), webhooks.MistakeBody, "[object Object]"},
		"another secret":         {hexOf("cauri_sk_test_0123456789", triedBody), webhooks.MistakeOtherSecret, "CAURI_API_KEY"},
		"of an operator":         {hexOf("53332686869d606152ed38", triedBody), webhooks.MistakeOtherSecret, "CAURI_MTN_API_KEY"},
		"no secret":              {hexOf("", triedBody), webhooks.MistakeEmptySecret, ""},
		"undefined":              {hexOf("undefined", triedBody), webhooks.MistakeEmptySecret, "undefined"},
		"without whsec_":         {hexOf(key, triedBody), webhooks.MistakeKeyForm, "without whsec_"},
		"decoded":                {hexOf(string(decoded), triedBody), webhooks.MistakeKeyForm, "decoded from base64"},
		"in hexadecimal digits":  {hexOf(hex.EncodeToString(decoded), triedBody), webhooks.MistakeKeyForm, "hexadecimal digits"},
		"with a line break":      {hexOf(triedSecret+"\n", triedBody), webhooks.MistakeKeyForm, "line break"},
		"standard, whole secret": {"v1," + base64.StdEncoding.EncodeToString(macOf(triedSecret, "evt_1.1780000000."+triedBody)), webhooks.MistakeKeyForm, "whole text"},
		"no key":                 {hex.EncodeToString(plain[:]), webhooks.MistakeNoKey, "SHA-256 of the body"},
		"without the id":         {hexOf(string(decoded), "1780000000."+triedBody), webhooks.MistakeText, "the timestamp, a point and the body"},
		"without the timestamp":  {hexOf(string(decoded), "evt_1."+triedBody), webhooks.MistakeText, "without the timestamp"},
		"without a prefix":       {hex.EncodeToString(macOf(triedSecret, triedBody)), webhooks.MistakeForm, "without sha256="},
		"in capitals":            {"sha256=" + strings.ToUpper(hex.EncodeToString(macOf(triedSecret, triedBody))), webhooks.MistakeForm, "capital"},
		"too short":              {"5d41402abc4b2a76b9719d911017c592", webhooks.MistakeNoHMAC, ""},
	} {
		mistakes, fits := trial.Try(c.value)
		if !fits || len(mistakes) != 1 || mistakes[0].Kind != c.kind || !strings.Contains(mistakes[0].How, c.how) {
			t.Errorf("%s: %+v, %t", name, mistakes, fits)
		}
		for _, m := range mistakes {
			if strings.Contains(m.How, triedSecret) || strings.Contains(m.How, key) {
				t.Errorf("%s tells the secret: %q", name, m.How)
			}
		}
	}
	for name, right := range map[string]string{
		"X-Service-Signature": webhooks.Signature(triedSecret, []byte(triedBody)),
		"webhook-signature":   webhooks.StandardSignature(triedSecret, "evt_1", at, []byte(triedBody)),
	} {
		if mistakes, fits := trial.Try(right); !fits || len(mistakes) > 0 {
			t.Errorf("%s: %+v, %t", name, mistakes, fits)
		}
	}
	if mistakes, fits := trial.Try(hexOf("the secret of another sandbox", triedBody)); fits {
		t.Errorf("an unknown secret is %+v", mistakes)
	}
	both, fits := trial.Try(hexOf("cauri_sk_test_0123456789", compact))
	if !fits || len(both) != 2 || both[0].Kind != webhooks.MistakeRewritten || both[1].Kind != webhooks.MistakeOtherSecret {
		t.Errorf("two mistakes are %+v", both)
	}
}

// What looks like a signature is found in what receivers write, and nothing else.
func TestSignaturesInAnAnswer(t *testing.T) {
	t.Parallel()
	digits, text := strings.Repeat("0a", 32), base64.StdEncoding.EncodeToString(macOf("k", "m"))
	for answer, want := range map[string][]string{
		`{"error":"expected sha256=` + digits + `, got ` + text + `"}`: {"sha256=" + digits, text},
		"computed: " + digits:                            {digits},
		"v1," + text + " is not v1," + text:              {"v1," + text},
		"evt_01JCC5H2M4Q7ZXW3V8R6T9B0YE is not accepted": nil,
		digits + "00": nil,
	} {
		if got := webhooks.Signatures(answer); !slices.Equal(got, want) {
			t.Errorf("%q has %q", answer, got)
		}
	}
}

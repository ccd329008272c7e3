package grade_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/grade"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// again parses a body and writes it with the names of its fields in the order of the alphabet, as Go does.
func again(body []byte) []byte {
	var value any
	_ = json.Unmarshal(body, &value)
	text, _ := json.Marshal(value)
	return text
}

// compact takes the blank out of a body, as a library does that keeps the order of the fields.
func compact(body []byte) []byte {
	var out bytes.Buffer
	_ = json.Compact(&out, body)
	return out.Bytes()
}

// withShortTimes writes times without zeros at their end, as Newtonsoft.Json does.
func withShortTimes(body []byte) []byte {
	return regexp.MustCompile(`(\.[0-9]*?)0*Z"`).ReplaceAllFunc(compact(body), func(end []byte) []byte {
		short := strings.TrimRight(string(end), `0Z"`)
		return []byte(strings.TrimSuffix(short, ".") + `Z"`)
	})
}

func replacing(pairs ...string) func([]byte) []byte {
	return func(body []byte) []byte { return []byte(strings.NewReplacer(pairs...).Replace(string(compact(body)))) }
}

// withoutNulls drops fields that are null before it writes.
func withoutNulls(write func([]byte) []byte) func([]byte) []byte {
	return func(body []byte) []byte {
		return write([]byte(strings.NewReplacer(`"scenario":null,`, "", `"order_url":null,`, "").Replace(string(body))))
	}
}

// rewriters make of a body what a receiver verifies that parses it and writes it again. Nothing in the events of a check is escaped by
// PHP, and the phone number has the only character that .NET escapes.
var rewriters = map[string]func([]byte) []byte{
	"JavaScript": compact, "Go": again, ".NET": replacing("+", `\u002B`), "Gson": withoutNulls(compact), "Newtonsoft.Json": withShortTimes,
	"Python": replacing(`":`, `": `, `,"`, `, "`), "Python, sorted": func(body []byte) []byte {
		return []byte(strings.NewReplacer(`":`, `": `, `,"`, `, "`).Replace(string(again(body))))
	},
}

// A receiver that verifies what it has parsed and written again refuses the first genuine event, and the card says why.
func TestReceiversThatWriteTheBodyAgain(t *testing.T) {
	t.Parallel()
	const said = "It answers 401 to a genuine event: it writes the body again before it verifies."
	for name, rewrite := range rewriters {
		t.Run(name, func(t *testing.T) {
			card := check(t, &receiver{reads: rewrite})
			first := card.Results[0]
			if card.Letter != grade.F || first.Reason != grade.Rewritten || first.Observed().String() != "401: it writes the body again" ||
				card.Sentence().String() != said {
				t.Errorf("the letter is %s: %s (%s)", card.Letter, card.Sentence(), first.Observed())
			}
			if n := card.Count(grade.Skipped); n != len(grade.Lines())-3 {
				t.Errorf("%d lines are skipped", n)
			}
			for _, r := range []*receiver{{reads: rewrite, forged: 400}, {reads: rewrite, knows: "order-7"}, {reads: rewrite, standard: true}} {
				if card := check(t, r); card.Letter != grade.F || card.Results[0].Reason != grade.Rewritten {
					t.Errorf("the letter is %q: %s", card.Letter, card.Sentence())
				}
			}
		})
	}
}

// A known event may have what libraries escape, each in its way.
func TestAKnownEventIsWrittenAgain(t *testing.T) {
	t.Parallel()
	id := payments.ID{1}
	body := []byte(`{"event":"payment.completed","tx_id":"` + id.String() + `","order_url":"https://shop/1?id=7","scenario":null,"description":"Café & thé 🎫"` +
		`, "raw":{"a":1.50,"b":[1,{"c":"é"}]}}`)
	for name, rewrite := range map[string]func([]byte) []byte{
		"PHP":              replacing(`\/`, `\/`, "/", `\/`, "é", `\u00e9`, "🎫", `\ud83c\udfab`),
		"Python":           replacing("é", `\u00e9`, "🎫", `\ud83c\udfab`, `":`, `": `, `,"`, `, "`, ",{", ", {"),
		"Python, readable": replacing(`":`, `": `, `,"`, `, "`, ",{", ", {"),
		".NET":             replacing("é", `\u00E9`, "🎫", `\uD83C\uDFAB`, "&", `\u0026`),
		"Gson":             withoutNulls(replacing("&", `\u0026`, "=", `\u003d`)),
	} {
		card := check(t, &receiver{reads: rewrite}, func(o *grade.Options) { o.Known = &grade.Known{ID: id, Body: body} })
		if card.Letter != grade.F || card.Results[0].Reason != grade.Rewritten {
			t.Errorf("%s: the letter is %s: %s", name, card.Letter, card.Sentence())
		}
	}
}

// A receiver that refuses events for another reason is not said to write bodies again, also if it accepts some by chance.
func TestReceiversThatRefuseForAnotherReason(t *testing.T) {
	t.Parallel()
	sent := 0
	for name, answers := range map[string]func() int{
		"always":          func() int { return http.StatusUnauthorized },
		"only at first":   func() int { return map[bool]int{true: 401, false: 204}[sent == 1] },
		"and not by 401":  func() int { return map[bool]int{true: 401, false: 503}[sent != 2] },
		"every other one": func() int { return []int{401, 204}[(sent+1)%2] },
	} {
		sent = 0
		card := check(t, &receiver{}, func(o *grade.Options) {
			o.Send = func(context.Context, grade.Message) grade.Answer {
				sent++
				return grade.Answer{Status: answers(), DurationMs: 1}
			}
		})
		if first := card.Results[0]; card.Letter != grade.F || first.Outcome != grade.Failed || name != "every other one" && first.Reason != "" {
			t.Errorf("%s: the letter is %s: %s", name, card.Letter, card.Sentence())
		}
	}
}

// Receivers that break characters before they verify do not get an A.
func TestReceiversThatBreakCharacters(t *testing.T) {
	t.Parallel()
	latin1 := func(body []byte) []byte {
		runes := make([]rune, len(body))
		for i, b := range body {
			runes[i] = rune(b)
		}
		return []byte(string(runes))
	}
	replacing := func(pairs ...string) func([]byte) []byte {
		return func(body []byte) []byte { return []byte(strings.NewReplacer(pairs...).Replace(string(body))) }
	}
	all := []string{"accents", "arabic", "emoji", "line-separator", "split-character"}
	for name, c := range map[string]struct {
		reads  func([]byte) []byte
		failed []string
	}{
		"ISO 8859-1": {latin1, all},
		"ASCII": {func(body []byte) []byte {
			return bytes.Map(func(r rune) rune { return map[bool]rune{true: r, false: '?'}[r < 128] }, body)
		}, all},
		"NFD": {replacing("é", "e\u0301", "à", "a\u0300", "\u0623", "\u0627\u0654"), all[:2]},
		"NFC": {replacing("e\u0301", "é"), all[:1]},
		"three bytes at most": {func(body []byte) []byte {
			return bytes.Map(func(r rune) rune { return map[bool]rune{true: r, false: '?'}[r < 0x10000] }, body)
		}, all[2:3]},
		"lines":                       {replacing("\u2028", "\n", "\u2029", "\n"), all[3:4]},
		"escapes for line separators": {replacing("\u2028", `\u2028`, "\u2029", `\u2029`), all[3:4]},
	} {
		t.Run(name, func(t *testing.T) {
			card := check(t, &receiver{reads: c.reads})
			if diff := gocmp.Diff(c.failed, outcomes(card, grade.Failed)); diff != "" || card.Letter != grade.C {
				t.Errorf("the letter is %s; failed lines (-want +got):\n%s", card.Letter, diff)
			}
		})
	}
}

// A receiver that takes each piece of a body for a text of its own breaks the characters at their borders.
func TestReceiversThatJoinPieces(t *testing.T) {
	t.Parallel()
	var read sync.Mutex
	var cuts []int
	r := &receiver{reads: func(body []byte) []byte {
		read.Lock()
		borders := append(slices.Clone(cuts), len(body))
		read.Unlock()
		var joined string
		from := 0
		for _, to := range borders {
			joined += strings.ToValidUTF8(string(body[from:to]), "\uFFFD")
			from = to
		}
		return []byte(joined)
	}}
	card := check(t, r, func(o *grade.Options) {
		send := o.Send
		o.Send = func(ctx context.Context, m grade.Message) grade.Answer {
			read.Lock() // copies are sent at the same moment
			cuts = m.Cuts
			read.Unlock()
			return send(ctx, m)
		}
	})
	if diff := gocmp.Diff([]string{"split-character"}, outcomes(card, grade.Failed)); diff != "" || card.Letter != grade.C {
		t.Errorf("the letter is %s; failed lines (-want +got):\n%s", card.Letter, diff)
	}
}

// Where nothing follows from the answers, the card has no letter, and says first what is most likely wrong. Its report is red.
func TestWithoutALetter(t *testing.T) {
	t.Parallel()
	known := &grade.Known{ID: payments.ID{1}, Body: []byte(`{"tx_id":"TX_1","raw":null}`)}
	for name, c := range map[string]struct {
		answer  grade.Answer // to every event
		known   *grade.Known
		reason  grade.Reason
		said    string
		sentAll bool // more than the genuine event has a result
	}{
		"a mistyped path":           {grade.Answer{Status: 404}, nil, grade.WrongURL, "The URL may be wrong: the answer is 404 to every event", true},
		"a path that takes no POST": {grade.Answer{Status: 405}, nil, grade.WrongURL, "The URL may be wrong: the answer is 405", true},
		"a path that moved":         {grade.Answer{Status: 308}, nil, grade.WrongURL, "The URL may be wrong: the answer is 308", true},
		"a known payment":           {grade.Answer{Status: 404}, known, grade.WrongURL, "The URL may be wrong: the answer is 404", true},
		"a proxy before nothing":    {grade.Answer{Status: 502}, known, grade.Broken, "It answers 502 to every event, genuine or forged: its log", true},
		"a program that fails":      {grade.Answer{Status: 500}, nil, grade.Broken, "It answers 500 to every event, genuine or forged: its log", true},
		"a refusal by 400":          {grade.Answer{Status: 400}, nil, grade.SameAnswer, "It answers 400 to every event, genuine or forged: it holds", true},
		"nothing listens": {
			grade.Answer{Error: "connection refused", Unreached: true}, nil, grade.Unreached,
			"No program was reached at the URL: connection refused. No program accepts connections there.", false,
		},
		"nothing listens, at a known host": {
			grade.Answer{Error: "connection refused", Host: "shop:3000", Unreached: true}, nil, grade.Unreached,
			"No program was reached at the URL: connection refused. Nothing listens at shop:3000. No program accepts connections there.", false,
		},
		"a certificate of another name": {
			grade.Answer{Error: "x509: certificate is valid for a, not shop", Host: "shop", Unreached: true}, nil, grade.Unreached,
			"No program was reached at the URL: x509: certificate is valid for a, not shop. The certificate of shop is not accepted. It has ended", false,
		},
		"a cause that is not known": {
			grade.Answer{Error: "nobody knows", Host: "shop", Unreached: true}, nil, grade.Unreached, "No program was reached at the URL: nobody knows.", false,
		},
		"nothing listens for a known one": {
			grade.Answer{Error: "connection refused", Unreached: true}, known, grade.Unreached, "No program was reached at the URL", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			card := check(t, &receiver{}, func(o *grade.Options) {
				o.Known = c.known
				o.Send = func(context.Context, grade.Message) grade.Answer { return c.answer }
			})
			first := card.Results[0]
			if card.Letter != "" || first.Reason != c.reason || !strings.HasPrefix(card.Sentence().String(), c.said) {
				t.Errorf("the letter is %q with the reason %q: %s", card.Letter, first.Reason, card.Sentence())
			}
			if n := len(card.Results); n != map[bool]int{true: len(grade.Lines()), false: 1}[c.sentAll] || card.Count(grade.Skipped) != n {
				t.Errorf("of %d results %d are skipped", n, card.Count(grade.Skipped))
			}
			for _, group := range grade.Groups {
				if letter := card.LetterOf(group); letter != "" {
					t.Errorf("the lines %q have the letter %s", group, letter)
				}
			}
			suite := grade.Report("", card.Sentence().String(), []grade.LineText{{ID: first.Line, Outcome: first.Outcome}}).Suites[0]
			if suite.Failures != 1 || suite.Tests != 2 || !strings.Contains(suite.Cases[0].Failure.Message, c.said) {
				t.Errorf("the report is %+v", suite)
			}
		})
	}
}

// Through a sender: of an address where nothing listens is said that, and a program that ends the connection has refused the event.
func TestWhatDoesNotListen(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_ = connection.Close()
		}
	}()
	sender := webhooks.NewSender(egress.Guard{AllowLoopback: true}, "test", time.Now)
	through := func(o *grade.Options) { o.Send = grade.Through(sender, "http://"+address+"/webhooks") }
	if card := check(t, &receiver{}, through); card.Letter != grade.F || card.Results[0].Answers[0].Unreached {
		t.Errorf("a program that closes its connections has the letter %q: %s", card.Letter, card.Sentence())
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
	card := check(t, &receiver{}, through)
	if !card.Results[0].Answers[0].Unreached || card.Letter != "" || !strings.Contains(card.Sentence().String(), "Nothing listens at "+address) {
		t.Errorf("where nothing listens, the letter is %q: %s", card.Letter, card.Sentence())
	}
}

// The advice about a genuine event that is refused is that about any event with this answer.
func TestAdviceAboutAGenuineEvent(t *testing.T) {
	t.Parallel()
	for want, answer := range map[string]grade.Answer{
		"It was reached":                {Error: "no answer within 10s", Late: true},
		"does not accept the signature": {Status: 401},
	} {
		card := check(t, &receiver{}, func(o *grade.Options) {
			o.Send = func(context.Context, grade.Message) grade.Answer { return answer }
		})
		if why, fix := card.Results[0].Advice(); why == "" || !strings.Contains(fix.String(), want) {
			t.Errorf("%+v: %s", answer, fix)
		}
	}
}

// A line that was not tried is not said to be answered as expected.
func TestSentenceOfUntriedLines(t *testing.T) {
	t.Parallel()
	card := grade.Card{Letter: grade.A, FinishedAt: time.Now(), Results: []grade.Result{
		{Line: "genuine", Outcome: grade.Passed}, {Line: "refund-before-payment", Outcome: grade.Skipped, Reason: grade.NeedsAllow},
	}}
	if said := card.Sentence().String(); said != "It answers each event that was sent as expected. Not tried: 1 of 2 lines." {
		t.Error(said)
	}
}

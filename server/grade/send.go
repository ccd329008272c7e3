package grade

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/webhooks"
)

// stale is how old the timestamp of an old event is. Receivers should refuse what is older than five minutes.
const stale = 10 * time.Minute

// largeRaw is the size of the operator's data of a large event, in bytes.
const largeRaw = 64 << 10

// messages returns what a line sends, in this order.
func (m *maker) messages(id string) ([]Message, error) {
	switch id {
	case lineTwice:
		e, err := m.payment()
		if err != nil {
			return nil, err
		}
		return []Message{m.sign(e, m.secret), m.sign(e, m.secret)}, nil
	case lineEarlyRefund:
		events, err := m.earlyRefund()
		messages := make([]Message, len(events))
		for i, e := range events {
			messages[i] = m.sign(e, m.secret)
		}
		return messages, err
	case lineUnknownField, lineUnknownEvent, lineLarge, lineOtherForm:
		return m.unusual(id)
	case lineSplit:
		return m.split()
	}
	if text, is := texts[id]; is {
		return m.one(m.withText(text))
	}
	if status, is := strings.CutPrefix(id, statusPrefix); is {
		status = strings.ReplaceAll(strings.ToUpper(status), "-", "_")
		return m.one(m.changed(func(d document) document { return d.with("status", status) }))
	}
	return m.forged(id)
}

// one returns the message of an event.
func (m *maker) one(e *event, err error) ([]Message, error) {
	if err != nil {
		return nil, err
	}
	return []Message{m.sign(e, m.secret)}, nil
}

// unusual returns a genuine message of a form that a receiver may not have seen yet.
func (m *maker) unusual(id string) ([]Message, error) {
	switch id {
	case lineUnknownField:
		return m.one(m.changed(func(d document) document {
			return d.with(webhooks.UnknownField, "an event may have fields that you do not know")
		}))
	case lineUnknownEvent:
		return m.one(m.changed(func(d document) document { return d.with("event", webhooks.UnknownEvent) }))
	case lineLarge:
		return m.one(m.changed(func(d document) document {
			return d.with("raw", map[string]string{"padding": strings.Repeat("x", largeRaw)})
		}))
	}
	e, err := m.payment()
	if err != nil {
		return nil, err
	}
	d, err := parseDocument(e.body)
	if err != nil {
		return nil, err
	}
	e.body = d.rewritten()
	return m.one(e, nil)
}

// texts are what genuine events say whose texts are not ASCII. Each is as it stands in the body, without escapes.
var texts = map[string]string{
	lineAccents:   "Café à Abidjan, 10\u00a0000 F, cafe\u0301 glace\u0301",                                  // the last accents are characters of their own
	lineArabic:    "\u0642\u0647\u0648\u0629 \u0641\u064a \u0623\u0628\u064a\u062f\u062c\u0627\u0646\u200f", // coffee in Abidjan, and a mark of direction
	lineEmoji:     "Merci \U0001f64f\U0001f3fe, \U0001f3ab",
	lineSeparator: "Deux lignes\u2028et un paragraphe\u2029",
	lineSplit:     "Œufs et bœuf — 15 €", // nothing in it has a second form in Unicode
}

// withText returns the event of a payment that has a text where events have texts of people: in its description and in what the
// operator answered.
func (m *maker) withText(text string) (*event, error) {
	value := json.RawMessage(`"` + text + `"`) // package json would write U+2028 as an escape
	return m.changed(func(d document) document {
		return d.with("description", value).with("raw", map[string]any{"_simulated": true, "message": value})
	})
}

// split returns the message of an event that is cut inside of three characters.
func (m *maker) split() ([]Message, error) {
	messages, err := m.one(m.withText(texts[lineSplit]))
	if err != nil {
		return nil, err
	}
	body := messages[0].Body
	for i := 0; i < len(body) && len(messages[0].Cuts) < 3; i++ {
		if !utf8.RuneStart(body[i]) {
			messages[0].Cuts = append(messages[0].Cuts, i)
			i += len("à") // the next cut is in another character
		}
	}
	return messages, nil
}

// forged returns a message whose signature a line changes, and for the other lines a genuine one.
func (m *maker) forged(id string) ([]Message, error) {
	e, err := m.payment()
	if err != nil {
		return nil, err
	}
	if id == lineOldTimestamp {
		e.at = e.at.Add(-stale)
	}
	right := m.sign(e, m.secret)
	other := m.sign(e, webhooks.SecretPrefix+rand.Text()) // nobody has this secret
	switch id {
	case lineWrongSignature:
		right.Header.Set(webhooks.HeaderSignature, "sha256="+strings.Repeat("0", 64))
		right.Header.Set(webhooks.HeaderStandardSignature, "v1,"+strings.Repeat("A", 43)+"=")
	case lineNoSignature:
		right.Header.Del(webhooks.HeaderSignature)
		right.Header.Del(webhooks.HeaderStandardSignature)
	case lineOtherBody:
		right.Body = append(bytes.TrimSuffix(bytes.Clone(e.body), []byte("}")), `,"forged":true}`...)
	case lineOtherSecret:
		return []Message{other}, nil
	case probeStandard:
		right.Header.Set(webhooks.HeaderStandardSignature, other.Header.Get(webhooks.HeaderStandardSignature))
	case lineSecondSignature:
		right.Header.Set(webhooks.HeaderStandardSignature, other.Header.Get(webhooks.HeaderStandardSignature)+" "+
			right.Header.Get(webhooks.HeaderStandardSignature))
	}
	return []Message{right}, nil
}

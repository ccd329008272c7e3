package service

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// Captured is what a receiver captured when it took a request for the delivery of an event. All fields are optional.
// For an empty field, CompareEvent assumes that the receiver got what was sent.
type Captured struct {
	Body              []byte    // nil: not captured
	Signature         string    // X-Service-Signature, or X-Service-Signature-Previous
	StandardSignature string    // webhook-signature
	Timestamp         string    // webhook-timestamp
	Computed          string    // the signature that the code of the receiver computed, for either header
	SecretFingerprint string    // of the secret that the receiver holds
	VerifiedAt        time.Time // by the clock of the receiver; zero: not known
}

// Comparison says whether a receiver can verify what it captured, and why not.
type Comparison struct {
	Attempt    int // the attempt that it is compared with; 0: the event was never sent, or is not signed
	Sent       []byte
	Difference *webhooks.Difference // nil: the bytes are the same
	Schemes    []VerifiedScheme     // of the attempt
	Causes     []Cause              // the likely ones, the most likely first; empty: everything verifies
	Secret     SecretVerdict
}

// SecretVerdict says whether a receiver holds a secret that signed.
type SecretVerdict string

// The verdicts.
const (
	SecretUnknown SecretVerdict = ""      // neither its fingerprint nor a computed signature tells
	SecretRight   SecretVerdict = "right" // it holds a secret that signed, by its fingerprint or by a signature that it computed
	SecretWrong   SecretVerdict = "wrong" // it holds another secret or none, or computed another signature of the right bytes
)

// VerifiedScheme says whether a kind of signature verifies.
type VerifiedScheme struct {
	Header   string
	Verifies bool
}

// Causes of a refusal, beside those of [webhooks.DifferenceCauses].
const (
	CauseFault          = "fault"           // a fault of the sandbox forged the attempt on purpose
	CauseOtherSecret    = "other_secret"    // the receiver holds a secret that did not sign
	CauseOtherSignature = "other_signature" // the signature is none that was sent
	CauseOtherTimestamp = "other_timestamp" // the timestamp is none that was sent
	CauseStaleTimestamp = "stale_timestamp" // the receiver verified more than five minutes later, or its clock is wrong
	CauseSecretUnknown  = "secret_unknown"  // nothing is wrong with what was sent: only the secret is left
	CauseNoSecret       = "no_secret"       // the receiver has an empty secret
	CauseOtherKey       = "other_key"       // the code computed its signature with another key, or from other bytes
	CauseOtherForm      = "other_form"      // the code computed the right signature, and writes it in another form
)

// Cause is a likely cause of a refusal.
type Cause struct {
	Code  string
	Words english.Phrase // what is wrong, and what to do
}

// CompareEvent compares what a receiver captured with what was sent. It needs no secret: a signature verifies if and only
// if the signature and the bytes are those that were sent. Nothing of the captured delivery is stored. It returns
// [ledger.ErrNotFound].
func (s *Service) CompareEvent(ctx context.Context, who *Caller, id payments.EventID, got *Captured) (*Comparison, error) {
	var event *Event
	err := s.Renewing(ctx, who, func(ctx context.Context) (err error) {
		event, err = s.ReadEvent(ctx, who, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	var signed []Signature
	if !id.Callback {
		signed = signedAttempts(event.EventDetail, who)
	}
	if len(signed) == 0 {
		c := &Comparison{Sent: event.Body, Difference: differ(event.Body, got)}
		c.addDifference()
		return c, nil
	}
	return compare(attemptOf(signed, got), got), nil
}

// differ returns how the captured body differs from the one that was sent; nil if it does not.
func differ(sent []byte, got *Captured) *webhooks.Difference {
	if got.Body == nil {
		return nil
	}
	return webhooks.Differ(sent, got.Body)
}

// attemptOf returns the attempt that was most likely captured: the latest one that fits best.
func attemptOf(signed []Signature, got *Captured) *Signature {
	best, most := &signed[0], -1
	for i := range signed {
		fits := 0
		for _, h := range signed[i].Headers {
			if h.Name == webhooks.HeaderStandardTimestamp && h.Value == got.Timestamp {
				fits += 2
			}
		}
		if slices.Equal(signed[i].Body, got.Body) {
			fits++
		}
		if got.Computed != "" {
			if as := webhooks.Recognize(got.Computed, &signed[i].Explanation); as != webhooks.ComputedOtherKey {
				fits += 2
			}
		}
		if fits >= most {
			best, most = &signed[i], fits
		}
	}
	return best
}

func compare(sent *Signature, got *Captured) *Comparison {
	c := &Comparison{Attempt: sent.Attempt, Sent: sent.Body, Difference: differ(sent.Body, got)}
	forged := sent.fault != nil && (sent.fault.Webhook.BadSignature || sent.fault.Webhook.Truncate || sent.fault.Webhook.StaleTimestamp != nil)
	if forged {
		c.add(CauseFault, "The fault %s of the sandbox forged attempt %d: a receiver has to refuse it.", sent.fault.Name, sent.Attempt)
	}
	c.addDifference()
	c.addSecret(sent, got)
	c.addComputed(sent, got)
	knows := c.Secret != SecretWrong
	service, standard := c.addSignatures(sent, got)
	fresh := c.addTimestamp(sent, got)
	intact := c.Difference == nil && knows && !forged
	c.Schemes = []VerifiedScheme{
		{webhooks.HeaderSignature, intact && service},
		{webhooks.HeaderStandardSignature, intact && standard && fresh},
	}
	if len(c.Causes) == 0 && c.Secret == SecretUnknown {
		c.add(CauseSecretUnknown, "Bytes and signatures are those that were sent. If the receiver refuses them, it holds another secret: "+
			"compare its fingerprint with %s.", secretsOf(sent, "%s or %s"))
	}
	return c
}

func (c *Comparison) add(code string, text english.Text, args ...any) {
	c.Causes = append(c.Causes, Cause{code, english.Say(text, args...)})
}

func (c *Comparison) addDifference() {
	if c.Difference != nil {
		c.Causes = append(c.Causes, Cause{string(c.Difference.Cause), c.Difference.Words()})
	}
}

// addSecret compares the fingerprint of the receiver's secret, if it was captured.
func (c *Comparison) addSecret(sent *Signature, got *Captured) {
	switch {
	case got.SecretFingerprint == "":
	case slices.Contains(signersOf(sent), got.SecretFingerprint):
		c.Secret = SecretRight
	case slices.Contains(webhooks.EmptyFingerprints, got.SecretFingerprint):
		c.Secret = SecretWrong
		c.add(CauseNoSecret, "The receiver has an empty secret: the variable that should hold it is not set where its program runs.")
	default:
		c.Secret = SecretWrong
		c.add(CauseOtherSecret, "The receiver holds the secret %s, and attempt %d was signed with %s. Take the sandbox's "+
			"webhook-signing-secret as it is, without a line break.", got.SecretFingerprint, sent.Attempt, secretsOf(sent, "%s and %s"))
	}
}

// keyForms says what the two kinds of signature take as their key.
const keyForms = "X-Service-Signature takes the whole text of the secret, with its whsec_. webhook-signature takes what follows whsec_, " +
	"decoded from base64, and signs <webhook-id>.<webhook-timestamp>.<body>."

// addComputed says what the code of the receiver computed, if that was captured.
func (c *Comparison) addComputed(sent *Signature, got *Captured) {
	if got.Computed == "" || c.Secret == SecretWrong {
		return
	}
	switch webhooks.Recognize(got.Computed, &sent.Explanation) {
	case webhooks.ComputedRight:
		c.Secret = SecretRight
	case webhooks.ComputedOtherForm:
		c.Secret = SecretRight
		c.add(CauseOtherForm, "The code computes the right HMAC, and writes it in another form than the header. X-Service-Signature has sha256= and "+
			"small hexadecimal digits, webhook-signature has v1, and base64.")
	case webhooks.ComputedNoSecret:
		c.Secret = SecretWrong
		c.add(CauseNoSecret, "The code computed this with an empty secret: the variable that should hold it is not set where the program runs.")
	case webhooks.ComputedNoKey:
		c.add(CauseOtherKey, "This is the SHA-256 of the body without a key. Compute the HMAC-SHA256, with the secret as its key.")
	case webhooks.ComputedNoHMAC:
		c.add(CauseOtherForm, "This is no HMAC-SHA256: it has 32 bytes, which are 64 hexadecimal digits or 44 characters of base64.")
	case webhooks.ComputedOtherKey:
		c.addOtherKey(sent, got)
	}
}

func (c *Comparison) addOtherKey(sent *Signature, got *Captured) {
	switch {
	case c.Difference != nil: // other bytes have another signature
	case c.Secret == SecretRight:
		c.add(CauseOtherKey, "The receiver holds the right secret, and its code computed another value. "+keyForms)
	case got.Body == nil:
		c.add(CauseOtherKey, "No secret of attempt %d gives this value with the bytes that were sent. Send the bytes too, to learn whether "+
			"they are the cause. Otherwise it is the secret: its fingerprint has to be %s.", sent.Attempt, secretsOf(sent, "%s or %s"))
	default:
		c.Secret = SecretWrong
		c.add(CauseOtherKey, "The bytes are right, and the code computed another value: its secret is another one, or it makes another "+
			"key of it. The fingerprint of the secret has to be %s. "+keyForms, secretsOf(sent, "%s or %s"))
	}
}

// addSignatures reports for each kind of signature whether one of the captured signatures was sent. It reports true for
// a kind without a captured signature. It adds the causes.
func (c *Comparison) addSignatures(sent *Signature, got *Captured) (service, standard bool) {
	given := [][]string{strings.Fields(got.Signature), strings.Fields(got.StandardSignature)}
	known := make([]bool, len(given))
	for i, scheme := range sent.Schemes {
		known[i] = len(given[i]) == 0 || slices.ContainsFunc(scheme.Signatures, func(one webhooks.SchemeSignature) bool {
			return slices.Contains(given[i], one.Value)
		})
		if !known[i] {
			c.add(CauseOtherSignature, "This %s is not the one of attempt %d. Compare with the header as it arrived, with its prefix.",
				scheme.Header, sent.Attempt)
		}
	}
	return known[0], known[1]
}

// tolerance is how far a timestamp may be from the clock of a receiver.
const tolerance = 5 * time.Minute

// addTimestamp reports whether the captured timestamp is the one that was sent, and whether the receiver verified it
// within the tolerance. What was not captured counts as right. It adds the cause.
func (c *Comparison) addTimestamp(sent *Signature, got *Captured) bool {
	at := sent.signedAt
	if got.Timestamp != "" && got.Timestamp != fmt.Sprint(at.Unix()) {
		c.add(CauseOtherTimestamp, "This webhook-timestamp is not the one of attempt %d, which is %d: seconds in real time, not in "+
			"sandbox time.", sent.Attempt, at.Unix())
		return false
	}
	if late := got.VerifiedAt.Sub(at.Truncate(time.Second)); !got.VerifiedAt.IsZero() && late.Abs() > tolerance {
		c.add(CauseStaleTimestamp, "The receiver verified at %s what was signed at %s: more than five minutes apart. Verify when the "+
			"event arrives, and set the clock of the receiver.", got.VerifiedAt.UTC().Format(time.RFC3339), at.UTC().Format(time.RFC3339))
		return false
	}
	return true
}

// secretsOf returns the fingerprints of the secrets that signed, for a sentence. The parameter joined is the text that
// joins the last two.
func secretsOf(sent *Signature, joined english.Text) english.Phrase {
	all := signersOf(sent)
	if len(all) == 1 {
		return english.Say("%s", all[0])
	}
	return english.Say(joined, strings.Join(all[:len(all)-1], ", "), all[len(all)-1])
}

// signersOf returns the fingerprints of the secrets that signed.
func signersOf(sent *Signature) (all []string) {
	for _, one := range sent.Schemes[1].Signatures {
		all = append(all, one.SecretFingerprint)
	}
	return all
}

// faultOf returns the fault of an attempt. It returns nil if no fault acted, or if the sandbox does not declare the
// fault any more.
func faultOf(names []string, declared faults.Set) *faults.Fault {
	for _, name := range names {
		if f := declared.Named(name); f != nil && f.Webhook != nil {
			return f
		}
	}
	return nil
}

package webhooks_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

func TestWhatCodeComputedIsRecognized(t *testing.T) {
	t.Parallel()
	d := webhooks.Delivery{
		ID: payments.ID{15: 1}, Type: payments.Collection, Secret: "whsec_dGVzdA==", Previous: []string{"whsec_b2xk"}, Body: []byte(`{"a":1}`),
		At: time.Unix(1780061444, 0),
	}
	signed := webhooks.Sign(d)
	e := webhooks.Explain(d, signed)
	hexed := strings.TrimPrefix(signed.Signature, "sha256=")
	sum, err := hex.DecodeString(hexed)
	if err != nil {
		t.Fatal(err)
	}
	standard := strings.Fields(signed.Standard)
	plain := sha256.Sum256(d.Body)
	keyed := func(key, message string) string {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(message))
		return hex.EncodeToString(mac.Sum(nil))
	}
	before := e.Schemes[1].Before
	for value, want := range map[string]webhooks.Computed{
		signed.Signature: webhooks.ComputedRight, signed.Previous: webhooks.ComputedRight, standard[0]: webhooks.ComputedRight,
		standard[1] + "\n": webhooks.ComputedRight,
		hexed:              webhooks.ComputedOtherForm, strings.ToUpper(hexed): webhooks.ComputedOtherForm,
		base64.StdEncoding.EncodeToString(sum):           webhooks.ComputedOtherForm,
		strings.TrimPrefix(standard[0], "v1,"):           webhooks.ComputedOtherForm,
		"v1," + keyed("", before+string(d.Body)):         webhooks.ComputedNoSecret,
		"sha256=" + keyed("undefined", string(d.Body)):   webhooks.ComputedNoSecret,
		"sha256=" + hex.EncodeToString(plain[:]):         webhooks.ComputedNoKey,
		"sha256=" + keyed("whsec_other", string(d.Body)): webhooks.ComputedOtherKey,
		"sha256=" + keyed("test", string(d.Body)):        webhooks.ComputedOtherKey, // decoded, which is for the other header
		"sha1=0123456789012345678901234567890123456789":  webhooks.ComputedNoHMAC,
		"not a signature":                                webhooks.ComputedNoHMAC,
		strings.Repeat("x", 2000):                        webhooks.ComputedNoHMAC,
	} {
		if got := webhooks.Recognize(value, &e); got != want {
			t.Errorf("%q is recognized as %s, want %s", value, got, want)
		}
	}
}

package sandboxenvironment

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
)

// durationForm is the rule of the resource's schema, see [v1alpha1.Duration].
var durationForm = regexp.MustCompile(`^([0-9]{1,5}([.][0-9]{1,3})?(h|m|s|ms))+$`)

// FuzzDuration checks that what the schema lets through is a duration, and that everything else is refused with the field's name and an
// example, or is a duration that an older schema let through.
func FuzzDuration(f *testing.F) {
	for _, seed := range []string{"500ms", "1m30s", "1h", "99999h99999h", "99999.999h99999.999h99999.999h",
		"7d", "-1s", "", "1", "1.5.5s", ".5s", "1us", "+1s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := duration("spec.ttl", v1alpha1.Duration(text), "5s")
		if durationForm.MatchString(text) && len(text) <= 32 {
			if err != nil || d < 0 {
				t.Errorf("%q is let through by the schema, and read as %s, %v", text, d, err)
			}
			return
		}
		if err != nil {
			var stalling *reconciler.StallingError
			if !errors.As(err, &stalling) || stalling.Reason != v1alpha1.ReasonInvalidSpec || !strings.Contains(stalling.Message, "spec.ttl") {
				t.Errorf("%q is refused with %v", text, err)
			}
			return
		}
		if want, _ := time.ParseDuration(text); text != "" && d != want || text == "" && d != 5*time.Second {
			t.Errorf("%q is read as %s", text, d)
		}
	})
}

// FuzzWebhookConfig checks that a webhook of a resource becomes one that the sender's schedule takes, or is refused.
func FuzzWebhookConfig(f *testing.F) {
	f.Add("http://shop/", int32(5), int32(5), "5s", "1h", "payment.completed")
	f.Add("", int32(-1), int32(0), "x", "", "")
	f.Fuzz(func(t *testing.T, url string, retries, factor int32, initial, longest, event string) {
		given := &v1alpha1.Webhook{URL: url, Events: []v1alpha1.WebhookEvent{v1alpha1.WebhookEvent(event)}, RetryPolicy: &v1alpha1.RetryPolicy{
			MaxRetries: &retries, Factor: &factor, InitialDelay: v1alpha1.Duration(initial), MaxDelay: v1alpha1.Duration(longest),
		}}
		config, err := webhookConfig(given)
		if err != nil {
			if config != nil {
				t.Errorf("it is refused and read as %+v", config)
			}
			return
		}
		if config.URL != url || config.Retry.MaxRetries != int(retries) || config.Retry.Factor != float64(factor) || len(config.Types) > 1 {
			t.Errorf("%+v is read as %+v", given, config)
		}
		for _, kind := range config.Types {
			if kind.Event() != event {
				t.Errorf("%q is read as %s", event, kind)
			}
		}
	})
}

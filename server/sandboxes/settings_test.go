package sandboxes_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Every field of a configuration is applied when it changes, and applied once. A new field needs an edit here.
func TestEveryFieldOfASandboxIsApplied(t *testing.T) {
	identity := []string{"UID", "Generation", "RolledBack", "Replaces", "TestClients"} // of the resource: no settings
	limit, quota, rate := int64(7), int64(8), int32(9)
	edits := map[string]func(*sandboxes.Config){
		"Namespace":                             func(c *sandboxes.Config) { c.Namespace = "other" },
		"Name":                                  func(c *sandboxes.Config) { c.Name = "other" },
		"Environments.Operator":                 func(c *sandboxes.Config) { c.Environments[0].Operator = payments.Airtel },
		"Environments.Country":                  func(c *sandboxes.Config) { c.Environments[1].Country = payments.Benin },
		"Environments.Enabled":                  func(c *sandboxes.Config) { c.Environments[0].Enabled = false },
		"Environments.Terms.CommissionBPS":      func(c *sandboxes.Config) { c.Environments[0].Terms.CommissionBPS++ },
		"Environments.Terms.AbsorptionPct":      func(c *sandboxes.Config) { c.Environments[0].Terms.AbsorptionPct-- },
		"Environments.UnknownPolicy":            func(c *sandboxes.Config) { c.Environments[0].UnknownPolicy = payments.Passthrough },
		"Environments.MaxAmount":                func(c *sandboxes.Config) { c.Environments[0].MaxAmount = &limit },
		"Environments.Vague":                    func(c *sandboxes.Config) { c.Environments[0].Vague = true },
		"Environments.CallbackURL":              func(c *sandboxes.Config) { c.Environments[0].CallbackURL = "http://a.example" },
		"Environments.CallbackHash":             func(c *sandboxes.Config) { c.Environments[0].CallbackHash = true },
		"Environments.Quirks":                   func(c *sandboxes.Config) { c.Environments[0].Quirks = map[string]bool{"q": true, "longer": false} },
		"CallbackHosts":                         func(c *sandboxes.Config) { c.CallbackHosts = []string{"*.shop.example"} },
		"Stores":                                func(c *sandboxes.Config) { c.Stores = []string{"shop", "kiosk", "stall"} },
		"Operators.Store":                       func(c *sandboxes.Config) { c.Operators[0].Store = "kiosk" },
		"Operators.Operator":                    func(c *sandboxes.Config) { c.Operators[0].Operator = payments.MTN },
		"Operators.Country":                     func(c *sandboxes.Config) { c.Operators[0].Country = payments.Benin },
		"Operators.BaseURL":                     func(c *sandboxes.Config) { c.Operators[0].BaseURL = "http://elsewhere" },
		"Operators.Credentials.ClientID":        func(c *sandboxes.Config) { c.Operators[0].Credentials.ClientID = "other" },
		"Operators.Credentials.ClientSecret":    func(c *sandboxes.Config) { c.Operators[0].Credentials.ClientSecret = "other" },
		"Operators.Credentials.SubscriptionKey": func(c *sandboxes.Config) { c.Operators[0].Credentials.SubscriptionKey = "other" },
		"Operators.Credentials.MerchantKey":     func(c *sandboxes.Config) { c.Operators[0].Credentials.MerchantKey = "other" },
		"Operators.Credentials.ShortCode":       func(c *sandboxes.Config) { c.Operators[0].Credentials.ShortCode = "other" },
		"Operators.Credentials.Passkey":         func(c *sandboxes.Config) { c.Operators[0].Credentials.Passkey = "other" },
		"OpeningFloat":                          func(c *sandboxes.Config) { c.OpeningFloat[payments.RWF]++ },
		"Webhook.URL":                           func(c *sandboxes.Config) { c.Webhook.URL = "http://elsewhere" },
		"Webhook.Refusal":                       func(c *sandboxes.Config) { c.Webhook.Refusal = "nothing is ever sent there" },
		"Webhook.Retry.MaxRetries":              func(c *sandboxes.Config) { c.Webhook.Retry.MaxRetries++ },
		"Webhook.Retry.InitialDelay":            func(c *sandboxes.Config) { c.Webhook.Retry.InitialDelay += time.Second },
		"Webhook.Retry.Factor":                  func(c *sandboxes.Config) { c.Webhook.Retry.Factor++ },
		"Webhook.Retry.MaxDelay":                func(c *sandboxes.Config) { c.Webhook.Retry.MaxDelay += time.Second },
		"Webhook.Types":                         func(c *sandboxes.Config) { c.Webhook.Types = payments.Types[:1] },
		"LatencyPercent":                        func(c *sandboxes.Config) { c.LatencyPercent++ },
		"MonthlyQuota":                          func(c *sandboxes.Config) { c.MonthlyQuota = &quota },
		"RateLimit":                             func(c *sandboxes.Config) { c.RateLimit = &rate },
		"PendingTimeout":                        func(c *sandboxes.Config) { c.PendingTimeout = time.Second },
		"TestNumbers":                           func(c *sandboxes.Config) { c.TestNumbers = payments.StandardTestNumbers },
		"Suspended":                             func(c *sandboxes.Config) { c.Suspended = true },
		"Clock.Mode":                            func(c *sandboxes.Config) { c.Clock.Mode = sandboxes.ManualClock },
		"Clock.Start":                           func(c *sandboxes.Config) { c.Clock.Start = new(time.Unix(1, 0)) },
		"Seed":                                  func(c *sandboxes.Config) { c.Seed = &limit },
		"Faults":                                func(c *sandboxes.Config) { c.Faults = []byte(`[{"name": "f", "api": {"status": 500}}]`) },
		"API.TestClients":                       func(c *sandboxes.Config) { c.API.TestClients = true },
		"API.Reset":                             func(c *sandboxes.Config) { c.API.Reset = true },
		"API.Faults":                            func(c *sandboxes.Config) { c.API.Faults = true },
		"API.MaxTestClients":                    func(c *sandboxes.Config) { c.API.MaxTestClients = &quota },
		"Reset":                                 func(c *sandboxes.Config) { c.Reset = "run-2" },
	}
	if diff := cmp.Diff(fields(reflect.TypeFor[sandboxes.Config](), identity), slices.Sorted(maps.Keys(edits))); diff != "" {
		t.Errorf("fields of Config without an edit (-), edits without a field (+):\n%s", diff)
	}
	for field, edit := range edits {
		t.Run(field, func(t *testing.T) {
			w := newFixture(t, func(c *sandboxes.Config) {
				c.Stores = []string{"shop", "kiosk"}
				c.Operators = []sandboxes.OperatorAccess{{
					Store: "shop", Operator: payments.Airtel, Country: payments.Rwanda,
					Credentials: &sandboxes.OperatorCredentials{ClientID: "id", ClientSecret: "secret"},
				}}
			})
			before := w.Written()
			edit(&w.Config)
			w.Apply()
			after := w.Written()
			if cmp.Equal(before, after) {
				t.Error("the change is not applied")
			}
			w.Apply()
			if diff := cmp.Diff(after, w.Written()); diff != "" {
				t.Errorf("it is applied again (-first +second):\n%s", diff)
			}
		})
	}
}

// The same of a SIM.
func TestEveryFieldOfATestClientIsApplied(t *testing.T) {
	identity := []string{"UID", "Generation", "RolledBack", "Limit"}
	edits := map[string]func(*sandboxes.TestClientConfig){
		"Name":     func(c *sandboxes.TestClientConfig) { c.Name = "other" },
		"MSISDN":   func(c *sandboxes.TestClientConfig) { c.MSISDN = "+250788000099" },
		"Operator": func(c *sandboxes.TestClientConfig) { c.Operator = payments.Airtel },
		"Country":  func(c *sandboxes.TestClientConfig) { c.Operator, c.Country = payments.Orange, payments.CoteDIvoire },
		"Blocked":  func(c *sandboxes.TestClientConfig) { c.Blocked = true },
		"Behavior": func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual },
		"Balance":  func(c *sandboxes.TestClientConfig) { c.Balance++ },
	}
	if diff := cmp.Diff(fields(reflect.TypeFor[sandboxes.TestClientConfig](), identity), slices.Sorted(maps.Keys(edits))); diff != "" {
		t.Errorf("fields of TestClientConfig without an edit (-), edits without a field (+):\n%s", diff)
	}
	for field, edit := range edits {
		t.Run(field, func(t *testing.T) {
			w := newFixture(t)
			config := w.Client("alice", alice, 5000)
			apply := func() map[string]string {
				t.Helper()
				if _, err := w.ApplyTestClient(t.Context(), w.Config.UID, config); err != nil {
					t.Fatal(err)
				}
				return w.Written()
			}
			before := w.Written()
			edit(&config)
			after := apply()
			if cmp.Equal(before, after) {
				t.Error("the change is not applied")
			}
			if diff := cmp.Diff(after, apply()); diff != "" {
				t.Errorf("it is applied again (-first +second):\n%s", diff)
			}
		})
	}
}

// fields are the paths of all fields of a struct, and of the structs within it, except some of its own.
func fields(of reflect.Type, except []string) []string {
	var paths []string
	for _, field := range reflect.VisibleFields(of) {
		if slices.Contains(except, field.Name) {
			continue
		}
		inner := field.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if inner.Kind() != reflect.Struct || inner == reflect.TypeFor[time.Time]() {
			paths = append(paths, field.Name)
			continue
		}
		for _, path := range fields(inner, nil) {
			paths = append(paths, field.Name+"."+path)
		}
	}
	slices.Sort(paths)
	return paths
}

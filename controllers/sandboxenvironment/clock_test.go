package sandboxenvironment

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Every field of a fault in a resource is read by what applies faults to webhooks and answers. A new field needs a value here.
func TestFaultsOfAResourceAreRead(t *testing.T) {
	when := &v1alpha1.FaultCondition{
		Type: "collection", Status: "SUCCESS", Operator: "mtn", Country: "RW", Store: "shop", MSISDN: "+250788000777", Reference: "order-9*",
		Event: "payment.completed", Path: "/v1/payments", Attempt: 1, Percent: new(int32(0)), First: 3, From: "2026-11-22T10:00:00Z",
		Until: "2026-11-22T12:00:00Z", Every: true,
	}
	webhook := &v1alpha1.WebhookFault{
		Drop: true, Duplicate: 2, Overlap: true, Spacing: "500ms", OutOfOrder: true, Delay: "1m0s", BeforeAnswer: true, BadSignature: true,
		StaleTimestamp: "10m0s", Truncate: true, ContentType: "text/plain", UnknownField: true, UnknownEvent: true,
	}
	api := &v1alpha1.APIFault{Status: 503, RetryAfter: "2s", DropConnection: "AfterCommit", Delay: "3s", MalformedBody: true}
	callback := &v1alpha1.CallbackFault{Drop: true, Duplicate: 2, Overlap: true, Delay: "1m0s", BeforeAnswer: true}
	operator := &v1alpha1.OperatorFault{
		Status: 503, DropConnection: "AfterCommit", Delay: "3s", StatusStaysPending: "10m0s", StatusFlickers: true, Reason: "NOT_ALLOWED",
		Callback: callback,
	}
	fault := v1alpha1.Fault{Name: "all", When: when, Webhook: webhook, API: api, Operator: operator}
	for _, part := range []any{fault, *when, *webhook, *api, *operator, *callback} {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(part)) {
			if reflect.ValueOf(part).FieldByIndex(field.Index).IsZero() {
				t.Errorf("%T.%s has no value in this test", part, field.Name)
			}
		}
	}
	stored, err := faultsConfig([]v1alpha1.Fault{fault})
	if err != nil {
		t.Fatal(err)
	}
	read, err := faults.Parse(stored)
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(read)
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if json.Unmarshal(stored, &want) != nil || json.Unmarshal(again, &got) != nil {
		t.Fatalf("%s\n%s", stored, again)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-declared +read):\n%s", diff)
	}
}

func TestClockOfAResource(t *testing.T) {
	start := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		spec *v1alpha1.Clock
		want sandboxes.ClockConfig
	}{
		"none":   {},
		"real":   {&v1alpha1.Clock{Mode: "Real"}, sandboxes.ClockConfig{Mode: sandboxes.RealClock}},
		"manual": {&v1alpha1.Clock{Mode: "Manual"}, sandboxes.ClockConfig{Mode: sandboxes.ManualClock}},
		"a start": {
			&v1alpha1.Clock{Mode: "Manual", Start: "2026-11-22T12:00:00+02:00"},
			sandboxes.ClockConfig{Mode: sandboxes.ManualClock, Start: &start},
		},
	} {
		got, err := clockConfig(test.spec)
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	if _, err := clockConfig(&v1alpha1.Clock{Mode: "Manual", Start: "2026-02-30T00:00:00Z"}); !reconciler.IsStalling(err) {
		t.Errorf("a day that no month has: %v", err)
	}
}

func TestClockAndFaultsOfTheStatus(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 0, 0, 5000, time.UTC)
	shown := metav1.NewTime(now.Truncate(time.Second))
	for name, test := range map[string]struct {
		clock sandboxes.ClockState
		want  v1alpha1.ClockStatus
	}{
		"real":   {sandboxes.ClockState{Mode: sandboxes.RealClock}, v1alpha1.ClockStatus{Mode: "Real"}},
		"ahead":  {sandboxes.ClockState{Mode: sandboxes.RealClock, Ahead: 61 * time.Minute}, v1alpha1.ClockStatus{Mode: "Real", Offset: "1h1m0s"}},
		"behind": {sandboxes.ClockState{Mode: sandboxes.RealClock, Ahead: -time.Second}, v1alpha1.ClockStatus{Mode: "Real", Offset: "-1s"}},
		"manual": {sandboxes.ClockState{Mode: sandboxes.ManualClock, Now: &now}, v1alpha1.ClockStatus{Mode: "Manual", Now: &shown}},
	} {
		if diff := cmp.Diff(&test.want, clockStatus(test.clock)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	acted := []sandboxes.FaultState{{Name: "a", Acts: 2, Acted: &now}}
	if diff := cmp.Diff([]v1alpha1.FaultStatus{{Name: "a", Times: 2, LastTime: &shown}}, faultStatuses(acted)); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	if none := faultStatuses(nil); none != nil {
		t.Errorf("no fault acted: %v", none)
	}
}

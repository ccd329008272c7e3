package up

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cauri-dev/cauri/hack/localcluster/kube"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
)

const sampleSandbox = `
apiVersion: cauri.dev/v1alpha1
kind: SandboxEnvironment
metadata: {name: checkout, namespace: team-payments}
spec:
  environments: [{operator: mtn, country: RW}, {operator: moov, country: BJ}]
  stores: [{slug: shop}, {slug: kiosk}]
status: {binding: {name: checkout-credentials}}
`

func TestDescribeSample(t *testing.T) {
	t.Parallel()
	client := func(namespace, sandbox, msisdn string) string {
		return "apiVersion: cauri.dev/v1alpha1\nkind: TestClient\nmetadata: {name: c, namespace: " + namespace + "}\n" +
			"spec: {sandboxRef: {name: " + sandbox + "}, msisdn: '" + msisdn + "'}\n"
	}
	cases := map[string]struct {
		sandbox string
		clients []string
		want    sample
	}{
		"whole": {
			sampleSandbox,
			[]string{
				client("elsewhere", "checkout", "+22961000001"), client("team-payments", "other", "+22961000002"),
				client("team-payments", "checkout", "+250788123456"), client("team-payments", "checkout", "+250788123457"),
			},
			sample{
				namespace: "team-payments", name: "checkout", secret: "checkout-credentials",
				store: "shop", currency: "RWF", msisdn: "+250788123456",
			},
		},
		"no stores, no clients": {
			strings.ReplaceAll(strings.ReplaceAll(sampleSandbox, "  stores: [{slug: shop}, {slug: kiosk}]\n", ""), "country: RW", "country: CI"),
			nil,
			sample{namespace: "team-payments", name: "checkout", secret: "checkout-credentials", store: "checkout", currency: "XOF"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			objects := []*unstructured.Unstructured{testkit.ParseObject(t, c.sandbox)}
			for _, text := range c.clients {
				objects = append(objects, testkit.ParseObject(t, text))
			}
			got := describeSample(objects[0], objects)
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(sample{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Users paste the command: a shell has to split it into the right words.
func TestCurlIsACommand(t *testing.T) {
	t.Parallel()
	s := sample{
		url:      "http://127.0.0.1:8080/sandboxes/team-payments/checkout/",
		apiKey:   "key'1",
		store:    "shop",
		currency: "RWF",
		msisdn:   "+250788123456",
	}
	output, err := exec.Command("/bin/sh", "-c", `curl() { for word; do printf '%s\n' "$word"; done; }`+"\n"+s.curl("TRY-1")).Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Split(strings.TrimRight(string(output), "\n"), "\n")
	body := words[len(words)-1]
	want := []string{
		"-sS", "-X", "POST", "http://127.0.0.1:8080/sandboxes/team-payments/checkout/api/v1/payments",
		"-H", "Authorization: Bearer key'1", "-H", "Content-Type: application/json", "-d", body,
	}
	if diff := cmp.Diff(want, words); diff != "" {
		t.Error(diff)
	}
	var payment map[string]any
	if err := json.Unmarshal([]byte(body), &payment); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	wantPayment := map[string]any{"amount": 1500.0, "currency": "RWF", "msisdn": "+250788123456", "reference": "TRY-1", "application": "shop"}
	if diff := cmp.Diff(wantPayment, payment); diff != "" {
		t.Error(diff)
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ url, want string }{
		"default address":  {"http://127.0.0.1:9000/webhooks", "CAURI_WEBHOOK_SECRET=whsec_1 bin/cauri listen"},
		"another address":  {"http://localhost:9100/", "CAURI_WEBHOOK_SECRET=whsec_1 bin/cauri listen --address=localhost:9100"},
		"somewhere else":   {"https://shop.example/hooks", "sent to https://shop.example/hooks"},
		"somewhere, :port": {"http://10.0.0.1:9000/", "sent to http://10.0.0.1:9000/"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, sample{signingSecret: "whsec_1", webhookURL: c.url}.listen("bin/cauri")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A sandbox without a webhook gets that of `cauri listen`; the others keep theirs.
func TestAddReceiver(t *testing.T) {
	t.Parallel()
	object := func(kind string, spec map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"kind": kind, "spec": spec}}
	}
	own := map[string]any{"url": "http://shop.default.svc/"}
	objects := []*unstructured.Unstructured{
		object(kube.EnvironmentKind, map[string]any{}),
		object(kube.EnvironmentKind, map[string]any{"webhook": own}),
		object(kube.TestClientKind, map[string]any{}),
		{Object: map[string]any{"kind": "Secret"}},
	}
	addReceiver(objects)
	var got []any
	for _, one := range objects {
		webhook, _, _ := unstructured.NestedFieldNoCopy(one.Object, "spec", "webhook")
		got = append(got, webhook)
	}
	if diff := cmp.Diff([]any{map[string]any{"url": "http://127.0.0.1:9000/webhooks"}, own, nil, nil}, got); diff != "" {
		t.Error(diff)
	}
}

func TestBanner(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	full := banner{
		dir:        ".cauri",
		cauri:      "bin/cauri",
		kubectl:    "bin/kubectl",
		kubeconfig: "/home/a b/.cauri/kubeconfig",
		baseURL:    "http://127.0.0.1:8080",
		stop:       "bin/localcluster down",
		running:    []process.Process{{Name: process.APIName, Address: "http://127.0.0.1:8080", Log: "/x/api.log"}},
		sample: &sample{
			namespace: "team",
			name:      "checkout",
			secret:    "s",
			url:       "http://u",
			apiKey:    "k",
			store:     "shop",
			currency:  "RWF",
			msisdn:    "+1",

			webhookURL: "http://127.0.0.1:9000/webhooks",
		},
	}
	if err := full.print(&text); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"/x/api.log", "http://u/api/v1/payments", "http://u/console", "bin/kubectl -n team get secret s", "bin/cauri listen",
		`export KUBECONFIG='/home/a b/.cauri/kubeconfig' PATH="$PWD/bin:$PATH"`, "bin/localcluster down",
	} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("the banner does not say %q:\n%s", part, &text)
		}
	}
	text.Reset()
	full.sample.msisdn, full.kubectl = "", "kubectl"
	if err := full.print(&text); err != nil || strings.Contains(text.String(), "curl") {
		t.Errorf("a payment without a number is shown (%v):\n%s", err, &text)
	}
	if strings.Contains(text.String(), "PATH") {
		t.Errorf("a kubectl that is in PATH is added to it:\n%s", &text)
	}
}

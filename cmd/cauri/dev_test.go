package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/stories"
)

func TestVariablesOfDev(t *testing.T) {
	for flag, want := range map[string]string{
		"database-url": "CAURI_DATABASE_URL", "key": "CAURI_API_KEY", "webhook-secret": "CAURI_WEBHOOK_SECRET", "port": "CAURI_PORT",
	} {
		if got := variableOf(devName, flag); got != want {
			t.Errorf("--%s: got %s, want %s", flag, got, want)
		}
	}
}

// What a sandbox or a program wrote begins no line of what `cauri dev` prints, and the lines of its own texts stay.
func TestDevSaysOthersTextsOnOneLine(t *testing.T) {
	var out bytes.Buffer
	c := newDevConsole(&out, strings.NewReader(""))
	c.say("The expectation %s/%s %s", "team", "paid", "has failed: transactions where orderRef=a\n::error::boom: 1.")
	c.say("Nothing was changed:\n%s", cli.Complaint(errors.New("shop.yaml: a\n::error::boom")))
	c.banner("http://localhost:8080", []devSandbox{{
		SandboxEnvironment: &v1alpha1.SandboxEnvironment{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "checkout"}},
		uri:                "http://localhost:8080/sandboxes/team/checkout", key: "k", note: "a\n::error::boom",
	}}, time.Second)
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			t.Errorf("a line is %q in\n%s", line, out.String())
		}
	}
	if !strings.Contains(out.String(), "\ncauri: shop.yaml: a\ncauri: ") || !strings.Contains(out.String(), "\n\nSandbox team/checkout\n\n") {
		t.Errorf("it says\n%s", out.String())
	}
}

// The page lists every flag with its default.
func TestDevFlagsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/dev.md")
	if err != nil {
		t.Fatal(err)
	}
	newDevCommand().LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if !strings.Contains(string(page), "| `--"+flag.Name+"`") {
			t.Errorf("docs/dev.md does not list --%s", flag.Name)
		}
	})
}

func TestDevOptionsCheck(t *testing.T) {
	good := devOptions{port: 8080, key: "cauri_sk_test_" + strings.Repeat("a", 40), webhookSecret: strings.Repeat("b", 16)}
	if err := good.check(); err != nil {
		t.Error(err)
	}
	for want, o := range map[string]devOptions{
		"--key (CAURI_API_KEY)":                   {key: "secret"},
		"--webhook-secret (CAURI_WEBHOOK_SECRET)": {webhookSecret: "short"},
		"--port=70000":                            {port: 70000},
		"--data is the folder":                    {data: "x", databaseURL: "y"},
		"--watch needs --file":                    {watch: true},
		"--story has the resources":               {story: "double-tap", files: []string{"x.yaml"}},
		"--country is that of the sample":         {country: "CI", files: []string{"x.yaml"}},
		"--print-sample prints the resources":     {printSample: true, story: "double-tap"},
		"--base-url must be":                      {baseURL: "localhost"},
		"--base-url must be the URL of a host, such as https://pay.test, and has more than that": {baseURL: "https://pay.test/cauri"},
	} {
		if err := o.check(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret\"") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestDevConsole(t *testing.T) {
	var out bytes.Buffer
	c := &devConsole{out: &out}
	sandbox := v1alpha1.SandboxEnvironment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop"}}
	sandbox.Spec.Environments = []v1alpha1.Environment{{Operator: "mtn", Country: "RW"}}
	sandbox.Spec.Stores = []v1alpha1.Store{{Slug: "kiosk"}}
	sandbox.Status.Balances = []v1alpha1.Balance{{Currency: "RWF", Amount: 77}}
	sandbox.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionOperatorCredentialsReady, Status: metav1.ConditionFalse, Message: "The Secret has no label.",
	}}
	client := v1alpha1.TestClient{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "alice"}}
	client.Spec.MSISDN = "+250788000001"
	c.status([]v1alpha1.SandboxEnvironment{sandbox}, []v1alpha1.TestClient{client})
	c.banner("http://127.0.0.1:8080", []devSandbox{{SandboxEnvironment: &sandbox, uri: "http://x", key: "k", secret: "s", note: "Times are"}}, time.Second)
	for _, want := range []string{
		"77 RWF", "default/alice", "CAURI_URI=http://x\n", `"msisdn":"` + nobody + `"`, `"scenario":"success"`, `"application":"kiosk"`,
		`"currency":"RWF"`, "after 1 s.", "\n  Times are\n", "\n  The Secret has no label.\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in\n%s", want, out.String())
		}
	}
}

func TestWritePrivately(t *testing.T) {
	path := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writePrivately(path, "new"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	text, readErr := os.ReadFile(path)
	if err := errors.Join(err, readErr); err != nil || info.Mode().Perm() != 0o600 || string(text) != "new" {
		t.Errorf("%v, %q, %v", info.Mode(), text, err)
	}
	if err := writePrivately(filepath.Join(path, "x"), ""); err == nil {
		t.Error("a file in a file")
	}
}

// A sandbox that was removed by its ttl is named; one that was removed from the files is not.
func TestSayGone(t *testing.T) {
	var out bytes.Buffer
	d := &dev{console: &devConsole{out: &out}}
	named := func(name string, expires time.Time) devSandbox {
		s := &v1alpha1.SandboxEnvironment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		s.Spec.TTL, s.Status.ExpiresAt = "1m", &metav1.Time{Time: expires}
		return devSandbox{SandboxEnvironment: s}
	}
	stays := named("stays", time.Now())
	d.sayGone([]devSandbox{stays, named("ended", time.Now()), named("removed", time.Now().Add(time.Hour))}, []devSandbox{stays})
	if got := out.String(); got != "The sandbox default/ended was removed: its ttl of 1m has ended.\n" {
		t.Errorf("got %q", got)
	}
}

// The names under which the API answers are those of the flag and of the base URL, beside local ones.
func TestDevHosts(t *testing.T) {
	t.Parallel()
	o := devOptions{allowedHosts: []string{"shop.test", "*.ngrok.app"}, baseURL: "https://Pay.example.com:8443"}
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	hosts, err := o.hosts(o.publicURL(nil))
	if err != nil {
		t.Fatal(err)
	}
	for host, refused := range map[string]string{
		"pay.example.com": "", "shop.test:8080": "", "a.ngrok.app": "", "localhost": "", "evil.example": "evil.example",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if r.Host = host; hosts.Refused(r) != refused {
			t.Errorf("%s is refused for %q", host, hosts.Refused(r))
		}
	}
	o.allowedHosts = []string{"https://shop.test"}
	if err := o.check(); err == nil || !strings.Contains(err.Error(), "--allowed-hosts") {
		t.Errorf("a URL is taken for a name: %v", err)
	}
}

func TestPortsOfOperatorsAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "map[] true", "auto": "map[] true", "off": "map[] false", "mtn=20801": "map[mtn:20801] false", "orange=1, moov=65535": "map[moov:65535 orange:1] false",
	} {
		listed, choose, err := devOptions{operatorPorts: text}.ports()
		if got := fmt.Sprint(listed, " ", choose); err != nil || got != want {
			t.Errorf("%q is read as %s (%v), want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"on", "20801", "mtn", "mtn=", "mtn=0", "mtn=65536", "mtn=x", "vodafone=20801", "mtn=1,mtn=2", "mtn=1,", "=1"} {
		if err := (devOptions{operatorPorts: text}).check(); err == nil || !strings.Contains(err.Error(), "such as mtn=20801; the operators are mtn") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Each story is a sandbox of `cauri dev`, in its own country and in others, but for those of an operator's own API.
func TestStoriesOfDev(t *testing.T) {
	of := map[string]payments.Operator{
		"mtn-in-doubt": payments.MTN, "flapping-query": payments.MPesa, "lost-callback": payments.MPesa, "duplicate-confirmation": payments.MPesa,
	}
	for _, story := range stories.All() {
		for _, country := range []payments.Country{"", "bj", "SN", "ZM", "KE"} {
			manifests, err := devOptions{story: story.Name, country: string(country), webhookURL: "http://127.0.0.1:9"}.manifests(t.Context())
			if own := of[story.Name]; own != "" && country != "" && !own.In(payments.Country(strings.ToUpper(string(country)))) {
				want := fmt.Sprintf("%s is not in %s: it is in %s", own, strings.ToUpper(string(country)), payments.AllOf(own.Countries()))
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s in %q: %v", story.Name, country, err)
				}
				continue
			}
			if err != nil || len(manifests.Sandboxes()) != 1 || manifests.Sandboxes()[0].Name != story.Name {
				t.Errorf("%s in %q: %v, %v", story.Name, country, manifests.Sandboxes(), err)
			}
		}
	}
	for want, o := range map[string]devOptions{
		"--story=none: there is no such story": {story: "none"}, "mtn is not in FR: it is in CI": {story: "double-tap", country: "FR"},
	} {
		if _, err := o.manifests(t.Context()); cli.ExitCode(err) != cli.ExitUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// The sample is that of a country, is complete, and is the same by --file.
func TestDevSample(t *testing.T) {
	for country, want := range map[string]string{
		"": "orange/CI XOF awa-kone +2250700000001, aline-mukamana +250788000001", "ci": "orange/CI XOF awa-kone +2250700000001",
		"RW": "mtn/RW RWF aline-mukamana +250788000001", "BJ": "mtn/BJ XOF afi-dossou +2290197000001", "TG": "moov/TG XOF kossi-mensah +22896000001",
	} {
		var printed bytes.Buffer
		if err := (devOptions{country: country}).writeSample(&printed); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "sandbox.yaml")
		if err := os.WriteFile(file, printed.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, o := range []devOptions{{country: country}, {files: []string{file}}} {
			if manifests, err := o.manifests(t.Context()); err != nil || len(manifests.Sandboxes()) != 1 {
				t.Errorf("%v: %v, %v", o.files, manifests.Sandboxes(), err)
			}
		}
		text := printed.String()
		var phones []string
		for _, c := range payments.Countries {
			p := c.Facts().Payer
			if _, after, found := strings.Cut(text, "name: "+p.Resource+"\n"); found && strings.Contains(after, p.MSISDN) {
				phones = append(phones, p.Resource+" "+p.MSISDN)
			}
		}
		var operator, market, currency string
		_, after, _ := strings.Cut(text, "operator: ")
		if _, err := fmt.Sscanf(after, "%s country: %s", &operator, &market); err != nil {
			t.Error(err)
		}
		_, after, _ = strings.Cut(text, "currency: ")
		_, _ = fmt.Sscan(after, &currency)
		got := strings.ReplaceAll(fmt.Sprintf("%s/%s %s ", operator, market, currency), ",", "") + strings.Join(phones, ", ")
		if got != want || strings.Count(text, "kind: TestClient") != len(phones) || strings.Count(text, "operator: ") != len(payments.Markets) {
			t.Errorf("--country=%s: got %s, want %s in\n%s", country, got, want, text)
		}
	}
	err := (devOptions{country: "ZZ"}).writeSample(io.Discard)
	_, again := (devOptions{country: "ZZ"}).manifests(t.Context())
	if cli.ExitCode(err) != cli.ExitUsage || again == nil || err.Error() != again.Error() ||
		!strings.Contains(err.Error(), "--country=ZZ (CAURI_COUNTRY): write one of "+payments.OneOf(payments.Countries)) {
		t.Errorf("got %v and %v", err, again)
	}
}

// Each country has a phone for the sample. It is one of its operator by its number, so that its resource need not name the operator.
func TestPhonesOfTheSample(t *testing.T) {
	for _, c := range payments.Countries {
		p := c.Facts().Payer
		operator, country, ok := operators.Detect(nil, p.MSISDN)
		if !ok || country != c || operators.CheckLength(nil, p.MSISDN) != nil || p.Name == "" || p.Resource == "" {
			t.Errorf("%+v is of %s in %s, want one of %s", p, operator, country, c)
		}
	}
}

// The first payment is one of the first enabled environment, whatever the names of the test clients are.
func TestFirstPaymentIsOfTheFirstEnvironment(t *testing.T) {
	sandbox := v1alpha1.SandboxEnvironment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop"}}
	sandbox.Spec.Stores = []v1alpha1.Store{{Slug: "shop"}}
	sandbox.Spec.TestNumbers = "Standard"
	sandbox.Spec.Environments = []v1alpha1.Environment{
		{Operator: "mtn", Country: "RW", Enabled: new(false)}, {Operator: "orange", Country: "CI"}, {Operator: "moov", Country: "BJ"},
	}
	client := func(name, msisdn, operator, country string) v1alpha1.TestClient {
		c := v1alpha1.TestClient{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		c.Spec = v1alpha1.TestClientSpec{SandboxRef: v1alpha1.SandboxReference{Name: "shop"}, MSISDN: msisdn, State: "Active", Behavior: "Approve"}
		c.Status = v1alpha1.TestClientStatus{Operator: v1alpha1.Operator(operator), Country: v1alpha1.Country(country)}
		return c
	}
	aline, koffi := client("aline", "+250788000001", "mtn", "RW"), client("koffi", "+2250500000001", "mtn", "CI")
	awa := client("awa", "+2250700000001", "orange", "CI")
	blocked := client("aa", "+2250700000009", "orange", "CI")
	blocked.Spec.State = "Blocked"
	for want, clients := range map[string][]v1alpha1.TestClient{
		`"currency":"XOF","operator":"orange","country":"CI","msisdn":"+2250700000001"`: {aline, blocked, koffi, awa},
		`"currency":"XOF","operator":"mtn","country":"CI","msisdn":"+2250500000001"`:    {aline, koffi},
		`"currency":"RWF","operator":"mtn","country":"RW","msisdn":"+250788000001"`:     {blocked, aline},
		`"currency":"XOF","operator":"orange","country":"CI","msisdn":"+2250730000901"`: {blocked},
	} {
		one := devSandbox{SandboxEnvironment: &sandbox, payer: payerOf(&sandbox, clients)}
		if got := string(one.firstPayment("linux", "r")); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	powerShell := string(devSandbox{SandboxEnvironment: &sandbox, uri: "http://localhost:8080/sandboxes/default/shop", key: "k"}.firstPayment("windows", "r"))
	if !strings.Contains(powerShell, "Invoke-RestMethod") || !strings.Contains(powerShell, "-Body '{\"amount\":1500") || strings.Contains(powerShell, "curl") ||
		strings.Count(powerShell, "`\n") != 2 {
		t.Errorf("on Windows it is\n%s", powerShell)
	}
	sandbox.Spec.Environments = sandbox.Spec.Environments[:1]
	if got := (devSandbox{SandboxEnvironment: &sandbox}).firstPayment("linux", "r"); got != "" {
		t.Errorf("a sandbox without an enabled environment gets %s", got)
	}
}

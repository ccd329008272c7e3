package cli

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/cauri-dev/cauri/cmd/cauri/kube"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

func TestStatusOfAResource(t *testing.T) {
	f := newFixture(t)
	c := newCluster(t, f.url)
	f.run("pay", "--scenario=success", "--reference=order-1")
	c.run("status", "checkout").want(t, ExitSuccess, "team/checkout", "1098 RWF", "7 events delivered, 2 failed", "WebhookReady",
		"DeliveryFailing", "the receiver answered 500", "order-1")
	found := decoded[state](t, c.run("status", "checkout", "-o", "json"))
	if found.Status == nil || found.Status.Transactions.Total != 3 || len(found.Latest) != 1 {
		t.Errorf("the status is %+v", found)
	}
	c.run("pay", "checkout", "--application=none").want(t, ExitRefused, `has no store "none". Send one of its stores as application: shop.`)
	c.run("check", "checkout").want(t, ExitSuccess, "v1.36.1", "right to patch sandboxenvironments", "is SUCCESS")
}

// A used-up quota and a start that waits for a reset are reasons of Ready, and the status shows why.
func TestStatusShowsWhyAReadySandboxIsNot(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "http://127.0.0.1:1/sandboxes/team/checkout")
	for from, to := range map[string]string{
		`"spec":{`: `"spec":{"quota":{"monthlyTransactions":2},`, `"status":{`: `"status":{"quota":{"used":2,"renewsAt":"2026-06-01T00:00:00Z"},`,
		`"reason":"Ready","message":"all is applied"`: `"reason":"QuotaExceeded","message":"the quota is used up"`,
	} {
		c.sandbox = []byte(strings.Replace(string(c.sandbox), from, to, 1))
	}
	ends := TimeText(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
	c.run("status", "checkout").want(t, ExitSuccess, "Quota    2 of 2 transactions of this month, which ends "+ends,
		"QuotaExceeded", "the quota is used up")
	c.run("list").want(t, ExitSuccess, "True    QuotaExceeded")
}

// A condition of an earlier spec says nothing about the present one, and Ready nothing about the other conditions.
func TestCheckLooksAtEachCondition(t *testing.T) {
	f := newFixture(t)
	c := newCluster(t, f.url)
	is := func(from, to string) { c.sandbox = []byte(strings.Replace(string(c.sandbox), from, to, 1)) }
	c.run("check", "checkout").want(t, ExitSuccess, "skipped   WebhookReady", "DeliveryFailing")
	is(`"type":"WebhookReady"`, `"type":"LedgerBalanced"`)
	c.run("check", "checkout").want(t, ExitNegative, "FAILED   LedgerBalanced", "the sandbox is ready")
	is(`"type":"LedgerBalanced","status":"False"`, `"type":"InstallationConflict","status":"True"`)
	c.run("check", "checkout").want(t, ExitNegative, "FAILED   InstallationConflict", "the sandbox is ready")
	is(`"generation":1`, `"generation":2`)
	c.run("check", "checkout").want(t, ExitNegative, "has not looked at the last change of its spec")
	c.run("status", "checkout").want(t, ExitSuccess, "has not looked at the last change of the spec yet")
}

// What the resource tells is shown also where the API tells nothing.
func TestStatusWithoutTheAPI(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "http://127.0.0.1:1/sandboxes/team/checkout")
	c.run("status", "checkout").want(t, ExitSuccess, "1000 RWF", "Nothing more is known", "this machine does not reach 127.0.0.1:1",
		"no pod of Cauri's api runs")
	c.run("payers", "checkout").want(t, ExitUnavailable, "--cauri-namespace")
	c.denied["GET /api/v1/namespaces/team/secrets/checkout-credentials"], c.denied["get secrets"] = true, true
	c.run("payers", "checkout").want(t, ExitRefused, "you may not get secrets in the namespace team")
	c.run("check", "checkout").want(t, ExitNegative, "you may not get secrets", "which is needed by")
}

func TestSandboxesThatAreNot(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "http://127.0.0.1:1")
	c.run("status", "chekout").want(t, ExitRefused, `no sandbox "chekout"; it has checkout`)
	c.run("suspend", "chekout").want(t, ExitRefused, "it has checkout")
	c.run("status", "checkout", "-n", "other").want(t, ExitRefused, "Cauri is not installed there, or this is another cluster")
	c.run("status", "team/checkout", "-n", "other").want(t, ExitUsage, "leave -n out")
	cauri := run(t, Options{}, "status", "--sandbox=team/checkout", "--kubeconfig="+c.kubeconfig)
	cauri.want(t, ExitSuccess, "team/checkout")
	c.secret[keyURI] = ""
	c.run("payers", "checkout").want(t, ExitRefused, "is the sandbox ready?")
}

func TestVerbsChangeTheResource(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "http://127.0.0.1:1")
	c.applied = reconciled
	c.run("reset", "checkout").want(t, ExitSuccess, "The sandbox team/checkout is empty: no transactions")
	c.run("suspend", "checkout").want(t, ExitSuccess, "is suspended")
	if !strings.Contains(string(c.sandbox), `"suspend":true`) {
		t.Errorf("the resource is %s", c.sandbox)
	}
	c.run("status", "checkout").want(t, ExitSuccess, "the sandbox is suspended")
	c.run("resume", "checkout").want(t, ExitSuccess, "is resumed")
	c.run("rotate", "checkout", "key").want(t, ExitSuccess, "has a new API key, in the Secret checkout-credentials")
	c.run("rotate", "checkout", "secret").want(t, ExitSuccess, "has a new signing secret")
	c.run("rotate", "checkout", "both").want(t, ExitUsage, "write key or secret")
	c.run("rotate", "checkout").want(t, ExitUsage, "key|secret is missing")
	for _, field := range []string{`"reset":"2`, `"keyRotation":"2`, `"secretRotation":"2`, `"suspend":false`} {
		if !strings.Contains(string(c.sandbox), field) {
			t.Errorf("there is no %s in %s", field, c.sandbox)
		}
	}
	c.run("rotate", "checkout", "secret").want(t, ExitSuccess)
	c.sandbox = []byte(strings.Replace(string(c.sandbox), `"webhook":{"secret`, `"webhook":{"signingSecretRef":{"name":"own"},"secret`, 1))
	c.run("rotate", "checkout", "secret").want(t, ExitRefused, "is your own: change the Secret own")
	c.sandbox = []byte(strings.Replace(string(c.sandbox), `"webhook":{"signing`, `"was":{"signing`, 1))
	c.run("rotate", "checkout", "secret").want(t, ExitRefused, "checkout has no webhook", "add spec.webhook.url to it")
	c.sandbox = []byte(strings.Replace(string(c.sandbox), `"spec":{`, `"spec":{"credentials":{"apiKeySecretRef":{"name":"ours"}},`, 1))
	c.run("rotate", "checkout", "key").want(t, ExitRefused, "is your own: change it in the Secret ours")
	c.applied = nil
	c.run("reset", "checkout", "--timeout=1ms").want(t, ExitUnavailable, "does it run?")
	c.run("reset", "checkout", "--wait=false").want(t, ExitSuccess, "the controller applies it")
	c.denied["PATCH "+sandboxesOfTeam+"/checkout"] = true
	c.run("reset", "checkout").want(t, ExitRefused, "you may not patch sandboxenvironments in the namespace team")
}

// Where nothing names a sandbox, the file .env.cauri of the folder or of one above it does, unless another user could have put it there.
func TestSandboxFromAFileNearby(t *testing.T) {
	f := newFixture(t)
	folder := t.TempDir()
	below := filepath.Join(folder, "src", "payments")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, ".env.cauri")
	if err := os.WriteFile(path, []byte("CAURI_URI="+f.url+"\nCAURI_API_KEY="+testKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{folder, below} {
		run(t, Options{Folder: at}, "payers").want(t, ExitSuccess, alice, "The sandbox is that of "+path)
	}
	run(t, Options{Folder: below}, "payers", "--env-file=/none").want(t, ExitUsage, "--env-file")
	if r := run(t, Options{Folder: below}, "__complete", "events", ""); strings.Contains(r.out+r.progress, "The sandbox is that of") {
		t.Errorf("a completion says %q, %q", r.out, r.progress)
	}
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	run(t, Options{Folder: below}, "payers").want(t, ExitUsage, "no sandbox: pass --sandbox")
}

func TestSandboxFromAFile(t *testing.T) {
	f := newFixture(t)
	path := filepath.Join(t.TempDir(), "env")
	text := "# of cauri dev\nexport CAURI_URI=" + f.url + "\nCAURI_API_KEY='" + testKey + "'\nCAURI_WEBHOOK_SECRET=" + testSecret + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, Options{}, "payers", "--env-file="+path).want(t, ExitSuccess, alice)
	run(t, Options{}, "payers", "--url="+f.url, "--api-key="+testKey, "--env-file=/none").want(t, ExitSuccess, alice) // CAURI_URI comes first
	if r := run(t, Options{}, "listen", "--print-secret", "--env-file="+path); r.out != testSecret+"\n" {
		t.Errorf("got %q, %v", r.out, r.err)
	}
}

func TestCompletion(t *testing.T) {
	f := newFixture(t)
	c := newCluster(t, f.url)
	id := strings.TrimSpace(f.run("pay", "--scenario=success", "-o", "name").out)
	pending := strings.TrimSpace(f.run("pay", "--msisdn="+manual, "--wait=false", "-o", "name").out)
	complete := func(args ...string) []string {
		t.Helper()
		r := run(t, Options{Plugin: true}, append([]string{"__complete"}, args...)...)
		var values []string
		for line := range strings.Lines(r.out) {
			value, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			values = append(values, value)
		}
		return values[:max(0, len(values)-1)] // without the directive
	}
	at := "--kubeconfig=" + c.kubeconfig
	described := run(t, Options{Plugin: true}, "__complete", "pay", at, "checkout", "--msisdn", "").out
	if !strings.Contains(described, alice+"\tApprove  49900 RWF  mtn/RW  alice\n") || !strings.Contains(described, manual+"\tManual") {
		t.Errorf("numbers are completed without what their payers do:\n%s", described)
	}
	for _, one := range []struct{ want, got []string }{
		{[]string{"checkout"}, complete("status", at, "")},
		{nil, complete("status", at, "x")},
		{[]string{id}, complete("refund", at, "checkout", "TX")},
		{[]string{pending}, complete("approve", at, "checkout", "")},
		{[]string{"evt_" + strings.TrimPrefix(id, "TX_")}, complete("events", at, "checkout", "")},
		{[]string{alice, manual}, complete("pay", at, "checkout", "--msisdn", "")},
		{[]string{"key", "secret"}, complete("rotate", at, "checkout", "")},
		{[]string{"json", "yaml", "name"}, complete("status", at, "checkout", "-o", "")},
	} {
		if !slices.Equal(one.got, one.want) {
			t.Errorf("completed %q, want %q", one.got, one.want)
		}
	}
}

// Where this machine does not reach the URL, the API is reached through a pod of it.
func TestPortForward(t *testing.T) {
	f := newFixture(t)
	c := newCluster(t, "http://cauri-api.payments.svc/sandboxes/team/checkout")
	const pods = "/api/v1/namespaces/payments/pods"
	c.other["GET "+pods] = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("labelSelector") != "app.kubernetes.io/part-of=cauri,app.kubernetes.io/component=api" {
			t.Errorf("asked for %s", r.URL.RawQuery)
		}
		fmt.Fprint(w, `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"api-1"},
			"spec":{"containers":[{"ports":[{"name":"health","containerPort":8081},{"name":"http","containerPort":8080}]}]}}]}`)
	}
	c.streams["POST "+pods+"/api-1/portforward"] = forwardTo(t, f.url, nil)
	c.run("payers", "checkout", "--port-forward").want(t, ExitSuccess, alice)

	delete(c.streams, "POST "+pods+"/api-1/portforward")
	c.denied["POST "+pods+"/api-1/portforward"], c.denied["create pods"] = true, true
	c.run("payers", "checkout", "--port-forward").want(t, ExitRefused, "the right to create pods/portforward")
	c.other["GET "+pods] = func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusForbidden, "Forbidden", "you are a guest")
	}
	c.run("payers", "checkout", "--port-forward").want(t, ExitRefused, "the rights to list pods and to create pods/portforward")
}

// A port-forward whose pod ends goes on through another one. As long as there is none, a request goes nowhere: no port of this machine
// leads to the pod, that somebody else could take meanwhile and be sent the API key.
func TestPortForwardIsOpenedAgain(t *testing.T) {
	f := newFixture(t)
	c := newCluster(t, "http://cauri-api.payments.svc/sandboxes/team/checkout")
	const pods = "/api/v1/namespaces/payments/pods"
	const pod = `{"metadata":{"name":"%s"%s},"spec":{"containers":[{"ports":[{"name":"http","containerPort":8080}]}]},
		"status":{"conditions":[{"type":"Ready","status":"%s"}]}}`
	running := fmt.Sprintf(pod, "api-1", "", "True")
	c.other["GET "+pods] = func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"kind":"PodList","items":[%s]}`, running)
	}
	ended := make(chan struct{})
	c.streams["POST "+pods+"/api-1/portforward"] = forwardTo(t, f.url, ended)
	c.streams["POST "+pods+"/api-3/portforward"] = forwardTo(t, f.url, nil)
	s, _, err := (&target{plugin: true, kube: kube.Flags{Kubeconfig: c.kubeconfig}, forward: true}).find(t.Context(), []string{"checkout"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	api, err := s.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.Clock(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.mutex.Lock()
	running = ""
	c.mutex.Unlock()
	close(ended)
	eventually(t, "no way to a pod", func() bool {
		_, err := api.Clock(t.Context())
		return err != nil && strings.Contains(err.Error(), "no pod of Cauri's api runs in the namespace payments")
	})
	c.mutex.Lock()
	running = strings.Join([]string{fmt.Sprintf(pod, "api-1", `,"deletionTimestamp":"2026-05-31T12:00:00Z"`, "True"),
		fmt.Sprintf(pod, "api-2", "", "False"), fmt.Sprintf(pod, "api-3", "", "True")}, ",")
	c.mutex.Unlock()
	eventually(t, "an answer through the other pod", func() bool {
		_, err := api.Clock(t.Context())
		return err == nil
	})
}

// forwardTo is the kubelet's part of a port-forward, by SPDY: each stream of data is a connection to the server at a URL. It ends with the
// channel.
func forwardTo(t *testing.T, to string, ended <-chan struct{}) http.HandlerFunc {
	at, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := httpstream.Handshake(r, w, []string{portforward.PortForwardProtocolV1Name}); err != nil {
			t.Error(err)
			return
		}
		streams := make(chan httpstream.Stream, 10)
		connection := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
			streams <- s
			return nil
		})
		if connection == nil {
			t.Error("no upgrade")
			return
		}
		defer func() { _ = connection.Close() }()
		for {
			select {
			case <-connection.CloseChan():
				return
			case <-ended:
				return
			case stream := <-streams:
				if stream.Headers().Get("streamType") != "data" {
					continue
				}
				backend, err := net.Dial("tcp", at.Host)
				if err != nil {
					t.Error(err)
					return
				}
				go func() { _, _ = io.Copy(backend, stream); _ = backend.(*net.TCPConn).CloseWrite() }()
				go func() { _, _ = io.Copy(stream, backend); _ = stream.Close() }()
			}
		}
	}
}

// A service at the URL that is not Cauri's is not taken for the sandbox's API.
func TestAnotherServiceAtTheURL(t *testing.T) {
	t.Parallel()
	other := serverOf(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusNotFound) })
	c := newCluster(t, other)
	c.run("payers", "checkout").want(t, ExitUnavailable, "this machine does not reach")
	run(t, Options{}, "payers", "--url="+other, "--api-key=k").want(t, ExitRefused, "is another service at this address?")
	page := serverOf(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) })
	run(t, Options{}, "payers", "--url="+page, "--api-key=k").want(t, ExitRefused, "is another service at this address?")
}

// What a server says in an error controls no terminal.
func TestErrorsArePrintable(t *testing.T) {
	t.Parallel()
	hostile := serverOf(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"error":"a\u001b[2J","message":"b\u009b2J\r","detail":{"fieldErrors":{"c\u001b]0;":["d\u0007"]}}}`)
	})
	r := run(t, Options{}, "payers", "--url="+hostile, "--api-key=k")
	if text := PrintableLines(r.err.Error()); strings.ContainsAny(text, "\u001b\u009b\r\u0007") || !strings.Contains(text, "\n") {
		t.Errorf("it is printed as %q", text)
	}
}

func TestPaymentsNameTheStoreOfTheResource(t *testing.T) {
	f := newFixture(t)
	c := newCluster(t, f.url)
	made := decoded[wire.Payment](t, c.run("pay", "checkout", "--scenario=success", "-o", "json"))
	if made.Application != "shop" || made.MSISDN != alice {
		t.Errorf("the payment is %+v", made)
	}
}

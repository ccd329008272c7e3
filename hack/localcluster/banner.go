package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var secretResource = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}

// sample is a sandbox to try things with, as the user needs to know it.
type sample struct {
	namespace, name string
	secret          string
	url, apiKey     string
	store           string
	currency        string // of the first environment
	msisdn          string // of a TestClient; empty if there is none
	webhookURL      string // empty if webhooks are not sent
	signingSecret   string
}

// currencies are those of the countries that a sandbox can have environments in.
var currencies = map[string]string{"CI": "XOF", "BJ": "XOF", "TG": "XOF", "RW": "RWF"}

// findSample describes the first sandbox among objects that are ready; nil if there is none.
func (c *cluster) findSample(ctx context.Context, objects []*unstructured.Unstructured) (*sample, error) {
	for _, object := range objects {
		if object.GetKind() != environmentKind {
			continue
		}
		found := describeSample(object, objects)
		if found.secret == "" {
			return nil, fmt.Errorf("%s is ready, but its status.binding.name does not say where its credentials are", describe(object))
		}
		secret, err := c.dynamic.Resource(secretResource).Namespace(found.namespace).Get(ctx, found.secret, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("reading the credentials of %s: %w", describe(object), err)
		}
		for key, into := range map[string]*string{"uri": &found.url, "api-key": &found.apiKey, "webhook-signing-secret": &found.signingSecret} {
			if *into, err = secretValue(secret, key); err != nil {
				return nil, err
			}
		}
		return &found, nil
	}
	return nil, nil
}

// describeSample takes from a sandbox, and from the TestClients that name it, what a first payment needs.
func describeSample(sandbox *unstructured.Unstructured, objects []*unstructured.Unstructured) sample {
	found := sample{namespace: sandbox.GetNamespace(), name: sandbox.GetName(), store: sandbox.GetName()}
	found.secret, _, _ = unstructured.NestedString(sandbox.Object, "status", "binding", "name")
	found.webhookURL, _, _ = unstructured.NestedString(sandbox.Object, "spec", "webhook", "url")
	if slug := firstOf(sandbox, "stores")["slug"]; slug != nil {
		found.store = fmt.Sprint(slug)
	}
	found.currency = currencies[fmt.Sprint(firstOf(sandbox, "environments")["country"])]
	for _, object := range objects {
		of, _, _ := unstructured.NestedString(object.Object, "spec", "sandboxRef", "name")
		if object.GetKind() == testClientKind && object.GetNamespace() == found.namespace && of == found.name {
			found.msisdn, _, _ = unstructured.NestedString(object.Object, "spec", "msisdn")
			break
		}
	}
	return found
}

// firstOf returns the first entry of a list of objects in the spec, nil if there is none.
func firstOf(object *unstructured.Unstructured, list string) map[string]any {
	entries, _, _ := unstructured.NestedSlice(object.Object, "spec", list)
	if len(entries) == 0 {
		return nil
	}
	first, _ := entries[0].(map[string]any)
	return first
}

func secretValue(secret *unstructured.Unstructured, key string) (string, error) {
	encoded, _, _ := unstructured.NestedString(secret.Object, "data", key)
	value, err := base64.StdEncoding.DecodeString(encoded)
	if err == nil && len(value) == 0 {
		err = errors.New("it is missing")
	}
	if err != nil {
		return "", fmt.Errorf("reading %s of the %s: %w", key, describe(secret), err)
	}
	return string(value), nil
}

// banner is what up says at its end: all that is needed for a first payment.
type banner struct {
	dir        string // as it was given: it is pasted into the shell that up was run in
	cauri      string
	running    []process
	kubeconfig string
	baseURL    string
	sample     *sample
	reference  string // of the payment that is shown
	stop       string // command
}

func (b banner) print(out io.Writer) error {
	fmt.Fprintln(out)
	if err := printProcesses(out, b.running); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nCauri runs at %s\n", b.baseURL)
	if b.sample != nil {
		b.printSample(out)
	}
	fmt.Fprintf(out, `
  kubectl     export KUBECONFIG=%s
  settings    %s/env
  stop        %s
`, shellWord(b.kubeconfig), b.dir, b.stop)
	return nil
}

func (b banner) printSample(out io.Writer) {
	s := b.sample
	fmt.Fprintf(out, `
  sandbox     %s/%s
  base URL    %s
  API key     %s
  Secret      kubectl -n %s get secret %s -o yaml
  webhooks    %s
`, s.namespace, s.name, s.url, s.apiKey, s.namespace, s.secret, s.listen(b.cauri))
	if s.msisdn == "" || s.currency == "" {
		return
	}
	fmt.Fprintf(out, "\na first payment:\n\n%s\n", s.curl(b.reference))
}

// defaultReceiver is where `cauri listen` listens when it is not told otherwise.
const defaultReceiver = "127.0.0.1:9000"

// listen is the command that shows the webhooks of the sandbox, in a second terminal.
func (s sample) listen(cauri string) string {
	command := "CAURI_WEBHOOK_SECRET=" + shellWord(s.signingSecret) + " " + cauri + " listen"
	if s.webhookURL == "" {
		return command + "\n              (none are sent yet: set the sandbox's spec.webhook.url to http://" + defaultReceiver + "/)"
	}
	receiver, err := url.Parse(s.webhookURL)
	if err != nil || receiver.Port() == "" || !isLoopback(receiver.Hostname()) {
		return "sent to " + s.webhookURL
	}
	if receiver.Host != defaultReceiver {
		command += " --address=" + shellWord(receiver.Host)
	}
	return command
}

func isLoopback(host string) bool {
	address := net.ParseIP(host)
	return host == "localhost" || address.IsLoopback()
}

// curl is a command that makes a payment. The reference has to be new for every payment; a repeated one shows that
// idempotency works.
func (s sample) curl(reference string) string {
	body := fmt.Sprintf(`{"amount": 1500, "currency": %q, "msisdn": %q, "reference": %q, "application": %q}`,
		s.currency, s.msisdn, reference, s.store)
	return strings.Join([]string{
		"  curl -sS -X POST " + shellWord(strings.TrimRight(s.url, "/")+"/api/v1/payments") + ` \`,
		"    -H " + shellWord("Authorization: Bearer "+s.apiKey) + ` \`,
		`    -H 'Content-Type: application/json' \`,
		"    -d " + shellWord(body),
	}, "\n")
}

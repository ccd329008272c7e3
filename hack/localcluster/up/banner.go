package up

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

// banner is the final output of up: everything for a first payment.
type banner struct {
	dir        string // as the user wrote it; the user pastes the output into the same shell
	cauri      string
	kubectl    string
	running    []process.Process
	kubeconfig string
	baseURL    string
	sample     *sample
	reference  string // reference of the example payment
	stop       string // command that stops the set
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
  kubectl     export KUBECONFIG=%s%s
  settings    %s/env
  stop        %s
`, shellWord(b.kubeconfig), b.path(), b.dir, b.stop)
	return nil
}

// path returns a line that puts kubectl into PATH, so that the commands of the documents work; "" if kubectl is in PATH.
func (b banner) path() string {
	if !strings.ContainsRune(b.kubectl, filepath.Separator) {
		return ""
	}
	folder := filepath.Dir(b.kubectl)
	if !filepath.IsAbs(folder) {
		folder = "$PWD/" + folder
	}
	return fmt.Sprintf(" PATH=\"%s:$PATH\"", folder)
}

func (b banner) printSample(out io.Writer) {
	s := b.sample
	fmt.Fprintf(out, `
  sandbox     %s/%s
  base URL    %s
  console     %[3]s/console
  API key     %[4]s
  Secret      %[5]s -n %[1]s get secret %[6]s -o yaml
  webhooks    %[7]s
`, s.namespace, s.name, s.url, s.apiKey, b.kubectl, s.secret, s.listen(b.cauri))
	if s.msisdn == "" || s.currency == "" {
		return
	}
	fmt.Fprintf(out, "\nTry a first payment:\n\n%s\n", s.curl(b.reference))
}

// defaultReceiver is the default address of `cauri listen`.
const defaultReceiver = "127.0.0.1:9000"

// listen returns the command that shows the webhooks of the sandbox in a second terminal.
func (s sample) listen(cauri string) string {
	command := "CAURI_WEBHOOK_SECRET=" + shellWord(s.signingSecret) + " " + cauri + " listen"
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

// curl returns a command that makes a payment. Every payment needs a new reference. A repeated request with the same
// reference shows idempotency.
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

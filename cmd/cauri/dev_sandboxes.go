package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"os"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// sandboxes returns the existing sandboxes with their credentials.
func (d *dev) sandboxes() []devSandbox {
	var all []devSandbox
	clients := d.resources.TestClients()
	found := d.resources.Sandboxes()
	for i := range found {
		s := devSandbox{SandboxEnvironment: &found[i]}
		secret := d.resources.Secret(types.NamespacedName{Namespace: s.Namespace, Name: s.CredentialsSecretName()})
		s.uri, s.key, s.secret = secret["uri"], secret["api-key"], secret["webhook-signing-secret"]
		s.native = nativeVariablesOf(secret)
		slices.SortStableFunc(s.native, func(a, b nativeVariables) int { return cmp.Compare(s.first(a.operator), s.first(b.operator)) })
		s.payer = payerOf(s.SandboxEnvironment, clients)
		all = append(all, s)
	}
	return all
}

// first returns the index of the first environment of an operator.
func (s *devSandbox) first(o payments.Operator) int {
	return slices.IndexFunc(s.Spec.Environments, func(e v1alpha1.Environment) bool { return payments.Operator(e.Operator) == o })
}

// payerOf returns a test client of a sandbox that pays: one of its first enabled environment, else one of that country, else
// any; nil for none.
func payerOf(s *v1alpha1.SandboxEnvironment, clients []v1alpha1.TestClient) (payer *v1alpha1.TestClient) {
	first, best := firstEnabled(s), -1
	for i := range clients {
		t := &clients[i]
		if t.Namespace != s.Namespace || t.Spec.SandboxRef.Name != s.Name || t.Spec.State != v1alpha1.TestClientActive || t.Spec.Behavior != "Approve" {
			continue
		}
		fits := 0
		if first != nil && t.Status.Country == first.Country {
			fits++
			if t.Status.Operator == first.Operator {
				fits++
			}
		}
		if fits > best {
			payer, best = t, fits
		}
	}
	return payer
}

// firstEnabled returns the first enabled environment of a sandbox; nil for none.
func firstEnabled(s *v1alpha1.SandboxEnvironment) *v1alpha1.Environment {
	for i := range s.Spec.Environments {
		if e := &s.Spec.Environments[i]; e.Enabled == nil || *e.Enabled {
			return e
		}
	}
	return nil
}

// currentResources returns the sandboxes and their test clients with current values from the API, because the status of
// the resources may be some seconds old.
func (d *dev) currentResources(ctx context.Context, api *url.URL) ([]v1alpha1.SandboxEnvironment, []v1alpha1.TestClient) {
	ctx, cancel := context.WithTimeout(ctx, consoleTimeout)
	defer cancel()
	store := sandboxes.New(d.db, sandboxes.Options{})
	all, clients := d.resources.Sandboxes(), d.resources.TestClients()
	for _, s := range d.sandboxes() {
		i := slices.IndexFunc(all, func(one v1alpha1.SandboxEnvironment) bool { return one.UID == s.UID })
		counts, health, err := store.Counts(ctx, string(s.UID))
		var accounts wire.LedgerAccountList
		if err == nil {
			accounts, err = sandboxAPI(api, s).Ledger(ctx, math.MaxInt)
		}
		if i < 0 || err != nil { // the sandbox is being deleted or is suspended: its status is kept
			continue
		}
		status := &all[i].Status
		status.Transactions = &v1alpha1.TransactionCounts{Total: counts.Total, Pending: counts.Pending}
		status.Webhook = &v1alpha1.WebhookStatus{Delivered: health.Delivered, Failed: health.Failed}
		status.Balances = nil
		for _, a := range accounts.Data {
			if a.MSISDN == nil {
				status.Balances = append(status.Balances, v1alpha1.Balance{Currency: v1alpha1.Currency(a.Currency), Amount: a.Balance})
				continue
			}
			for j := range clients {
				if clients[j].Namespace == s.Namespace && clients[j].Spec.SandboxRef.Name == s.Name && clients[j].Spec.MSISDN == *a.MSISDN {
					clients[j].Status.Balance = &a.Balance
				}
			}
		}
	}
	return all, clients
}

// openConsole makes a link to the console of the first sandbox, prints it and opens it in a browser.
func (d *dev) openConsole(ctx context.Context, api *url.URL) {
	all := d.sandboxes()
	if len(all) == 0 {
		return
	}
	soon, cancel := context.WithTimeout(ctx, consoleTimeout)
	defer cancel()
	link, err := sandboxAPI(api, all[0]).ConsoleLink(soon, wire.ConsoleLinkRequest{})
	if err != nil {
		d.console.say("There is no link to the console of %s: %s", all[0], cli.Message(err))
		return
	}
	d.console.say("This link opens the console of %s once, within five minutes:\n%s", all[0], link.URL)
	go cli.Browse(ctx, link.URL) // it waits for the browser
}

// announce prints the sandboxes, and writes the files.
func (d *dev) announce(after time.Duration, notes map[string]string) error {
	all := d.sandboxes()
	for i := range all {
		all[i].note = notes[all[i].String()]
	}
	if _, err := d.writeEnvFile(all); err != nil {
		return err
	}
	if d.options.whenReady != nil {
		d.console.say("Cauri is ready at %s. The credentials of the sandbox are in %s.", d.baseURL, d.options.envFile)
		d.options.whenReady()
		return nil
	}
	d.console.banner(d.baseURL.String(), all, after)
	d.tellStory()
	if file := d.options.readyFile; file != "" {
		if err := writePrivately(file, d.baseURL.String()+"\n"); err != nil {
			return fmt.Errorf("--ready-file: %w", err)
		}
	}
	return nil
}

// writeEnvFile writes the file of --env-file. It reports whether its content changed.
func (d *dev) writeEnvFile(all []devSandbox) (changed bool, err error) {
	if d.options.envFile == "" {
		return false, nil
	}
	if len(all) != 1 {
		return false, cli.Usage(fmt.Errorf("--env-file is for one sandbox, and there are %d: leave it out and take what is printed", len(all)))
	}
	text := all[0].variables()
	if before, err := os.ReadFile(d.options.envFile); err == nil && string(before) == text {
		return false, nil
	}
	if err := writePrivately(d.options.envFile, text); err != nil {
		return false, fmt.Errorf("--env-file: %w", err)
	}
	return true, nil
}

// sayGone prints the sandboxes that were deleted because their ttl ended.
func (d *dev) sayGone(before, now []devSandbox) {
	left := map[string]bool{}
	for _, s := range now {
		left[s.String()] = true
	}
	for _, s := range before {
		if !left[s.String()] && s.Spec.TTL != "" && s.Status.ExpiresAt != nil && !time.Now().Before(s.Status.ExpiresAt.Time) {
			d.console.say("The sandbox %s was removed: its ttl of %s has ended.", s, s.Spec.TTL)
		}
	}
}

// consoleTimeout bounds the requests to the API after a key press.
const consoleTimeout = 2 * time.Second

// sandboxAPI returns a client of a sandbox's API. api is the base URL of all sandboxes on this machine.
func sandboxAPI(api *url.URL, s devSandbox) *sandboxapi.Client {
	return sandboxapi.New(api.JoinPath("sandboxes", s.Namespace, s.Name).String(), s.key, nil)
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

func (p *program) checkCommand() *cobra.Command {
	var o output
	var pay, ledger bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the installation through a sandbox: versions, your rights, the database, a payment",
		Long: `Check the installation through a sandbox: the versions, your rights in Kubernetes, the
sandbox's conditions, the database, and a payment of 1 with the scenario success. The
exit code is 5 if a check fails.

--ledger verifies every entry of the sandbox's ledger now, and says which balance is
wrong, by how much and between which entries. It makes a payment only with --pay.`,
		Example: "  " + p.called("check", "") + "\n  " + p.called("check", "--pay=false") + "\n  " + p.called("check", "--ledger"),
	}
	t := p.target(cmd)
	cmd.Flags().BoolVar(&pay, "pay", true, "make a payment of 1 in the sandbox")
	cmd.Flags().BoolVar(&ledger, "ledger", false, "verify every entry of the ledger, and make no payment unless --pay is given too")
	cmd.Flags().DurationVar(&timeout, "timeout", time.Minute, "how long the payment may take")
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		s, _, err := t.find(cmd.Context(), args)
		if err != nil {
			return err
		}
		defer s.close()
		var c checks
		c.add("this program", resultOK, "%s", p.Version)
		if s.cluster != nil {
			checkCluster(cmd.Context(), s, &c)
		}
		pay = pay && (!ledger || cmd.Flags().Changed("pay"))
		if api := p.checkAPI(cmd.Context(), s, &c); api != nil {
			p.checkPayment(cmd.Context(), api, s, &c, pay, timeout)
			if ledger {
				checkLedger(cmd.Context(), api, &c)
			}
		}
		if err := printList(cmd, &o, whole(c.lines), func(line *checked) string { return line.Check }, func(out io.Writer) {
			rows := make([][]string, 0, len(c.lines))
			for _, line := range c.lines {
				rows = append(rows, []string{line.Result, line.Check, line.Note})
			}
			table(out, Table{Titles: "RESULT CHECK NOTE", Rows: rows, Shorten: "NOTE", Whole: "NOTE"})
		}); err != nil {
			return err
		}
		if n := c.failed(); n > 0 {
			return negative("check_failed", "%d of %d checks failed", n, len(c.lines))
		}
		return nil
	}
	return cmd
}

// rights are the rights in Kubernetes that the commands use.
var rights = []struct{ verb, group, resource, needed string }{
	{"get", "cauri.dev", "sandboxenvironments", "every command"},
	{"patch", "cauri.dev", "sandboxenvironments", "reset, suspend, resume and rotate"},
	{"get", "", "secrets", "what calls the API: pay, events, tail and others"},
}

func checkCluster(ctx context.Context, s *sandbox, c *checks) {
	version, err := s.cluster.Version(ctx)
	if !c.of("Kubernetes", err, "%s at %s", version, s.cluster.Host()) {
		return
	}
	for _, right := range rights {
		name := "right to " + right.verb + " " + right.resource
		allowed, err := s.cluster.Allowed(ctx, right.verb, right.group, right.resource, "", s.key.Namespace)
		if err == nil && !allowed {
			err = fmt.Errorf("you may not %s %s in the namespace %s, which is needed by %s", right.verb, right.resource, s.key.Namespace, right.needed)
		}
		c.of(name, err, "for %s", right.needed)
	}
	resource, err := s.read(ctx)
	if !c.of("the sandbox", err, "%s", s.key) {
		return
	}
	checkConditions(resource, c)
}

// checkConditions adds lines for the condition Ready and for those that are not well. A condition of an earlier spec says nothing.
func checkConditions(resource *v1alpha1.SandboxEnvironment, c *checks) {
	ready := meta.FindStatusCondition(resource.Status.Conditions, v1alpha1.ConditionReady)
	var err error
	switch {
	case ready == nil:
		err = errors.New("the controller has not looked at it: does it run, and does it watch this namespace?")
	case ready.ObservedGeneration < resource.Generation:
		err = errors.New("the controller has not looked at the last change of its spec: does it run?")
	case ready.Status != metav1.ConditionTrue:
		err = fmt.Errorf("%s: %s", ready.Reason, ready.Message)
	}
	if !c.of("the sandbox is ready", err, "%s", readyNote(ready)) {
		return
	}
	for _, condition := range resource.Status.Conditions {
		bad := metav1.ConditionFalse
		switch condition.Type {
		case v1alpha1.ConditionProcessingFailing, v1alpha1.ConditionStalled, v1alpha1.ConditionInstallationConflict:
			bad = metav1.ConditionTrue
		}
		switch {
		case condition.Status != bad || condition.Type == v1alpha1.ConditionReconciling:
		case condition.Type == v1alpha1.ConditionWebhookReady: // of the receiver, and not of the installation
			c.add(condition.Type, resultSkipped, "%s: %s", condition.Reason, condition.Message)
		default:
			c.add(condition.Type, resultFailed, "%s: %s", condition.Reason, condition.Message)
		}
	}
}

// readyNote returns the reason of a condition, with its message if that says more than the normal one.
func readyNote(ready *metav1.Condition) string {
	switch {
	case ready == nil:
		return ""
	case ready.Reason == v1alpha1.ReasonReady:
		return ready.Reason
	}
	return ready.Reason + ": " + ready.Message
}

// checkAPI returns a client of the API; nil if the API cannot be used.
func (p *program) checkAPI(ctx context.Context, s *sandbox, c *checks) *sandboxapi.Client {
	api, err := s.connect(ctx)
	where := s.uri
	if s.forward != nil {
		where = "by a port-forward"
	}
	if !c.of("way to the API", err, "%s", where) {
		return nil
	}
	health, err := api.Health(ctx)
	if !c.of("API and database", err, "version %s", cmp.Or(health.Version, "unknown")) {
		return nil
	}
	if health.Version != "" && health.Version != p.Version {
		c.add("versions", resultSkipped, "this program is %s and the API %s: use the same where a command fails", p.Version, health.Version)
	}
	meta, err := api.Meta(ctx)
	c.of("version of the interface", err, "%s", meta.APIVersion)
	return api
}

func (p *program) checkPayment(ctx context.Context, api *sandboxapi.Client, s *sandbox, c *checks, pay bool, timeout time.Duration) {
	if !pay {
		c.add("a payment", resultSkipped, "by the flags")
		return
	}
	made, err := p.trialPayment(ctx, api, s, timeout)
	c.of("a payment", err, "%s is %s", made.ID, made.Status)
}

// trialPayment makes a payment whose outcome does not depend on the payer.
func (p *program) trialPayment(ctx context.Context, api *sandboxapi.Client, s *sandbox, timeout time.Duration) (wire.Payment, error) {
	o := order{amount: 1}
	if err := o.complete(ctx, api); err != nil {
		return wire.Payment{}, err
	}
	var made wire.Payment
	err := o.forStore(s, func() (err error) {
		made, err = api.Pay(ctx, wire.CreatePaymentRequest{
			Amount: o.amount, Currency: o.currency, Operator: o.operator, Country: o.country, MSISDN: o.msisdn, Reference: o.reference,
			Application: o.application, Description: text("cauri check"), Scenario: string(payments.ScenarioSuccess),
		})
		return err
	})
	if err == nil && made.Status == string(payments.Pending) {
		made, err = p.awaitFinal(ctx, api, made, timeout)
	}
	if err == nil && made.Status != string(payments.Success) {
		err = fmt.Errorf("%s ended %s", made.ID, made.Status)
	}
	return made, err
}

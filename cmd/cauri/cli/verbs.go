package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/cmd/cauri/kube"
	"github.com/cauri-dev/cauri/server/payments"
)

// object is a part of a patch.
type object = map[string]any

// applied waits until the controller has applied a changed spec.
type applied struct {
	wait    bool
	timeout time.Duration
}

func (a *applied) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.wait, "wait", true, "wait until the change is applied")
	cmd.Flags().DurationVar(&a.timeout, "timeout", time.Minute, "how long to wait")
}

// patch changes the resource of a sandbox, and waits until the controller has applied the change.
func (p *program) patch(ctx context.Context, s *sandbox, a applied, change resourceChange) error {
	changed, err := s.cluster.Patch(ctx, s.key, object{"spec": change.spec})
	if err != nil || !a.wait {
		return err
	}
	soon, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	for now := changed; ; {
		ready := meta.FindStatusCondition(now.Status.Conditions, v1alpha1.ConditionReady)
		current := ready != nil && now.Status.ObservedGeneration >= changed.Generation && ready.ObservedGeneration >= changed.Generation
		if current && ready.Status == metav1.ConditionTrue && (change.done == nil || change.done(now)) {
			return nil
		}
		if pause(soon, p.await) != nil {
			why := "the controller has not looked at it: does it run?"
			if current {
				why = ready.Reason + ": " + ready.Message
			}
			return kube.Because(cmp.Or(ctx.Err(), context.DeadlineExceeded), "after %s the change of %s is not applied (%s)",
				payments.FormatDuration(a.timeout), s.key, why)
		}
		found, err := s.cluster.Sandbox(soon, s.key)
		switch {
		case err == nil:
			now = found
		case soon.Err() == nil:
			return err
		}
	}
}

// verb is a command that changes the resource of a sandbox.
type verb struct {
	name, short, long string
	arguments         []argument
	example           string // arguments of an example
	// change returns the change of the resource.
	change func(s *v1alpha1.SandboxEnvironment, rest []string) (resourceChange, error)
	// The function without changes a sandbox through the API, without a cluster. If nil, the command needs a cluster.
	without func(ctx context.Context, s *sandbox) (said string, err error)
}

// resourceChange is a change of a resource.
type resourceChange struct {
	spec object
	done func(*v1alpha1.SandboxEnvironment) bool // further condition for the end of the wait, beside Ready; may be nil
	said string                                  // message after the wait
}

func (p *program) verb(v verb) *cobra.Command {
	var a applied
	var o output
	example := v.example
	if v.without == nil && !p.Plugin {
		example = strings.TrimSpace(example + " --sandbox=team-payments/checkout")
	}
	cmd := &cobra.Command{Use: v.name, Short: v.short, Long: v.long, Example: "  " + p.called(v.name, example)}
	t := p.target(cmd, v.arguments...)
	a.add(cmd)
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		s, rest, err := t.find(cmd.Context(), args)
		if err != nil {
			return err
		}
		defer s.close()
		if s.cluster == nil && v.without != nil {
			said, err := v.without(cmd.Context(), s)
			if err != nil {
				return err
			}
			return printDone(cmd, o, done{s.String(), v.name, true, said})
		}
		resource, err := s.read(cmd.Context())
		if err != nil {
			return err
		}
		change, err := v.change(resource, rest)
		if err != nil {
			return err
		}
		if err := p.patch(cmd.Context(), s, a, change); err != nil {
			return err
		}
		if !a.wait {
			change.said = "is changed, and the controller applies it"
		}
		return printDone(cmd, o, done{s.String(), v.name, a.wait, fmt.Sprintf("The sandbox %s %s.", s.key, change.said)})
	}
	return cmd
}

// done is a change of a sandbox in output for programs.
type done struct {
	Sandbox string `json:"sandbox"`
	Done    string `json:"done"`    // name of the command
	Applied bool   `json:"applied"` // false: the command did not wait
	Message string `json:"message"`
}

func printDone(cmd *cobra.Command, o output, d done) error {
	return o.print(cmd.OutOrStdout(), d, []string{d.Sandbox}, func(out io.Writer) { Fprintf(out, "%s\n", d.Message) })
}

// stamp returns a new value for a field such as spec.keyRotation.
func (p *program) stamp() string { return stampTime(p.now()) }

// resetDone is the end of the message about a reset sandbox.
const resetDone = "is empty: no transactions, no events, balances as at the start"

func (p *program) resetCommand() *cobra.Command {
	return p.verb(verb{
		name: "reset", short: "Empty a sandbox: no transactions, no events, balances as at the start",
		long: `Empty a sandbox: no transactions, no events, balances as at the start. Its keys and
its configuration stay.

With the sandbox's resource it sets spec.reset. With only its API key it needs
spec.api.reset: true in the resource, as every sandbox of cauri dev has it.`,
		change: func(*v1alpha1.SandboxEnvironment, []string) (resourceChange, error) {
			value := p.stamp()
			done := func(s *v1alpha1.SandboxEnvironment) bool { return s.Status.ObservedReset == value }
			return resourceChange{object{"reset": value}, done, resetDone}, nil
		},
		without: func(ctx context.Context, s *sandbox) (string, error) {
			api, err := s.connect(ctx)
			if err != nil {
				return "", err
			}
			_, err = api.Reset(ctx)
			return fmt.Sprintf("The sandbox %s %s.", s, resetDone), err
		},
	})
}

func (p *program) suspendCommand() *cobra.Command {
	return p.suspension("suspend", "Pause a sandbox: the API answers 503 suspended, and nothing is settled or sent", true)
}

func (p *program) resumeCommand() *cobra.Command {
	return p.suspension("resume", "End the pause of a sandbox: what became due meanwhile is done now", false)
}

func (p *program) suspension(name, short string, suspend bool) *cobra.Command {
	said := "is resumed"
	if suspend {
		said = "is suspended"
	}
	return p.verb(verb{name: name, short: short, long: short + ".",
		change: func(*v1alpha1.SandboxEnvironment, []string) (resourceChange, error) {
			return resourceChange{spec: object{"suspend": suspend}, said: said}, nil
		}})
}

// likelyRotated matches the arguments of rotate. A matching argument is not a sandbox's name.
var likelyRotated = regexp.MustCompile(`^(key|secret)$`)

// The arguments of rotate.
const (
	rotateKey    = "key"
	rotateSecret = "secret"
)

func (p *program) rotateCommand() *cobra.Command {
	what := func(context.Context, *sandbox, string) []string { return []string{rotateKey, rotateSecret} }
	return p.verb(verb{
		name: "rotate", short: "Replace the API key, or the signing secret of the webhooks, in the sandbox's Secret",
		long: `Replace the API key (key), or the signing secret of the webhooks (secret), in the
sandbox's Secret. The previous key works on for spec.keyRotationGrace, the previous
secret signs too for 24 hours. The new one is not printed.`,
		arguments: []argument{{name: "key|secret", required: true, complete: what, form: likelyRotated}},
		example:   rotateKey,
		change: func(s *v1alpha1.SandboxEnvironment, rest []string) (change resourceChange, err error) {
			value := p.stamp()
			switch rest[0] {
			case rotateKey:
				if c := s.Spec.Credentials; c != nil && c.APIKeySecretRef != nil {
					return change, refusedError{fmt.Errorf("the API key is your own: change it in the Secret %s that "+
						"spec.credentials.apiKeySecretRef names", c.APIKeySecretRef.Name)}
				}
				done := func(s *v1alpha1.SandboxEnvironment) bool { return s.Status.ObservedKeyRotation == value }
				return resourceChange{object{"keyRotation": value}, done, "has a new API key, in the Secret " + s.CredentialsSecretName()}, nil
			case rotateSecret:
				if s.Spec.Webhook == nil {
					return change, refusedError{fmt.Errorf("the sandbox %s has no webhook, and so no signing secret in use: add spec.webhook.url to it, "+
						"the URL to which it sends its events", s.Name)}
				}
				if ref := s.Spec.Webhook.SigningSecretRef; ref != nil {
					return change, refusedError{fmt.Errorf("the signing secret is your own: change the Secret %s that "+
						"spec.webhook.signingSecretRef names", ref.Name)}
				}
				change.spec = object{"webhook": object{"secretRotation": value}}
				change.said = "has a new signing secret, in the Secret " + s.CredentialsSecretName()
				return change, nil
			}
			return change, usage(fmt.Errorf("%q cannot be rotated: write key or secret", rest[0]))
		},
	})
}

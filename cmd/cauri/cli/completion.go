package cli

import (
	"cmp"
	"context"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/kube"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// completionTimeout bounds the wait of a shell for completions.
const completionTimeout = 3 * time.Second

// complete completes the arguments of a command. It prints no errors, because a shell cannot show them.
func (t *target) complete(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	t.fillFromVariables()
	var all []string
	if t.plugin && len(args) == 0 {
		all = t.names(ctx)
	}
	if _, rest := t.split(args); len(rest) < len(t.arguments) && t.arguments[len(rest)].complete != nil {
		if s, _, err := t.find(ctx, args); err == nil {
			defer s.close()
			all = append(all, t.arguments[len(rest)].complete(ctx, s, typed)...)
		}
	}
	return startingWith(typed, all), cobra.ShellCompDirectiveNoFileComp
}

func startingWith(typed string, all []string) []string {
	var fit []string
	for _, one := range all {
		if strings.HasPrefix(one, typed) {
			fit = append(fit, one)
		}
	}
	return fit
}

// names returns the names of the sandboxes in the namespace.
func (t *target) names(ctx context.Context) []string {
	cluster, err := t.kube.Open()
	if err != nil {
		return nil
	}
	found, err := cluster.Sandboxes(ctx, cluster.Namespace)
	if err != nil {
		return nil
	}
	return kube.Names(found)
}

func (t *target) completeSandbox(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	if namespace, _, found := strings.Cut(typed, "/"); found {
		t.kube.Namespace = namespace
		names := t.names(ctx)
		for i := range names {
			names[i] = namespace + "/" + names[i]
		}
		return startingWith(typed, names), cobra.ShellCompDirectiveNoFileComp
	}
	return startingWith(typed, t.names(ctx)), cobra.ShellCompDirectiveNoFileComp
}

// listed is the maximum number of values of a completion.
const listed = 100

// described returns a completion with a description, which shells show beside it.
func described(value, description string) string {
	return cobra.CompletionWithDesc(value, Printable(description))
}

// completeNumbers returns the numbers of the test clients, then the test numbers by country and operator. Their notes
// begin with what the holder does.
func completeNumbers(ctx context.Context, s *sandbox, _ string) (numbers []string) {
	for _, one := range accountsOf(ctx, s) {
		note := one.note
		if one.name == "" {
			note += "  " + one.market()
		}
		numbers = append(numbers, described(one.msisdn, note))
	}
	return numbers
}

// completePayers returns the numbers of the test clients.
func completePayers(ctx context.Context, s *sandbox, _ string) (numbers []string) {
	for _, one := range accountsOf(ctx, s) {
		if one.name != "" {
			numbers = append(numbers, described(one.msisdn, one.note))
		}
	}
	return numbers
}

func completeNames(ctx context.Context, s *sandbox, _ string) (names []string) {
	for _, one := range accountsOf(ctx, s) {
		if one.name != "" {
			names = append(names, described(one.name, one.note))
		}
	}
	return names
}

// accountsOf returns none if the sandbox does not answer.
func accountsOf(ctx context.Context, s *sandbox) []account {
	api, err := s.connect(ctx)
	if err != nil {
		return nil
	}
	all, _ := (&order{}).accounts(ctx, api)
	return all
}

// inOrder makes shells keep the order of a completion.
func inOrder(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		all, directive := complete(cmd, args, typed)
		return all, directive | cobra.ShellCompDirectiveKeepOrder
	}
}

// payerNote returns a text with the behavior of a payer.
func payerNote(c *wire.TestClient) string {
	return strings.Join([]string{c.Behavior, money(c.Balance, c.Currency), c.Operator + "/" + c.Country, c.Name}, "  ")
}

// completePayments returns a completer of the ids of the transactions that match a query.
func completePayments(query url.Values) func(context.Context, *sandbox, string) []string {
	return func(ctx context.Context, s *sandbox, _ string) (ids []string) {
		api, err := s.connect(ctx)
		if err != nil {
			return nil
		}
		found, _ := api.Payments(ctx, query, listed)
		for i := range found {
			ids = append(ids, described(found[i].ID, paymentNote(&found[i])))
		}
		return ids
	}
}

func paymentNote(p *wire.Payment) string {
	return strings.Join([]string{money(p.Amount, p.Currency), p.MSISDN, p.Reference}, "  ")
}

func completeEvents(ctx context.Context, s *sandbox, _ string) (ids []string) {
	api, err := s.connect(ctx)
	if err != nil {
		return nil
	}
	found, _ := api.Events(ctx, nil, listed)
	for i := range found {
		ids = append(ids, described(found[i].ID, found[i].Event+"  "+found[i].State))
	}
	return ids
}

// flagCompleter returns a completion function for a flag. The values come from the sandbox.
func (t *target) flagCompleter(complete func(context.Context, *sandbox, string) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		t.fillFromVariables()
		s, _, err := t.find(ctx, args)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer s.close()
		return startingWith(typed, complete(ctx, s, typed)), cobra.ShellCompDirectiveNoFileComp
	}
}

// fillFromVariables sets flags from environment variables. Before a command, the program itself sets these flags.
// Before a completion, it does not.
func (t *target) fillFromVariables() {
	t.completing = true
	t.apiKey = cmp.Or(t.apiKey, os.Getenv(variableAPIKey))
	if t.sandbox == "" && t.uri == "" && t.envFile == "" && !t.kube.Given() {
		t.sandbox, t.uri, t.envFile = os.Getenv(variableSandbox), os.Getenv(variableURI), os.Getenv(variableEnvFile)
	}
}

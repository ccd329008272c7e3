package console

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// setup is the configuration of a sandbox, as far as the database knows it.
type setup struct {
	webhook      *ledger.Webhook
	stores       []string
	environments []environment
	native       []nativeAPI
	overview     *overview // with the faults
	sessions     []sandboxes.ConsoleSession
}

// environment is an operator in a country.
type environment struct {
	sandboxes.Market
	sandboxes.Environment
}

// nativeAPI is the own API of an operator.
type nativeAPI struct {
	operator  payments.Operator
	countries []payments.Country // of the sandbox's environments
	path      string             // of its base URL below the sandbox
	root      string             // base URL at the root of a host; empty for none
	entries   []string           // of the credentials Secret
}

// setup shows what a client needs, and the configuration of the sandbox.
func (c *Console) setup(v *visit) (page, error) {
	s, err := c.readSetup(v)
	return page{title: v.Text("Setup"), body: setupPage(v, s)}, err
}

func (c *Console) readSetup(v *visit) (*setup, error) {
	ctx, sandbox := v.ctx(), v.who.Sandbox
	s := &setup{
		stores: slices.Sorted(maps.Keys(sandbox.Stores)), native: nativeAPIsOf(sandbox), overview: &overview{faults: v.faults()},
	}
	for i := range s.native {
		if api := &s.native[i]; c.Roots != nil && sandbox.Has(api.operator) {
			api.root = c.Roots.URL(sandbox, api.operator)
		}
	}
	for _, m := range sandbox.Markets {
		s.environments = append(s.environments, environment{m, sandbox.Environments[m]})
	}
	var err error
	if s.webhook, err = c.Ledger.ReadWebhook(ctx, sandbox.Tenant); err != nil {
		return s, err
	}
	if s.overview.acts, err = c.Ledger.FaultActs(ctx, sandbox.Tenant, s.overview.faults); err != nil {
		return s, err
	}
	s.sessions, err = c.Sandboxes.ListConsoleSessions(ctx, sandbox)
	return s, err
}

// nativeAPIsOf returns the own APIs of the operators of a sandbox.
func nativeAPIsOf(sandbox *sandboxes.Sandbox) (all []nativeAPI) {
	countries := map[payments.Operator][]payments.Country{}
	for _, m := range sandbox.Markets {
		countries[m.Operator] = append(countries[m.Operator], m.Country)
	}
	for _, api := range operators.NativeAPIs() {
		if countries[api.Operator] != nil {
			all = append(all, nativeAPI{
				operator: api.Operator, countries: countries[api.Operator], path: "/operators/" + string(api.Operator),
				entries: slices.Sorted(maps.Keys(api.SecretEntries("", ""))),
			})
		}
	}
	return all
}

// lead returns sentences that describe the page, with the number of open sessions.
func (s *setup) lead(v *visit) string {
	return v.Text("What your code needs, and how this sandbox is made.") + " " +
		v.Count(int64(len(s.sessions)), "One session of this console is open.", "%s sessions of this console are open.")
}

// leftOf returns the remaining time of a session, as a text.
func (v *visit) leftOf(s *sandboxes.ConsoleSession) string {
	return v.Duration(time.Until(s.ExpiresAt).Truncate(time.Minute))
}

// countryList returns countries, separated by commas.
func countryList(countries []payments.Country) string {
	names := make([]string, len(countries))
	for i, country := range countries {
		names[i] = string(country)
	}
	return strings.Join(names, ", ")
}

// devFileCommand returns the commands that make a file of the sandbox of `cauri dev`, and start with it.
func (v *visit) devFileCommand() string {
	country := ""
	if markets := v.who.Sandbox.Markets; len(markets) > 0 {
		country = " --country=" + string(markets[0].Country)
	}
	return "cauri dev" + country + " --print-sample > sandbox.yaml\ncauri dev -f sandbox.yaml --watch --env-file=.env.cauri"
}

// entriesTitle returns the title of the credentials of operators' own APIs: where they are.
func (v *visit) entriesTitle() string {
	if v.dev {
		return v.Text("Variables of --env-file")
	}
	return v.Text("Entries of the Secret")
}

// entry returns the name of a credential where a person finds it.
func (v *visit) entry(name string) string {
	if v.dev {
		return "CAURI_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	}
	return name
}

// kubectl returns the commands that show what only the cluster knows.
func (v *visit) kubectl() string {
	in, resource := "kubectl -n "+v.namespace+" ", " sandboxenvironment "+v.name
	return in + "get" + resource + "\n" + in + "describe" + resource + "\n" + in + "get testclients,expectations\n" +
		in + "edit" + resource
}

// endSession ends a session of the console. It may be the visitor's own.
func (c *Console) endSession(v *visit) (httpfront.Answer, error) {
	id := v.form("session")
	err := c.renewing(v, func() error { return c.Sandboxes.EndConsoleSession(v.ctx(), v.who.Sandbox, id) })
	if errors.Is(err, sandboxes.ErrNoConsoleSession) {
		return httpfront.Answer{}, newProblem(http.StatusNotFound, v.Text("This session has ended already"),
			v.Text("Open Setup again to see which sessions are open."), "not_found")
	}
	if id == v.session.ID {
		return v.goTo("/sign-in"), err
	}
	return v.goTo("/setup"), err
}

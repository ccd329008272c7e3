// Command conformance checks an implementation of the /v1 mobile-money API against its specification, rule by rule,
// from outside. It needs only a base URL and a key, and shares no code with any server.
//
//	go run ./test/conformance -url http://localhost:8080/sandboxes/default/conformance -key cauri_sk_test_...
//
// Each rule is one statement with an id. A failure names both. sandbox.yaml has the resources that the rules need. A
// rule whose resources are missing is reported as not checked, never as passed. The suite can run repeatedly on the
// same sandbox: its references are unique, and it assumes neither an empty sandbox nor a certain balance. A sandbox
// without latency (latencyPercent 0) takes seconds. One with real latencies needs a longer -timeout. Run only one suite
// at a time: rules about the merchant's balance need it for themselves.
//
// With -webhook the suite listens at that address and also checks the events. The sandbox must send them there, and
// -secret is the secret of their signatures.
//
// The exit code is 0 if no rule failed, 1 if one did, and 2 if the suite could not run or has checked nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/test/conformance/rules"
	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// options are the flags of the command.
type options struct {
	url, key string
	webhook  string
	secret   string
	run      *regexp.Regexp
	verbose  bool
	list     bool
	timeout  time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := conform(ctx, os.Args[1:], rules.All(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// conform runs the command and returns the exit code.
func conform(ctx context.Context, args []string, rules []suite.Rule, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return suite.ExitPassed
	}
	if err != nil {
		return suite.ExitBroken
	}
	rules = suite.SelectRules(rules, o.run)
	if o.list {
		suite.PrintRules(stdout, rules)
		return suite.ExitPassed
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	s, err := suite.New(ctx, o.url, o.key, o.webhook, o.secret)
	if err != nil {
		fmt.Fprintln(stderr, "conformance:", err)
		return suite.ExitBroken
	}
	defer s.Close()
	r := suite.Report{Out: stdout, Verbose: o.verbose}
	for done := range s.Run(rules) {
		r.Add(done)
	}
	return r.Finish()
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	var pattern string
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.url, "url", "", "base `URL` of the sandbox, without /v1 or /api/v1")
	flags.StringVar(&o.key, "key", "", "API `key` of the sandbox")
	flags.StringVar(&pattern, "run", "", "check only the rules whose id matches this `regexp`")
	flags.BoolVar(&o.verbose, "v", false, "report every rule, including those that pass")
	flags.BoolVar(&o.list, "list", false, "print the rules without checking them")
	flags.StringVar(&o.webhook, "webhook", "", "`address` to receive events at, for example 127.0.0.1:9099; without it, events are not checked")
	flags.StringVar(&o.secret, "secret", "", "`secret` of the signatures of events")
	flags.DurationVar(&o.timeout, "timeout", 5*time.Minute, "time limit of the whole run")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	err := o.complete(pattern, flags.Args())
	if err != nil {
		fmt.Fprintln(stderr, "conformance:", err)
	}
	return o, err
}

// complete checks the options and converts them for the suite.
func (o *options) complete(pattern string, rest []string) (err error) {
	if o.run, err = regexp.Compile(pattern); err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	o.url = strings.TrimRight(o.url, "/")
	switch {
	case len(rest) > 0:
		return fmt.Errorf("%q is no flag", rest[0])
	case o.list:
		return nil
	case o.url == "" || o.key == "":
		return errors.New("set -url to the sandbox's base URL and -key to its API key")
	case o.webhook != "" && o.secret == "":
		return errors.New("-webhook needs -secret, the secret of the signatures of events")
	}
	return nil
}

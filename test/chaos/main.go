// Command chaos runs the whole system under load and injects faults, one after the other. After each fault it checks
// whether anything was lost, doubled or miscounted. It measures how long clients had no success.
//
//	KUBEBUILDER_ASSETS=$(bin/localcluster assets) go run ./test/chaos -rounds 100
//	go run ./test/chaos -rounds 5 -faults 'Postgres' -seed 7
//
// The exit code is 0 if everything is correct, 1 if an audit found a problem, and 2 if the system did not start or did
// not recover.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
)

// Exit codes.
const (
	exitSound  = 0
	exitWrong  = 1
	exitBroken = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.SetOutput(stderr)
	rounds := flags.Int("rounds", 100, "number of faults, one after the other")
	pattern := flags.String("faults", "", "regular expression of the faults, for example 'api|worker frozen'; empty: all")
	seed := flags.Uint64("seed", 0, "seed of all random choices; 0: a new one for each run")
	page := flags.String("markdown", filepath.Join("bin", "chaos.md"), "file for the tables")
	logs := flags.String("logs", filepath.Join("bin", "chaos-logs"), "folder for the logs if an audit finds a problem")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitSound
	} else if err != nil {
		return exitBroken
	}
	selected, err := selectFaults(*pattern)
	if err == nil && *rounds < 1 {
		err = fmt.Errorf("-rounds=%d: must be 1 or more", *rounds)
	}
	if err != nil {
		fmt.Fprintln(stderr, "chaos:", err)
		return exitBroken
	}
	if *seed == 0 {
		*seed = 1 + rand.Uint64N(1_000_000)
	}
	draw := rand.New(rand.NewPCG(*seed, 0))
	result, err := chaos(ctx, sequence(selected, *rounds, draw), draw, filepath.Join("config", "crd"), *logs, stdout)
	text := report(*seed, result.rounds, result.transactions, result.problems)
	fmt.Fprint(stdout, "\n", text)
	err = errors.Join(err, os.WriteFile(*page, []byte(text), 0o644))
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "chaos: %v; repeat it with SEED=%d\n", err, *seed)
		return exitBroken
	case len(result.problems) > 0:
		fmt.Fprintf(stderr, "chaos: the audit found problems, see above and %s; repeat it with SEED=%d\n", *logs, *seed)
		return exitWrong
	}
	return exitSound
}

func selectFaults(pattern string) (selected []fault, err error) {
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("-faults: %w", err)
	}
	selected = slices.DeleteFunc(slices.Clone(faults), func(f fault) bool { return !expression.MatchString(f.String()) })
	if len(selected) == 0 {
		return nil, fmt.Errorf("-faults=%s: no such fault; the faults are: %v", pattern, faults)
	}
	return selected, nil
}

// result is the result of all rounds.
type result struct {
	rounds       []outcome
	transactions int64
	problems     []string
}

// chaos starts the system and injects faults. It saves the logs if an audit finds a problem.
func chaos(ctx context.Context, sequence []fault, draw *rand.Rand, crds, logs string, progress io.Writer) (r result, err error) {
	folder, err := os.MkdirTemp("", "cauri-chaos-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	w, err := openFixture(ctx, folder, crds)
	if err != nil {
		return r, err
	}
	defer func() {
		if err != nil || len(r.problems) > 0 {
			err = errors.Join(err, w.saveLogs(logs))
		}
		err = errors.Join(err, w.close())
	}()
	return w.strike(ctx, sequence, draw, progress)
}

// strike injects one fault in each round. It stops after the first round with a problem.
func (w *fixture) strike(ctx context.Context, sequence []fault, draw *rand.Rand, progress io.Writer) (r result, err error) {
	l := w.begin(ctx)
	for i, f := range sequence {
		o, err := l.round(ctx, f, draw)
		for _, problem := range l.wrong() {
			r.problems = append(r.problems, fmt.Sprintf("round %d, %s: %s", i+1, f, problem))
		}
		if err != nil || len(r.problems) > 0 {
			l.stop()
			return r, err
		}
		r.rounds = append(r.rounds, o)
		fmt.Fprintf(progress, "round %d of %d: %s\n", i+1, len(sequence), o)
	}
	l.quiet.Lock()
	l.end()
	if r.problems, err = w.auditAll(ctx); err != nil {
		return r, err
	}
	r.transactions, err = w.Count(ctx, "select count(*) from transactions")
	return r, err
}

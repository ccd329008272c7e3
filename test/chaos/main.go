// Command chaos runs the whole system and breaks one part of it after the other, under load, and looks after each fault whether
// anything was lost, doubled or miscounted, and how long clients were without what they came for.
//
//	KUBEBUILDER_ASSETS=$(bin/localcluster assets) go run ./test/chaos -rounds 100
//	go run ./test/chaos -rounds 5 -faults 'Postgres' -seed 7
//
// The exit code is 0 if nothing was wrong, 1 if an audit found something, and 2 if the system did not come up or back.
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
	rounds := flags.Int("rounds", 100, "faults, one after the other")
	pattern := flags.String("faults", "", "regular expression of the faults, for example 'api|worker frozen'; empty: all")
	seed := flags.Uint64("seed", 0, "what is drawn by chance follows from it; 0: another one each time")
	page := flags.String("markdown", filepath.Join("bin", "chaos.md"), "file for the tables")
	logs := flags.String("logs", filepath.Join("bin", "chaos-logs"), "folder that the logs are kept in when something is wrong")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitSound
	} else if err != nil {
		return exitBroken
	}
	selected, err := selectFaults(*pattern)
	if err == nil && *rounds < 1 {
		err = fmt.Errorf("-rounds=%d: write 1 or more", *rounds)
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
		fmt.Fprintf(stderr, "chaos: something is wrong, see above and %s; repeat it with SEED=%d\n", *logs, *seed)
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
		return nil, fmt.Errorf("-faults=%s: there is no such fault; these are all: %v", pattern, faults)
	}
	return selected, nil
}

// result is what all rounds came to.
type result struct {
	rounds       []outcome
	transactions int64
	problems     []string
}

// chaos brings the system up and strikes it with faults. It keeps the logs if something is wrong.
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

// strike strikes the system with faults, one a round. It ends after the round in which something is wrong.
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

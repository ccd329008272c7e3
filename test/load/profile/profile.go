// Package profile records profiles of api and worker under load, and the statements with the highest cost.
package profile

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/cases"
	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// kinds are the profiles, recorded at the same time.
var kinds = []struct{ name, path string }{
	{"cpu", "profile"}, {"allocs", "allocs"}, {"block", "block"}, {"mutex", "mutex"},
}

// Run is the command that records profiles of api and worker under load, and the statements with the highest cost.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("load profile", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", "bin/profiles", "output folder")
	length := flags.Duration("length", 20*time.Second, "duration of the load")
	program := report.ProgramFlag(flags)
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return report.ExitMet
	} else if err != nil {
		return report.ExitBroken
	}
	if err := takeProfiles(ctx, *program, *out, *length, stdout); err != nil {
		fmt.Fprintln(stderr, "load profile:", err)
		return report.ExitBroken
	}
	return report.ExitMet
}

func takeProfiles(ctx context.Context, program, out string, length time.Duration, stdout io.Writer) (err error) {
	if length < time.Second {
		return fmt.Errorf("-length=%s: must be 1s or more", length)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "cauri-load-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	built, err := bench.BuildPrograms(ctx, folder, program)
	if err != nil {
		return err
	}
	b, end, err := bench.Open(ctx, built, report.Settings{Rounds: 1, Length: report.Duration(length)}, stdout, bench.Statements...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	return profile(ctx, b, out, stdout)
}

// profile records everything under load.
func profile(ctx context.Context, b *bench.Bench, out string, stdout io.Writer) error {
	s, err := bench.OpenReceiver()
	if err != nil {
		return err
	}
	defer s.Close()
	l := &bench.Assembly{Bench: b}
	addresses := map[string]string{}
	for _, name := range []string{"api", "worker"} {
		port, err := b.Port(name + "'s profiles")
		if err != nil {
			return err
		}
		addresses[name] = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	}
	if l.Apis, err = b.Apis(ctx, 1, "--profile-address="+addresses["api"]); err != nil {
		return err
	}
	if l.Workers, err = b.Workers(ctx, 1, "--profile-address="+addresses["worker"]); err != nil {
		return err
	}
	subjects, err := Mixed(ctx, l, s.URL)
	if err != nil {
		return err
	}
	if err := cases.Filled(ctx, subjects[0], 1000); err != nil {
		return err
	}
	gets, err := cases.Gets(ctx, b, l.Sandboxes, l.Apis...)
	if err != nil {
		return err
	}
	if _, err := b.SQL.Exec(ctx, "create extension if not exists pg_stat_statements; select pg_stat_statements_reset()"); err != nil {
		return err
	}
	length := time.Duration(b.Settings.Length)
	var taking sync.WaitGroup
	failures := make(chan error, len(kinds)*len(addresses))
	for name, address := range addresses {
		for _, kind := range kinds {
			taking.Go(func() {
				from := fmt.Sprintf("http://%s/debug/pprof/%s?seconds=%d", address, kind.path, int(length.Seconds()))
				failures <- download(ctx, from, filepath.Join(out, name+"."+kind.name+".pprof"))
			})
		}
	}
	results, err := LoadAll(ctx, append(subjects, gets), 11, func(ctx context.Context, g *generator.Generator) generator.Result {
		return g.Closed(ctx, length+time.Second)
	})
	taking.Wait()
	close(failures)
	for failure := range failures {
		err = errors.Join(err, failure)
	}
	if err != nil {
		return err
	}
	for i, subject := range append(subjects, gets) {
		fmt.Fprintf(stdout, "%s: %s/s\n", subject.Name, report.Number(results[i].Rate()))
	}
	if err := topStatements(ctx, b, filepath.Join(out, "statements.txt")); err != nil {
		return err
	}
	return tops(ctx, out, b.Programs.Cauri, stdout)
}

// Mixed is a load on all parts: payments with a forced outcome and payments that settle later.
func Mixed(ctx context.Context, l *bench.Assembly, url string) (subjects []bench.Subject, err error) {
	b := l.Bench
	if l.Sandboxes, err = b.AddSandboxes(ctx, b.Settings.Size(100), url); err != nil {
		return nil, err
	}
	numbers, err := bench.AddPayers(ctx, l.Sandboxes, b.Settings.Size(10), payments.Approve)
	if err != nil {
		return nil, err
	}
	forced := b.Writes("/v1/payments", 201, l.Sandboxes, []string{system.Unregistered}, "success", l.Apis...)
	settled := b.Writes("/v1/payments", 201, l.Sandboxes, numbers, "", l.Apis...)
	settled.Name += ", settled later"
	return []bench.Subject{forced, settled}, bench.Known(ctx, l.Sandboxes, l.Apis...)
}

// LoadAll puts load on subjects in parallel, each with n connections.
func LoadAll(
	ctx context.Context,
	subjects []bench.Subject,
	connections int,
	load func(context.Context, *generator.Generator) generator.Result,
) ([]generator.Result, error) {
	results := make([]generator.Result, len(subjects))
	err := bench.InParallel(ctx, len(subjects), len(subjects), func(ctx context.Context, i int) error {
		g, err := generator.Dial(ctx, subjects[i].Target, connections)
		if err != nil {
			return err
		}
		defer g.Close()
		results[i] = load(ctx, g)
		return errors.Join(context.Cause(ctx), results[i].Err())
	})
	return results, err
}

func download(ctx context.Context, from, file string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answered %d %s", from, response.StatusCode, content)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}

// topStatements writes the statements that took most of the database's time. If a statement is planned almost as often
// as it is called, Postgres considers custom plans cheaper than a generic plan, for example for an array whose length
// it sees.
func topStatements(ctx context.Context, b *bench.Bench, file string) error {
	rows, err := b.SQL.Query(
		ctx,
		`select round(100 * (total_exec_time + total_plan_time) / sum(total_exec_time + total_plan_time) over ())::bigint, calls, plans,
			round(total_plan_time)::bigint, round(total_exec_time)::bigint,
			round(1000 * mean_exec_time)::bigint, rows, shared_blks_hit / calls, wal_bytes::bigint / calls, rolname,
			regexp_replace(query, '\s+', ' ', 'g')
		from pg_stat_statements s join pg_roles r on r.oid = s.userid where rolname <> 'postgres'
		order by total_exec_time + total_plan_time desc limit 40`,
	)
	if err != nil {
		return err
	}
	type statement struct {
		Percent, Calls, Plans, Planning, Total, Mean, Rows, Pages, WAL int64
		Role, Query                                                    string
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[statement])
	if err != nil {
		return err
	}
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "%\tcalls\tplans\tms of planning\tms\tµs each\trows\tpages each\tWAL bytes each\trole\t  statement")
	for _, s := range all {
		fmt.Fprintf(
			t,
			"%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t  %s\n",
			s.Percent,
			s.Calls,
			s.Plans,
			s.Planning,
			s.Total,
			s.Mean,
			s.Rows,
			s.Pages,
			s.WAL,
			s.Role,
			s.Query,
		)
	}
	_ = t.Flush()
	return os.WriteFile(file, []byte(text.String()), 0o644)
}

// tops writes the top of each profile as text next to it.
func tops(ctx context.Context, folder, program string, stdout io.Writer) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.pprof"))
	if err != nil {
		return err
	}
	for _, file := range files {
		args := []string{"tool", "pprof", "-top", "-nodecount=60"}
		if strings.HasSuffix(file, ".allocs.pprof") {
			args = append(args, "-sample_index=alloc_space") // all allocations, not only live memory
		}
		command := exec.CommandContext(ctx, "go", append(args, program, file)...)
		text, err := command.Output()
		if err != nil {
			return fmt.Errorf("reading the profile %s: %w", file, err)
		}
		top := strings.TrimSuffix(file, ".pprof") + ".txt"
		if err := os.WriteFile(top, text, 0o644); err != nil {
			return err
		}
		fmt.Fprintln(stdout, top)
	}
	fmt.Fprintln(stdout, filepath.Join(folder, "statements.txt"))
	return nil
}

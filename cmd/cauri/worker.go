package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/clocks"
	"github.com/cauri-dev/cauri/server/ledger/observations"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/ledger/receiverchecks"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
	"github.com/cauri-dev/cauri/server/telemetry"
	"github.com/cauri-dev/cauri/server/webhooks"
	"github.com/cauri-dev/cauri/server/worker"
)

type workerOptions struct {
	processOptions
	guardFlags
	keyFile     string
	concurrency int
	perSandbox  int

	eventRetention time.Duration
}

func newWorkerCommand() *cobra.Command {
	var o workerOptions
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Settle payments, forward them to operators and deliver webhooks",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runWorker(cmd.Context(), o)
		},
	}
	o.flags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.keyFile, "encryption-key-file", "", "file with the keys that encrypt stored secrets, one key a line, in base64")
	flags.DurationVar(&o.eventRetention, "event-retention", 30*24*time.Hour,
		"how long events and their delivery attempts are kept (720h is 30 days); 0 keeps them forever; transactions are always kept")
	flags.IntVar(&o.concurrency, "webhook-concurrency", 512, "maximum number of webhook deliveries at one time")
	flags.IntVar(&o.perSandbox, "webhook-concurrency-per-sandbox", 64, "maximum number of webhook deliveries of one sandbox at one time")
	o.add(flags)
	return cmd
}

// workerDatabase implements [worker.Database].
type workerDatabase struct {
	*sandboxes.Registry
	*ledger.Deliveries
	*ledger.Forwards
	*ledger.Settler
	*queues.Upkeep
	*clocks.Leases
	*observations.Expectations
	*receiverchecks.Queue
	*proof.Proofs
}

func runWorker(ctx context.Context, o workerOptions) error {
	if err := requireDatabaseURL(o.databaseURL); err != nil {
		return err
	}
	keys, err := loadKeyRing(o.keyFile)
	if err != nil {
		return err
	}
	if o.eventRetention < 0 {
		return cli.Usage(fmt.Errorf("--event-retention must be a duration such as 720h, or 0 to keep events forever, not %s", o.eventRetention))
	}
	if proxies := egress.Proxies(os.Getenv); len(proxies) > 0 {
		slog.WarnContext(ctx, "the worker uses no proxy: webhooks and requests to operators' APIs go to their addresses directly, "+
			"because the address guard checks the address of each connection", "ignored", proxies)
	}
	p, err := newWorker(ctx, o, keys)
	if err != nil {
		return err
	}
	p.background = append(p.background, func(ctx context.Context) { keys.Follow(ctx, keyPoll) })
	return p.serveProbes(ctx)
}

// newWorker returns the process of the worker. It opens no connection.
func newWorker(ctx context.Context, o workerOptions, keys *secrets.KeyRing) (*process, error) {
	guard, err := o.guard()
	if err != nil {
		return nil, err
	}
	p, err := newProcess(ctx, "worker", o.processOptions, keys)
	if err != nil {
		return nil, err
	}
	guard.Own = platformAddresses(p.db.Addresses, os.Getenv)
	p.ends += webhooks.AttemptTimeout // time for running attempts to end
	p.worker = telemetry.NewWorker(p.registry)
	upkeep := queues.NewUpkeep(p.db)
	w := worker.New(worker.Options{
		Database: workerDatabase{
			Registry: p.sandboxes, Deliveries: ledger.NewDeliveries(p.db, p.sandboxes, keys), Forwards: ledger.NewForwards(p.db, p.sandboxes),
			Settler: ledger.NewSettler(p.db, p.sandboxes, func(status payments.Status, lag *time.Duration) {
				p.worker.Settled(string(status), lag)
			}),
			Upkeep:       upkeep,
			Leases:       clocks.NewLeases(p.db, p.sandboxes),
			Proofs:       proof.NewProofs(p.db, p.sandboxes, rand.Float64),
			Expectations: observations.NewExpectations(p.db, p.sandboxes),
			Queue:        receiverchecks.NewQueue(p.db, p.sandboxes, keys),
		},
		Sender: webhooks.NewSender(guard, programVersion(), p.now), Log: slog.Default(), Concurrency: o.concurrency,
		PerSandbox:     o.perSandbox,
		EventRetention: o.eventRetention,
		Operators:      worker.NewOperatorAccess(guard, p.now),
		Now:            p.now, Metrics: p.worker, Tracing: p.tracing,
	})
	p.ready = append(p.ready, databaseAnswers(p.db))
	p.live = append(p.live, func(context.Context) error { return w.Stuck() })
	p.background = append(p.background, telemetry.NewQueueMonitor(p.registry, queueStatistics(upkeep)).Run)
	p.work = func(ctx context.Context) error {
		if p.db.AwaitSchema(ctx, databasePoll) == nil {
			w.Run(ctx)
		}
		return nil
	}
	return p, nil
}

// platformAddresses returns a function for the addresses that no request may reach. These are the addresses of the
// worker's database, and the address of the Kubernetes API in the environment of the pod.
func platformAddresses(database func() []netip.AddrPort, getenv func(string) string) func() []netip.AddrPort {
	kubernetes, err := netip.ParseAddrPort(net.JoinHostPort(getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT")))
	if err != nil { // the process is not in a pod
		return database
	}
	return func() []netip.AddrPort { return append(slices.Clip(database()), kubernetes) }
}

// queueStatistics returns a function that reads the lengths of the workers' queues, with the names of the metrics.
func queueStatistics(db *queues.Upkeep) func(context.Context) (telemetry.QueueStatistics, error) {
	return func(ctx context.Context) (telemetry.QueueStatistics, error) {
		found, err := db.QueueStatistics(ctx)
		queue := func(name string, q queues.Queue) telemetry.Queue {
			return telemetry.Queue{Name: name, Due: q.Due, Sandboxes: q.Sandboxes, Oldest: q.Oldest}
		}
		return telemetry.QueueStatistics{
			Failing: found.FailingEndpoints, UnbalancedAccounts: found.Imbalance.Accounts, ImbalanceUnits: found.Imbalance.Units,
			ConsoleSessions: found.ConsoleSessions,
			Queues: []telemetry.Queue{
				queue("events", found.Events), queue("settlements", found.Settlements), queue("forwards", found.Forwards),
				queue("callbacks", found.Callbacks),
			},
		}, err
	}
}

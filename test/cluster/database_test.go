package cluster

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/payments"
	conserve "github.com/cauri-dev/cauri/test/system"
)

// database is a connection to the embedded database, through the Kubernetes API.
type database struct {
	*pgx.Conn
}

var forwarding = regexp.MustCompile(`^Forwarding from 127\.0\.0\.1:(\d+) ->`)

// database connects to the embedded database as its owner, until the end of the test.
func (c *cluster) database(t *testing.T) database {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.databaseURL(t, c.forward(t, "pod/cauri-postgres-0", "5432")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return database{conn}
}

// forward returns a port of this machine that leads to a port of what runs in the namespace of the release, until the end
// of the test.
func (c *cluster) forward(t *testing.T, to, of string) (port string) {
	t.Helper()
	command := exec.Command("kubectl", "port-forward", "--namespace", system, to, ":"+of)
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	t.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended
		_ = command.Wait()
	})
	for port == "" && lines.Scan() {
		if match := forwarding.FindStringSubmatch(lines.Text()); match != nil {
			port = match[1]
		}
	}
	if port == "" {
		t.Fatalf("kubectl port-forward ended before it forwarded anything: %v", lines.Err())
	}
	return port
}

// databaseURL is that of the owner, whom no row is hidden from, at a port of this machine.
func (c *cluster) databaseURL(t *testing.T, port string) string {
	t.Helper()
	owner := url.UserPassword("cauri", c.secret(t, system, "cauri-database", "owner-password"))
	return (&url.URL{Scheme: "postgres", User: owner, Host: "127.0.0.1:" + port, Path: "/cauri", RawQuery: "sslmode=disable"}).String()
}

// conserved checks that no money was lost or made, and whatever else holds at every moment.
func (d database) conserved(t *testing.T) {
	t.Helper()
	err := pgx.BeginTxFunc(t.Context(), d, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		problems, err := conserve.Audit(t.Context(), tx)
		for _, problem := range problems {
			t.Error(problem)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// stall is how long nothing may happen while there is something to do: longer than the lease of a worker that was killed.
const stall = 45 * time.Second

// drained waits until nothing is pending and nothing has to be sent in a namespace. It gives up when less does not become of
// it: how fast it goes is the machine's affair.
func (d database) drained(t *testing.T, namespace string) {
	t.Helper()
	const query = `
		select (select count(*) from transactions t where t.tenant = any(x.tenants) and t.status = 'PENDING') +
		       (select count(*) from events e where e.tenant = any(x.tenants) and e.state = 'queued')
		from (select array_agg(tenant) as tenants from organizations where namespace = $1) x`
	for left := d.count(t, query, namespace); left > 0; {
		eventually(t, stall, func() error {
			now := d.count(t, query, namespace)
			if now >= left {
				return fmt.Errorf("%d transactions in %s are pending or have events to send", now, namespace)
			}
			left = now
			return nil
		})
	}
}

func (d database) count(t *testing.T, query string, args ...any) (n int) {
	t.Helper()
	if err := d.QueryRow(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("asking the database: %v", err)
	}
	return n
}

// outcomes are the transactions of a sandbox, by id.
func (d database) outcomes(t *testing.T, namespace, sandbox string) map[string]string {
	t.Helper()
	rows, err := d.Query(t.Context(), `
		select t.id, t.status::text from transactions t join organizations o using (tenant)
		where o.namespace = $1 and o.name = $2`, namespace, sandbox)
	if err != nil {
		t.Fatal(err)
	}
	type transaction struct {
		ID     [16]byte
		Status string
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[transaction])
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]string{}
	for _, one := range all {
		outcomes[payments.ID(one.ID).String()] = one.Status
	}
	return outcomes
}

// delivered checks that a merchant got an event of each transaction of a sandbox, with its outcome, and nothing else. It returns how
// many came more than once.
func (d database) delivered(t *testing.T, m merchant, sandbox string) (repeated int) {
	t.Helper()
	arrivals := m.arrivals(t, sandbox)
	for _, refused := range arrivals.Refused {
		t.Errorf("the merchant refused a delivery: %s", refused)
	}
	outcomes := d.outcomes(t, m.namespace, sandbox)
	wrong := 0
	for id, status := range outcomes {
		event, arrived := arrivals.Events["evt_"+strings.TrimPrefix(id, "TX_")]
		if !arrived || event.TransactionID != id || event.Status != status {
			wrong++
			if wrong <= 5 {
				t.Errorf("%s/%s: the event of %s, which is %s, says %+v", m.namespace, sandbox, id, status, event)
			}
		}
		if event.Arrived > 1 {
			repeated++
		}
	}
	if wrong > 5 {
		t.Errorf("and of %d more", wrong-5)
	}
	if foreign := len(arrivals.Events) - len(outcomes); foreign > 0 {
		t.Errorf("%s/%s: %d events arrived that belong to no transaction of the sandbox", m.namespace, sandbox, foreign)
	}
	return repeated
}

// kept checks that whatever a load was told of stands in the database as it was told.
func (d database) kept(t *testing.T, namespace string, told map[string]map[string]string) {
	t.Helper()
	for sandbox, transactions := range told {
		outcomes := d.outcomes(t, namespace, sandbox)
		for id, status := range transactions {
			if now := outcomes[id]; now != status && (status != "PENDING" || now == "") {
				t.Errorf("%s/%s: %s was answered with %s and is %q", namespace, sandbox, id, status, now)
			}
		}
	}
}

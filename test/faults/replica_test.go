package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/test/system"
)

// replicated is an installation whose apis read lists from a streaming replica.
type replicated struct {
	*fixture
	replica *system.Postgres
	apis    []*system.API
	m       *system.Merchant
	clients []*system.Client // of the merchant, one at each api
}

func newReplicated(t *testing.T) *replicated {
	t.Helper()
	w := &replicated{fixture: newFixtureWithPostgres(t)}
	var err error
	w.replica, err = w.Postgres.StartReplica(t.Context())
	w.must(err)
	t.Cleanup(func() {
		if err := w.replica.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"api-0", "api-1"} {
		w.apis = append(w.apis, w.api(name, "--database-read-url="+w.ReplicaURL(w.replica)))
	}
	w.m = w.merchant("replicated", w.apis[0], system.Acknowledge)
	for _, api := range w.apis {
		client, err := w.m.Sandbox.Client(t.Context(), api)
		w.must(err)
		w.clients = append(w.clients, client)
	}
	return w
}

// listed are the references on the first page of a list.
func (w *replicated) listed(client *system.Client, path string) []string {
	w.t.Helper()
	answer, err := client.Get(w.t.Context(), path)
	w.must(err)
	if answer.Status != http.StatusOK {
		w.t.Fatalf("%s: %d %s", path, answer.Status, answer.Body)
	}
	var page struct {
		Data []struct {
			Reference string `json:"reference"`
			Status    string `json:"status"`
		} `json:"data"`
	}
	w.must(json.Unmarshal(answer.Body, &page))
	var references []string
	for _, item := range page.Data {
		references = append(references, item.Reference+" "+item.Status)
	}
	return references
}

// seenAtOnce repeatedly writes through one api and reads a list through the other one.
func (w *replicated) seenAtOnce(name string, times int) {
	w.t.Helper()
	for n := range times {
		reference := fmt.Sprintf("%s-%d", name, n)
		writer, reader := w.clients[n%2], w.clients[(n+1)%2]
		_, err := writer.Insist(w.t.Context(), "/payments", system.NewPayment(reference, system.Unregistered, "success"))
		w.must(err)
		if got := w.listed(reader, "/payments?limit=3"); !slices.Contains(got, reference+" SUCCESS") {
			w.t.Fatalf("%s was booked and is not on the list: %v", reference, got)
		}
		if got := w.listed(reader, "/payments?status=SUCCESS&reference="+reference); len(got) != 1 {
			w.t.Fatalf("%s was booked and is not found: %v", reference, got)
		}
		if got := w.listed(reader, "/events?limit=3"); len(got) == 0 {
			w.t.Fatalf("no events are listed")
		}
	}
}

// answered returns how many lists the replica or the primary answered for the apis, according to their metrics.
func (w *replicated) answered(database string) (n int64) {
	w.t.Helper()
	for _, api := range w.apis {
		metrics, err := api.Metrics(w.t.Context())
		w.must(err)
		_, rest, found := strings.Cut(metrics, `cauri_api_replica_lists_total{database="`+database+`"} `)
		value, _, _ := strings.Cut(rest, "\n")
		count, err := strconv.ParseFloat(value, 64)
		if !found || err != nil {
			w.t.Fatalf("%s does not report how many lists the %s answered: %v", api.Name, database, err)
		}
		n += int64(count)
	}
	return n
}

func TestListsFromAReplica(t *testing.T) {
	w := newReplicated(t)
	w.usesReplica(true)
	before, beside := w.answered("replica"), w.answered("primary")
	made := int64(0)
	w.until(time.Minute, "the replica answers 100 lists", func(context.Context) error {
		w.seenAtOnce(fmt.Sprint("streaming-", made), 50)
		made += 150
		got, declined := w.answered("replica")-before, w.answered("primary")-beside
		if got+declined != made {
			t.Fatalf("of %d lists the replica answered %d, the primary %d", made, got, declined)
		}
		if got < 100 { // the primary answers if the replica of a busy machine is behind
			return fmt.Errorf("it answered %d of %d", got, made)
		}
		return nil
	})

	// Replay stops. The replica now lacks new rows, and no reader may see its old state.
	w.onReplica("select pg_wal_replay_pause()")
	w.seenAtOnce("paused", 20)
	w.usesReplica(false)
	begun := time.Now()
	w.seenAtOnce("known-to-be-paused", 20)
	t.Logf("20 payments and 60 lists with a replica that does not replay took %s", time.Since(begun).Round(time.Millisecond))
	w.onReplica("select pg_wal_replay_resume()")
	w.usesReplica(true)

	w.must(w.replica.Stop(system.Immediate))
	begun = time.Now()
	w.seenAtOnce("killed", 20)
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("20 payments and 60 lists with an unavailable replica took %s", took)
	}
	w.usesReplica(false)
	w.must(w.replica.Start(t.Context()))
	w.usesReplica(true)
	w.seenAtOnce("back", 50)
	w.usesReplica(true)
	w.audited()
}

// A promoted replica follows a new timeline. Its log position is as high as the primary's, but it gets no new rows.
func TestListsFromAReplicaThatIsPromoted(t *testing.T) {
	w := newReplicated(t)
	w.usesReplica(true)
	w.onReplica("select pg_promote()")
	w.seenAtOnce("beside-promoted", 20)
	w.usesReplica(false)
	w.seenAtOnce("known-to-be-promoted", 20)
}

// Row-level security also protects sandboxes from each other on the replica.
func TestReplicaKeepsSandboxesApart(t *testing.T) {
	w := newReplicated(t)
	other := w.merchant("other", w.apis[0], system.Acknowledge)
	w.pay(other, system.NewPayment("another's", system.Unregistered, "success"))
	w.usesReplica(true)
	if got := w.listed(w.clients[0], "/payments"); len(got) != 0 {
		t.Errorf("a sandbox is shown another's: %v", got)
	}
	client, err := other.Sandbox.Client(t.Context(), w.apis[1])
	w.must(err)
	if got := w.listed(client, "/payments"); !slices.Equal(got, []string{"another's SUCCESS"}) {
		t.Errorf("listed %v", got)
	}
}

func (w *replicated) onReplica(sql string) {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.replica.URL("postgres"))
	w.must(err)
	defer func() { _ = conn.Close(context.WithoutCancel(w.t.Context())) }()
	_, err = conn.Exec(w.t.Context(), sql)
	w.must(err)
}

// usesReplica waits until the apis answer a list from the replica, or from the primary, according to the metrics.
func (w *replicated) usesReplica(want bool) {
	w.t.Helper()
	line := map[bool]string{true: `cauri_api_replica_usable 1`, false: `cauri_api_replica_usable 0`}[want]
	for _, api := range w.apis {
		w.until(time.Minute, fmt.Sprintf("%s says %q", api.Name, line), func(ctx context.Context) error {
			metrics, err := api.Metrics(ctx)
			if err == nil && !strings.Contains(metrics, line) {
				err = errors.New("it does not")
			}
			return err
		})
	}
}

package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/fronts/frontstest"
	"github.com/cauri-dev/cauri/server/ledgertest"
)

// Nobody needs a key to ask whether the service is healthy. However many ask at a time, they ask the database together: what they would
// take of its connections is the merchants'.
func TestStrangersWhoAskForHealthShareOneLook(t *testing.T) {
	f := newFixture(t)
	db := ledgertest.OpenAs(t, f.db, ledgertest.API)
	o := frontstest.Options(db)
	if err := o.Directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	handler := fronts.New(o)
	const strangers = 100
	before := db.PoolStat().AcquireCount()
	var begun atomic.Int32
	var asking sync.WaitGroup
	err := pgx.BeginFunc(t.Context(), ledgertest.Connect(t, f.db), func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "lock table config_version"); err != nil {
			return err
		}
		for range strangers {
			asking.Go(func() {
				begun.Add(1)
				handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/health", nil))
			})
		}
		for deadline := time.Now().Add(time.Minute); begun.Load() < strangers; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("they do not come")
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	asking.Wait()
	if took := db.PoolStat().AcquireCount() - before; took >= strangers {
		t.Errorf("%d strangers took connections %d times", strangers, took)
	}
}

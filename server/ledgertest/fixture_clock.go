package ledgertest

import "time"

// Stand stops the sandbox's clock at a moment. A sandbox without a clock gets one.
func (w *Fixture) Stand(at time.Time) {
	w.T.Helper()
	w.setClock(`insert into clocks (tenant, stands_at) values ($1, $2)
		on conflict (tenant) do update set stands_at = excluded.stands_at`, at)
}

// RunAhead makes the sandbox's clock run ahead of the database's, or behind it. A sandbox without a clock gets one.
func (w *Fixture) RunAhead(by time.Duration) {
	w.T.Helper()
	w.setClock(`insert into clocks (tenant, ahead) values ($1, $2)
		on conflict (tenant) do update set stands_at = null, ahead = excluded.ahead`, by)
}

func (w *Fixture) setClock(statement string, value any) {
	w.T.Helper()
	w.Exec(statement, w.Sandbox.Tenant, value)
	if !w.Sandbox.Clocked {
		w.Exec(`with bumped as (update config_version set version = version + 1 returning version)
			update organizations set clocked = true, version = bumped.version from bumped where tenant = $1`, w.Sandbox.Tenant)
		w.Reload()
	}
}

// Now returns the sandbox time.
func (w *Fixture) Now() time.Time {
	w.T.Helper()
	return Read[time.Time](w, "select sandbox_time($1)", w.Sandbox.Tenant)
}

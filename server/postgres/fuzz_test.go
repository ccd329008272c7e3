package postgres

import (
	"strings"
	"testing"
)

// FuzzDatabaseURL checks that a URL of a database is taken or refused without its password being shown.
func FuzzDatabaseURL(f *testing.F) {
	for _, seed := range []string{
		"db:5432/cauri?sslmode=disable", "[::1]:5432/x", "db:port/x", "%zz/x", "db/x?pool_max_conns=0", "db/x?default_query_exec_mode=none", "db/x?sslmode=maybe",
		"db/x?connect_timeout=-1", " /x", "db:99999999/x", "db1:1,db2:2/x?target_session_attrs=read-write", "db/x?sslrootcert=/nothing", "@@/", "db/x?password=other",
	} {
		f.Add("postgres://cauri:", "@"+seed)
		f.Add("host=db password=", " port="+seed)
		f.Add("cauri:", "@"+seed) // without a scheme
		f.Add("postgres://cauri:p/", "@"+seed)
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		const password = "correct-horse-7"
		s, err := Open(before+password+after, Options{})
		if err == nil {
			s.Close()
		} else if strings.Contains(err.Error(), password) {
			t.Errorf("%q%q: the error shows the password: %v", before, after, err)
		} else if !strings.Contains(err.Error(), "postgres://user:password@host:5432/name") {
			t.Errorf("%q%q: the error does not say what to write: %v", before, after, err)
		}
	})
}

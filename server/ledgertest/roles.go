package ledgertest

import (
	"fmt"
	"net/url"
	"sync"
	"testing"
)

// The roles that the processes of Cauri are members of.
const (
	API        = "cauri_api"
	Worker     = "cauri_worker"
	Controller = "cauri_controller"
)

// OpenAs opens another store on a database that [URL] made, with only the privileges of a role. So a statement that the
// role may not run fails as it would in a cluster. The api's store has no key ring.
func OpenAs(t testing.TB, url, role string) *Store {
	t.Helper()
	options := Options{KeyRing: KeyRing(t)}
	if role == API {
		options.KeyRing = nil
	}
	return open(t, URLAs(t, url, role), options)
}

var users sync.Map // of the names of users to a sync.Once that makes it

// URLAs returns the URL of a database that [URL] made, with a user who is a member of a role. Users belong to the whole
// server, so all tests share them.
func URLAs(t testing.TB, database, role string) string {
	t.Helper()
	user := "test_" + role
	made, _ := users.LoadOrStore(user, &sync.Once{})
	made.(*sync.Once).Do(func() {
		execute(t, fmt.Sprintf(`do $$
begin
  begin
    create role %[2]s nologin noinherit; -- as the migration does
  exception when duplicate_object or unique_violation then null;
  end;
  if to_regrole('%[1]s') is null then
    create user %[1]s password '%[1]s' in role %[2]s;
  end if;
exception when duplicate_object or unique_violation then null; -- another program has made it
end $$`, user, role))
	})
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(user, user)
	return u.String()
}

package operatorapi_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// Programs keep an operator's id in a field of 20 characters, and compare its form.
func TestDatedID(t *testing.T) {
	created := time.Date(2021, 6, 3, 14, 34, 59, 0, time.FixedZone("CAT", 2*60*60))
	form := regexp.MustCompile(`^MP210603\.1234\.[A-Z][0-9]{5}$`)
	different := map[string]bool{}
	for i := range 100 {
		p := payments.Transaction{ID: payments.ID{15: byte(i)}, CreatedAt: created}
		id := operatorapi.DatedID("MP", &p)
		if different[id] = true; !form.MatchString(id) || operatorapi.DatedID("MP", &p) != id {
			t.Errorf("the id is %q", id)
		}
		if minute, ok := operatorapi.MinuteIn(id, 2); !ok || !minute.Equal(created.Truncate(time.Minute)) {
			t.Errorf("%q is of %s", id, minute)
		}
	}
	if len(different) < 99 {
		t.Errorf("100 transactions have %d ids", len(different))
	}
	for _, id := range []string{"", "MP", "MP210603", "MP219903.1234.L06941", "order-1042-1-and-more"} {
		if minute, ok := operatorapi.MinuteIn(id, 2); ok {
			t.Errorf("%q is of %s", id, minute)
		}
	}
}

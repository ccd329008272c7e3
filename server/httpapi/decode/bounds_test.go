package decode

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

func TestBoundsAreWrittenAsWholeNumbers(t *testing.T) {
	t.Parallel()
	_, err := CreateRefund.parse(http.Header{}, []byte(`{"reference":"r1","amount":1000000000001}`), nil)
	var refused *wire.Error
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	problems := refused.Detail["fieldErrors"].(wire.FieldErrors)["amount"]
	if len(problems) != 1 || !strings.Contains(problems[0], "<= 1000000000000") {
		t.Errorf("got %q", problems)
	}
}

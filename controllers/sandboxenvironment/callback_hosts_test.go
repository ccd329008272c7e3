package sandboxenvironment

import (
	"errors"
	"testing"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
)

// An address that nothing is ever sent to is refused in forms that the schema does not know.
func TestCallbackHostsInOtherForms(t *testing.T) {
	t.Parallel()
	for host, refused := range map[v1alpha1.CallbackHost]bool{
		"::ffff:169.254.169.254": true, "64:ff9b::a9fe:a9fe": true, "0:0:0:0:0:0:0:0": true, "fe80:0::1": true, "fd00:ec2:0::254": true,
		"2002:a9fe:a9fe::": true, "a..b": true,
		"::ffff:10.0.0.1": false, "::1": false, "localhost": false, "shop.example": false, "*": false, "*.shop.example": false, "10.0.0.1": false,
	} {
		hosts, err := callbackHosts([]v1alpha1.CallbackHost{"shop.example", host})
		var stalling *reconciler.StallingError
		if errors.As(err, &stalling) != refused || refused && stalling.Reason != v1alpha1.ReasonInvalidSpec || !refused && len(hosts) != 2 {
			t.Errorf("%s: %q, %v", host, hosts, err)
		}
	}
	if hosts, err := callbackHosts(nil); hosts != nil || err != nil { // the default of the installation applies
		t.Errorf("without entries: %q, %v", hosts, err)
	}
}

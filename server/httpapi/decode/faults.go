package decode

import (
	"encoding/json"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger/faultcounts"
	"github.com/cauri-dev/cauri/server/service"
)

// SetFault reads the body of PUT /v1/faults/{fault}.
var SetFault = newDecoder[wire.FaultRequest]()

// FaultSetting returns the fault to set. Its error has the type [*wire.Error]. The service validates the fault itself.
func FaultSetting(name string, b *wire.FaultRequest) (f faultcounts.Setting, err error) {
	f = faultcounts.Setting{Name: name, By: "api"}
	if b.For != "" {
		if f.For, err = time.ParseDuration(b.For); err != nil || f.For > service.MaxFaultTime ||
			f.For != 0 && f.For < service.MinFaultTime {
			return f, view.InvalidField("for", "must be 0, or from 10s to 24h, for example 15m")
		}
	}
	entry := map[string]any{"name": name}
	for field, value := range map[string]map[string]any{"when": b.When, "webhook": b.Webhook, "api": b.API, "operator": b.Operator} {
		if value != nil {
			entry[field] = value
		}
	}
	f.Entry, err = json.Marshal(entry)
	return f, err
}

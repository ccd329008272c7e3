package examples

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"sync"
	"testing"

	"github.com/cauri-dev/cauri/server/faults"
)

// Each shop meets every preset of a fault, each on a number of its own, at the same time: an order is paid, once.
func TestShopsMeetEveryFault(t *testing.T) {
	t.Parallel()
	var sandbox map[string]any
	if err := json.Unmarshal([]byte(pendingSandbox), &sandbox); err != nil {
		t.Fatal(err)
	}
	spec := sandbox["spec"].(map[string]any)
	spec["environments"] = []any{map[string]any{"operator": "mtn", "country": "RW", "unknownMsisdnPolicy": "passthrough"}}
	numbers := map[string]string{}
	var declared []faults.Fault
	for i, preset := range faults.Presets() {
		f := preset.Fault
		f.Name, f.When.MSISDN = preset.Name, fmt.Sprintf("+2507880001%02d", i)
		if f.When.Every { // it would have no end
			f.When.First = 5
		}
		numbers[preset.Name], declared = f.When.MSISDN, append(declared, f)
	}
	spec["faults"] = declared
	text, err := json.Marshal(sandbox)
	if err != nil {
		t.Fatal(err)
	}
	for shop, command := range map[string][]string{"go-shop": {"go", "run", "."}, "node-shop": {"node", "shop.js"}} {
		t.Run(shop, func(t *testing.T) {
			t.Parallel()
			address, all := openShop(t, shop, command, string(text))
			var orders sync.WaitGroup
			for preset, msisdn := range numbers {
				orders.Go(func() {
					if err := payOrder(t, address, msisdn); err != nil {
						t.Errorf("%s: %v", preset, err)
					}
				})
			}
			orders.Wait()
			var listed struct {
				Data []struct {
					Name  string
					Times int
				}
			}
			list := exec.CommandContext(t.Context(), program(t), "faults", "-o", "json")
			list.Env = append(list.Environ(), all...)
			if out, err := list.Output(); err != nil || json.Unmarshal(out, &listed) != nil || len(listed.Data) != len(declared) {
				t.Fatalf("the faults are %s (%v)", out, err)
			}
			for _, f := range listed.Data {
				if f.Times == 0 && f.Name != "silent-operator" && f.Name != "flapping-query" { // the shops call no operator's own API
					t.Errorf("%s did not act", f.Name)
				}
			}
		})
	}
}

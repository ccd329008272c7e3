package examples

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/test/ports"
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
			if shop == "node-shop" {
				needNode(t)
			}
			port, folder := ports.ForTest(t), t.TempDir()
			environment := filepath.Join(folder, "env")
			write(t, folder, "sandbox.json", string(text))
			startDev(t, nil, "--file="+filepath.Join(folder, "sandbox.json"), "--port=0", "--operator-ports=off", "--env-file="+environment,
				"--webhook-url=http://127.0.0.1:"+port+"/webhooks")
			variables, err := os.ReadFile(environment)
			if err != nil {
				t.Fatal(err)
			}
			runShop(t, folderOf(shop), append(strings.Fields(string(variables)), "PORT="+port), command)
			var orders sync.WaitGroup
			for preset, msisdn := range numbers {
				orders.Go(func() {
					if err := payOrder(t, "http://127.0.0.1:"+port, msisdn); err != nil {
						t.Errorf("%s: %v", preset, err)
					}
				})
			}
			orders.Wait()
		})
	}
}

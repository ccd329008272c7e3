package examples

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/test/ports"
)

// pendingSandbox is the sandbox of the shops, in which a payment is pending for a moment.
const pendingSandbox = `{"apiVersion": "cauri.dev/v1alpha1", "kind": "SandboxEnvironment", "metadata": {"name": "shop"}, "spec": {
	"environments": [{"operator": "mtn", "country": "RW"}], "openingFloat": [{"currency": "RWF", "amount": 100000}],
	"stores": [{"slug": "shop"}], "latencyPercent": 10}}`

// Each shop does right in the stories that are played while the sandbox runs: an order is paid, once.
func TestShopsInStories(t *testing.T) {
	t.Parallel()
	for shop, command := range map[string][]string{"go-shop": {"go", "run", "."}, "node-shop": {"node", "shop.js"}} {
		t.Run(shop, func(t *testing.T) {
			t.Parallel()
			address, all := openShop(t, shop, command, pendingSandbox)
			for _, story := range []string{"network-drop-after-pin", "twice-at-once", "lost-webhook"} {
				if said := playStory(t, all, story, address); !strings.Contains(said, "met      "+story) {
					t.Errorf("%s: %s", story, said)
				}
			}
		})
	}
}

// openShop runs a shop with a sandbox of its own. It returns the shop's address and the variables of the sandbox.
func openShop(t *testing.T, shop string, command []string, sandbox string) (address string, all []string) {
	t.Helper()
	if shop == "node-shop" {
		needNode(t)
	}
	port, folder := ports.ForTest(t), t.TempDir()
	environment := filepath.Join(folder, "env")
	write(t, folder, "sandbox.json", sandbox)
	startDev(t, nil, "--file="+filepath.Join(folder, "sandbox.json"), "--port=0", "--operator-ports=off", "--env-file="+environment,
		"--webhook-url=http://127.0.0.1:"+port+"/webhooks")
	variables, err := os.ReadFile(environment)
	if err != nil {
		t.Fatal(err)
	}
	all = append(strings.Fields(string(variables)), "PORT="+port)
	runShop(t, folderOf(shop), all, command)
	return "http://127.0.0.1:" + port, all
}

// runShop runs a shop until the test ends.
func runShop(t *testing.T, folder string, variables, command []string) {
	t.Helper()
	if command[0] == "go" {
		built := filepath.Join(t.TempDir(), "shop")
		run(t, folder, variables, "go", "build", "-o", built, ".")
		command = []string{built}
	}
	shop := exec.CommandContext(t.Context(), command[0], command[1:]...)
	shop.Dir, shop.Env = folder, append(shop.Environ(), variables...)
	if err := shop.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shop.Process.Kill(); _ = shop.Wait() })
}

// number matches the number with which a story says to pay.
var number = regexp.MustCompile(`^1\. Pay with (\+[0-9]+) in your shop`)

// playStory plays a story, orders something when it says so, and returns what it printed in the end.
func playStory(t *testing.T, variables []string, name, shop string) string {
	t.Helper()
	var verdict bytes.Buffer
	story := exec.CommandContext(t.Context(), program(t), "story", name)
	story.Env, story.Stdout = append(story.Environ(), variables...), &verdict
	says, err := story.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := story.Start(); err != nil {
		t.Fatal(err)
	}
	said, paid := "", false
	for lines := bufio.NewScanner(says); lines.Scan(); {
		said += lines.Text() + "\n"
		if found := number.FindStringSubmatch(lines.Text()); found != nil {
			paid = true
			if err := payOrder(t, shop, found[1]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if err := story.Wait(); err != nil || !paid {
		t.Errorf("%s ended with %v: %s%s", name, err, said, &verdict)
	}
	return verdict.String()
}

// shopOrder is what a shop says of an order.
type shopOrder struct {
	ID, State string
	Payments  int
}

// payOrder orders something in a shop, and waits until it is paid, once.
func payOrder(t *testing.T, shop, msisdn string) error {
	deadline := time.Now().Add(2 * time.Minute)
	o := shopOrder{}
	ask := func(method, path, body string) (answered bool) {
		r, err := http.NewRequestWithContext(t.Context(), method, shop+path, strings.NewReader(body))
		if err != nil {
			return false
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return false // the shop has not started yet
		}
		defer answer.Body.Close()
		if answer.StatusCode == http.StatusNotFound {
			return true
		}
		return answer.StatusCode/100 == 2 && json.NewDecoder(answer.Body).Decode(&o) == nil
	}
	for !ask(http.MethodGet, "/orders/none", "") && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
	}
	if !ask(http.MethodPost, "/orders", fmt.Sprintf(`{"msisdn": %q, "amount": 1500}`, msisdn)) || o.ID == "" {
		return errors.New("the shop takes no order")
	}
	for !ask(http.MethodGet, "/orders/"+o.ID, "") || o.State == "waiting" {
		if time.Now().After(deadline) {
			return fmt.Errorf("the order stays %+v", o)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if o.State != "paid" || o.Payments != 1 {
		return fmt.Errorf("the order is %+v", o)
	}
	return nil
}

package cluster

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/test/judged"
)

const (
	pipelines = "docs/ci.md" // shows a run
	run       = "run-42"     // its namespace
	story     = "double-tap" // its sandbox
	judging   = "judged"     // the sandbox of the shop with bugs
)

// pipelineJudges does what docs/ci.md shows: in a run's namespace, the shop of examples/ lives through a story, and its Expectation, `cauri
// expect` and `cauri grade` are green. Then each bug of a merchant turns exactly its line red.
func pipelineJudges(t *testing.T, c *cluster) {
	c.follow(t, pipelines, "kubectl apply -k run")
	c.apply(t, namespaceYAML(run)+"---\n"+judged.Sandbox(judging, run, "http://merchant."+run+".svc:8080/shop/"+judging+"/webhooks")+
		"\n"+merchantYAML(run, judging)+shopYAML(run, story))
	c.ready(t, run)
	c.kubectl(t, "rollout", "status", "--namespace", run, "--timeout=60s", "deployment/shop")
	services := c.proxied(t)
	begun := time.Now()
	c.shopIsRight(t, services+"shop:8080/proxy")
	t.Logf("the story: %.1f s", time.Since(begun).Seconds())
	c.bugsTurnRed(t, services+"merchant:8080/proxy/shop/"+judging)
	c.kubectl(t, "delete", "namespace", run, "--timeout=90s")
}

// proxied is the URL of the Services of the run's namespace, for a program of this machine that has no credentials of the cluster.
func (c *cluster) proxied(t *testing.T) string {
	t.Helper()
	proxy := exec.CommandContext(t.Context(), "kubectl", "proxy", "--port=0")
	out, err := proxy.StdoutPipe()
	if err == nil {
		err = proxy.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = proxy.Process.Kill()
		_ = proxy.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n') // Starting to serve on 127.0.0.1:41723
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + line[strings.LastIndex(line, " ")+1:len(line)-1] + "/api/v1/namespaces/" + run + "/services/"
}

// cauri returns a function that runs `cauri` for a sandbox of the run.
func (c *cluster) cauri(t *testing.T, sandbox string) func(args ...string) (string, error) {
	return func(args ...string) (string, error) {
		return c.try(t.Context(), "", "cauri", append(args, "--sandbox="+run+"/"+sandbox, "--port-forward")...)
	}
}

// shopIsRight: the customer taps twice, and the shop has the order paid once.
func (c *cluster) shopIsRight(t *testing.T, shop string) {
	t.Helper()
	var taps sync.WaitGroup
	for range 2 {
		taps.Go(func() {
			answer, err := http.Post(shop+"/orders", "application/json", strings.NewReader(`{"id": "order-1", "msisdn": "+250790000901", "amount": 1500}`))
			if err != nil {
				t.Error(err)
				return
			}
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusCreated {
				t.Errorf("the shop answers %s to an order", answer.Status)
			}
		})
	}
	taps.Wait()
	c.follow(t, pipelines, "--for=condition=Met")
	file := filepath.Join(t.TempDir(), "expected.yaml")
	expected := "expect:\n- events: {where: {orderRef: order-1}, state: delivered, count: 1, maxAttempts: 1}\n" +
		`- merchant: {get: "` + shop + `/orders/order-1", json: {state: paid, payments: 1}}` + "\n"
	if err := os.WriteFile(file, []byte(expected), 0o600); err != nil {
		t.Fatal(err)
	}
	if red := judged.Red(t, c.cauri(t, story), "expect", "-f", file); len(red) > 0 {
		t.Errorf("these lines are red: %q", red)
	}
}

func (c *cluster) bugsTurnRed(t *testing.T, shop string) {
	t.Helper()
	m := c.merchant(run)
	p := judged.Pipeline{
		Shop: shop, Cauri: c.cauri(t, judging),
		Has: func(bug string) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, shop+"/bug", strings.NewReader(bug))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := http.DefaultClient.Do(request)
			if err != nil || answer.StatusCode != http.StatusOK {
				t.Fatalf("the shop gets a bug: %v, %v", answer, err)
			}
			_ = answer.Body.Close()
		},
		Pay: func(reference, scenario string) string {
			status, payment := m.post(t, judging, "/payments", object{"amount": 1500, "currency": "RWF", "operator": "mtn", "country": "RW",
				"msisdn": unregistered, "reference": reference, "application": "shop", "scenario": scenario})
			if status != http.StatusCreated {
				t.Fatalf("the payment %s is answered %d %v", reference, status, payment)
			}
			return payment["id"].(string)
		},
		Refund: func(id, reference string) {
			status, refund := m.post(t, judging, "/payments/"+id+"/refund", object{"amount": 500, "reference": reference})
			if diff := cmp.Diff([]any{http.StatusCreated, "SUCCESS"}, []any{status, refund["status"]}); diff != "" {
				t.Fatalf("the refund (-want +got):\n%s", diff)
			}
		},
		Delivered: func() {
			eventually(t, time.Minute, func() error {
				_, waiting := m.get(t, judging, "/events?state=queued")
				if fmt.Sprint(waiting["data"]) != "[]" {
					return fmt.Errorf("these events wait: %v", waiting["data"])
				}
				return nil
			})
		},
	}
	p.TurnsRed(t)
}

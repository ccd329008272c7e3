package dev

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/webhooks"
	"github.com/cauri-dev/cauri/test/judged"
)

// A pipeline without a cluster is green with a right merchant, and each bug of a merchant turns exactly its line red.
func TestEachBugOfAMerchantTurnsItsLineRed(t *testing.T) {
	t.Parallel()
	const secret = "the secret of the judged merchant"
	shop := judged.NewShop(func(header http.Header, body []byte) error { return webhooks.Verify(header, body, secret, time.Now()) })
	server := httptest.NewServer(shop)
	defer server.Close()
	file := write(t, "shop.yaml", judged.Sandbox("shop", "default", server.URL+"/webhooks"))
	p := start(t, "--file", file, "--database-url", newDatabase(t), "--webhook-secret", secret, "--quiet")
	pipeline := judged.Pipeline{
		Shop: server.URL, Has: shop.Is, Pay: p.pay,
		Refund: func(id, reference string) {
			half := strings.NewReader(`{"amount":500,"reference":"` + reference + `"}`)
			if refund := p.call(http.MethodPost, p.uri+"/api/v1/payments/"+id+"/refund", half); refund["status"] != "SUCCESS" {
				t.Fatalf("the refund is %v", refund)
			}
		},
		Delivered: func() {
			p.eventually("all events are delivered", func() bool { return fmt.Sprint(p.get("/v1/events?state=queued")["data"]) == "[]" })
		},
		Cauri: func(args ...string) (string, error) {
			credentials := []string{"--url", p.uri, "--api-key", p.key}
			if slices.Contains(args, "--receiver") {
				credentials = []string{"--secret", secret}
			}
			out, err := exec.CommandContext(t.Context(), program, append(args, credentials...)...).CombinedOutput()
			return string(out), err
		},
	}
	pipeline.TurnsRed(t)
}

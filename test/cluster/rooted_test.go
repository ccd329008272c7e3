package cluster

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// rooted: a client of MTN that joins absolute paths to its base URL gets a token at the host that the Secret has for it, and
// a payment by that token. A host that no sandbox has knows no path.
func rooted(t *testing.T, c *cluster) {
	root := c.secret(t, team, shared+"-credentials", "mtn-root-uri")
	base, err := url.Parse(root)
	if err != nil || !regexp.MustCompile(`^mtn-[0-9a-z]{12}\.operators\.test$`).MatchString(base.Hostname()) || base.Path != "" {
		t.Fatalf("mtn-root-uri is %q (%v)", root, err)
	}
	address := "127.0.0.1:" + c.forward(t, "service/cauri-api", "80")
	ask := func(host, method, path, body string, header http.Header) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Host, r.Header = host, header
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	credential := func(key string) string { return c.secret(t, team, shared+"-credentials", key) }
	basic := &http.Request{Header: http.Header{"Ocp-Apim-Subscription-Key": {credential("mtn-subscription-key")}}}
	basic.SetBasicAuth(credential("mtn-api-user"), credential("mtn-api-key"))
	status, answer := ask(base.Host, http.MethodPost, "/collection/token/", "", basic.Header)
	_, after, _ := strings.Cut(answer, `"access_token":"`)
	token, _, found := strings.Cut(after, `"`)
	if status != http.StatusOK || !found {
		t.Fatalf("a token was answered %d %s", status, answer)
	}
	status, answer = ask(base.Host, http.MethodPost, "/collection/v1_0/requesttopay",
		`{"amount":"100","currency":"EUR","externalId":"rooted","payer":{"partyIdType":"MSISDN","partyId":"250788999999"},"payerMessage":"m","payeeNote":"n"}`,
		http.Header{
			"Authorization": {"Bearer " + token}, "Ocp-Apim-Subscription-Key": basic.Header["Ocp-Apim-Subscription-Key"],
			"X-Reference-Id": {"0b2e4d5c-4f0a-4c6e-9d1b-1f2a3b4c5d6e"}, "X-Target-Environment": {"sandbox"}, "Content-Type": {"application/json"},
		})
	if status != http.StatusAccepted {
		t.Errorf("a payment was answered %d %s", status, answer)
	}
	if status, answer := ask("mtn-000000000000.operators.test", http.MethodPost, "/collection/token/", "", basic.Header); status != http.StatusNotFound {
		t.Errorf("a host that no sandbox has answered %d %s", status, answer)
	}
}

package cases

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/system"
)

// pinConnections is the number of connections over which a sandbox sends PINs.
const pinConnections = 20

// pins measures the payments of a sandbox while another one sends encrypted PINs to Airtel's own API, in every padding, as
// fast as it gets answers. No PIN is right, so that nothing is recorded.
func pins(ctx context.Context, b *bench.Bench) error {
	folder, err := os.MkdirTemp("", "pins")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "key.pem")
	text, err := secrets.NewRSAKey(rand.Reader)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	key, noKey := secrets.ParseRSAKey(text)
	if err = errors.Join(err, noKey); err != nil {
		return err
	}
	api, err := b.StartAPI(ctx, "api", "--pin-key-file="+file)
	if err != nil {
		return err
	}
	owners, err := b.AddSandbox(ctx, "owner", bench.Nobody)
	if err != nil {
		return err
	}
	other, err := b.AddSandbox(ctx, "airtel", bench.Nobody, func(c *sandboxes.Config) {
		airtel := c.Environments[0]
		airtel.Operator = payments.Airtel
		c.Environments = append(c.Environments, airtel)
	})
	if err != nil {
		return err
	}
	if err := bench.Known(ctx, []*system.Sandbox{owners, other}, api); err != nil {
		return err
	}
	wrong, err := wrongPINs(&key.PublicKey)
	if err != nil {
		return err
	}
	var sent, seconds float64
	owner := b.Open(b.Writes("/v1/payments", 201, []*system.Sandbox{owners}, []string{system.Unregistered}, "success", api), ownersRate)
	during := besides(owner, func(ctx context.Context) error {
		began := time.Now()
		n, err := sendPINs(ctx, api, other.Key, wrong)
		sent, seconds = sent+n, seconds+time.Since(began).Seconds()
		return err
	})
	during.Name = "beside PINs"
	results, err := b.InTurns(ctx, owner, during, owner)
	if err != nil {
		return err
	}
	without := append(results[0], results[2]...)
	b.Against("beside PINs, p50; baseline: before and after", "ms", results[1].P50s(), without.P50s()).Show().WantAtMost(attackedAtMost)
	b.Against("beside PINs, p99", "ms", results[1].P99s(), without.P99s()).WantAtMost(attackedAtMost)
	b.Figure("PINs answered", sent/seconds, "/s")
	return nil
}

// wrongPINs are texts of the key's length: wrong PINs in each padding, and texts without one.
func wrongPINs(key *rsa.PublicKey) (all []string, err error) {
	add := func(text []byte, failed error) {
		all, err = append(all, base64.StdEncoding.EncodeToString(text)), errors.Join(err, failed)
	}
	for _, o := range []rsa.OAEPOptions{
		{Hash: crypto.SHA256}, {Hash: crypto.SHA256, MGFHash: crypto.SHA1}, {Hash: crypto.SHA1}, {Hash: crypto.SHA512},
	} {
		add(rsa.EncryptOAEPWithOptions(rand.Reader, key, []byte("wrong"), &o))
	}
	//lint:ignore SA1019 clients of Airtel use this padding
	add(rsa.EncryptPKCS1v15(rand.Reader, key, []byte("wrong")))
	random := make([]byte, key.Size())
	_, failed := rand.Read(random[1:])
	add(random, failed)
	return all, err
}

// sendPINs sends disbursements until ctx ends, and returns how many were answered.
func sendPINs(ctx context.Context, api *system.API, key string, pins []string) (answered float64, err error) {
	token, err := airtelToken(ctx, api, key)
	if err != nil {
		return 0, err
	}
	head := generator.Head("POST", "/operators/airtel/standard/v2/disbursements", token) +
		"Content-Type: application/json\r\nX-Country: RW\r\nX-Currency: RWF\r\n"
	request := func(buffer []byte, n int64) []byte {
		body := fmt.Sprintf(`{"payee":{"msisdn":"730123456"},"reference":"salary","pin":%q,"transaction":{"amount":1,"id":"pin-%d"}}`,
			pins[n%int64(len(pins))], n)
		return fmt.Appendf(buffer, "%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
	}
	target := generator.Target{Addresses: bench.AddressesOf(api), Append: request, Status: http.StatusBadRequest}
	g, err := generator.Dial(ctx, target, pinConnections)
	if err != nil {
		return 0, err
	}
	defer g.Close()
	return float64(g.Closed(ctx, time.Hour).Accepted), ctx.Err()
}

func airtelToken(ctx context.Context, api *system.API, key string) (string, error) {
	credentials := operators.NativeAPI(payments.Airtel).Derive(key)
	body := fmt.Sprintf(`{"client_id":%q,"client_secret":%q,"grant_type":"client_credentials"}`, credentials.User, credentials.UserKey)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, api.URL+"/operators/airtel/auth/oauth2/token", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	var granted struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&granted); err != nil || granted.Token == "" {
		return "", fmt.Errorf("the token call answered %d: %w", answer.StatusCode, err)
	}
	return granted.Token, nil
}

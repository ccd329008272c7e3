package cases

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

const (
	// attackers is the number of connections of an attack, and attackRate the number of its requests in a second.
	attackers  = 100
	attackRate = 1500
	// ownersRate is the number of payments in a second of the sandbox that is attacked.
	ownersRate = 50
	// attackedAtMost is how many times longer a payment may take during an attack.
	attackedAtMost = 1.5
)

// attacker sends what somebody sends who wants a sandbox to stop.
type attacker struct {
	name string
	// request appends the n-th request.
	request func(buffer []byte, n int64) []byte
	streams bool // whether the requests open streams, which last
}

// attacked measures the payments of a sandbox while somebody attacks it who has no API key: a stranger who knows its name, a
// guest with the link of one phone, or the payer of an order.
func attacked(ctx context.Context, b *bench.Bench) error {
	api, err := b.StartAPI(ctx, "api")
	if err != nil {
		return err
	}
	victim, err := b.AddSandbox(ctx, "victim", bench.Nobody)
	if err != nil {
		return err
	}
	numbers, err := bench.AddPayers(ctx, []*system.Sandbox{victim}, 1, payments.Approve)
	if err != nil {
		return err
	}
	client, err := victim.Client(ctx, api)
	if err != nil {
		return err
	}
	all, err := attackersOf(ctx, b, api, victim, client, numbers[0])
	if err != nil {
		return err
	}
	owner := b.Open(b.Writes("/v1/payments", 201, []*system.Sandbox{victim}, []string{system.Unregistered}, "success", api), ownersRate)
	for _, a := range all {
		if err := a.measure(ctx, b, api, owner, victim.Key); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
	}
	b.Memory(api.Process)
	return nil
}

// measure measures the owner's payments before, during and after an attack.
func (a attacker) measure(ctx context.Context, b *bench.Bench, api *system.API, owner bench.Side, key string) error {
	refused := 0.0
	during := besides(owner, func(ctx context.Context) error {
		return errors.Join(a.send(ctx, api), ctx.Err())
	})
	if a.streams {
		during = besides(during, func(ctx context.Context) error {
			for system.Rest(ctx, time.Second/2) { // after the guest has what he gets
				if err := opensStream(ctx, api, key); err != nil && ctx.Err() == nil {
					refused++
				}
			}
			return nil
		})
	}
	during.Name = "beside " + a.name
	results, err := b.InTurns(ctx, owner, during, owner)
	if err != nil {
		return err
	}
	before, with, after := results[0], results[1], results[2]
	name := "beside " + a.name
	without := meansOf(before.P50s(), after.P50s())
	b.Against(name+", p50; baseline: before and after", "ms", with.P50s(), without).Show().WantAtMost(attackedAtMost)
	b.Against(name+", p99", "ms", with.P99s(), meansOf(before.P99s(), after.P99s())).WantAtMost(attackedAtMost)
	if a.streams {
		b.Target("streams of the API key that were refused beside "+a.name, refused, "", 0)
	}
	return nil
}

// meansOf returns the mean of two samples in each round.
func meansOf(one, other report.Sample) report.Sample {
	means := make([]float64, len(one.Rounds))
	for i := range means {
		means[i] = (one.Rounds[i] + other.Rounds[i]) / 2
	}
	return report.SampleOf(means...)
}

// opensStream returns an error unless the holder of a key may open a stream.
func opensStream(ctx context.Context, api *system.API, key string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, api.URL+"/v1/stream", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the stream answered %d", answer.StatusCode)
	}
	return err
}

// send sends requests until ctx ends, whatever they are answered.
func (a attacker) send(ctx context.Context, api *system.API) error {
	g, err := generator.Dial(ctx, generator.Target{Addresses: bench.AddressesOf(api), Append: a.request}, attackers)
	if err != nil {
		return err
	}
	defer g.Close()
	g.Open(ctx, attackRate, time.Hour)
	return nil
}

// attackersOf are all attackers of a sandbox whose phone has a number.
func attackersOf(
	ctx context.Context, b *bench.Bench, api *system.API, victim *system.Sandbox, client *system.Client, number string,
) ([]attacker, error) {
	var organization string
	err := b.SQL.QueryRow(ctx, "select org_id from organizations where tenant = $1", victim.Tenant).Scan(&organization)
	if err != nil {
		return nil, err
	}
	guest, err := openPhone(ctx, api, victim, client, number)
	if err != nil {
		return nil, err
	}
	order := hexOf("order")
	if err := placeOrder(ctx, b, victim, order); err != nil {
		return nil, err
	}
	at := "/sandboxes/" + victim.Config.Namespace + "/" + victim.Config.Name
	get := func(head string) func([]byte, int64) []byte {
		return func(buffer []byte, _ int64) []byte { return generator.End(append(buffer, head...)) }
	}
	return []attacker{
		{name: "links that nobody made", request: func(buffer []byte, _ int64) []byte {
			form := url.Values{"token": {sandboxes.NewConsoleLinkToken(sandboxes.ConsoleFull)}}.Encode()
			return fmt.Appendf(buffer, "%sContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s",
				generator.Head("POST", at+"/console/link", ""), len(form), form)
		}},
		{name: "cookies of no session", request: func(buffer []byte, n int64) []byte {
			return fmt.Appendf(buffer, "%sCookie: cauri_console_%s=cauri_cs_%s\r\n\r\n", generator.Head("GET", at+"/console/overview", ""),
				organization, hexOf(fmt.Sprint(n))[:43])
		}},
		{name: "pages of no order", request: func(buffer []byte, n int64) []byte {
			return generator.End(append(buffer, generator.Head("GET", at+"/operators/orange/payment/pay_token/"+hexOf(fmt.Sprint(n)), "")...))
		}},
		{name: "wrong keys", request: get(generator.Head("GET", at+"/v1/payments", "cauri_sk_test_wrong"))},
		{name: "a guest's streams", request: get(guest.head("/stream")), streams: true},
		{name: "a guest's pages", request: get(guest.head("/handsets/" + number))},
		{name: "a payer's page", request: get(generator.Head("GET", at+"/operators/orange/payment/pay_token/"+order, ""))},
	}, nil
}

// hexOf is a token of 64 hexadecimal digits.
func hexOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// openPhone signs in to the console by a link to one phone.
func openPhone(
	ctx context.Context, api *system.API, of *system.Sandbox, client *system.Client, number string,
) (*openedConsole, error) {
	answer, err := client.Insist(ctx, "/console_links", map[string]string{"msisdn": number})
	if err != nil {
		return nil, err
	}
	var link struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal(answer.Body, &link); err != nil {
		return nil, err
	}
	at, err := url.Parse(link.URL)
	if err != nil {
		return nil, err
	}
	c := &openedConsole{address: api.URL, path: "/sandboxes/" + of.Config.Namespace + "/" + of.Config.Name + "/console"}
	return c, c.signIn(ctx, "/link", url.Values{"token": {at.Query().Get("token")}})
}

// signIn sends a form that starts a session.
func (c *openedConsole) signIn(ctx context.Context, path string, form url.Values) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address+c.path+path, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultTransport.RoundTrip(r) // which follows no redirect
	if err != nil {
		return err
	}
	c.cookie, _, _ = strings.Cut(answer.Header.Get("Set-Cookie"), ";")
	if answer.StatusCode != http.StatusSeeOther || c.cookie == "" {
		err = fmt.Errorf("signing in at %s answered %d", c.path, answer.StatusCode)
	}
	return errors.Join(err, answer.Body.Close())
}

// placeOrder makes an order of Orange's own API whose page has a token.
func placeOrder(ctx context.Context, b *bench.Bench, of *system.Sandbox, token string) error {
	hash, key := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(of.Key))
	_, err := b.SQL.Exec(ctx, `insert into native_orders (tenant, token_hash, operator, order_id, made_with, amount, sent, expires_at)
		values ($1, $2, 'orange', 'order-1042', $3, 1000, $4, now() + interval '1 hour')`, of.Tenant, hash[:], key[:],
		`{"country": "CI", "currency": "XOF", "money": "XOF", "return_url": "https://shop.example", "cancel_url": "https://shop.example",
		  "notif_url": "https://shop.example", "notif_token": "x", "pay_token": "x"}`)
	return err
}

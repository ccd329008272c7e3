package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// rootDomain is a domain below which every name leads to this machine.
const rootDomain = "operators.test"

func init() {
	transport := http.DefaultTransport.(*http.Transport)
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, port, _ := net.SplitHostPort(address); strings.HasSuffix(host, "."+rootDomain) {
			address = net.JoinHostPort("127.0.0.1", port)
		}
		return dial(ctx, network, address)
	}
}

// withRoots is the fixture with a host for each operator's own API of each sandbox.
func (f *fixture) withRoots() *fixture {
	f.t.Helper()
	base := &url.URL{Scheme: "http"}
	domain, err := sandboxes.NewOperatorDomain(rootDomain, base)
	if err != nil {
		f.t.Fatal(err)
	}
	served := f.serve(func(o *fronts.Options) {
		o.Requests, o.Roots, o.BaseURL, o.PINKey, o.CredentialKey = f.log, fronts.RootsBelow(domain, o.Directory), base, pinKey, credentialKey
	})
	base.Host = strings.TrimPrefix(served.url, "http://")
	return served
}

// rootOf is the URL of the root of an operator's own API in a sandbox.
func (f *fixture) rootOf(sandbox string, operator payments.Operator) string {
	f.t.Helper()
	id := read[string](f, "select org_id from organizations where name = $1", sandbox)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(f.url, "http://"))
	return fmt.Sprintf("http://%s-%s.%s:%s", operator, strings.ToLower(id[len(id)-12:]), rootDomain, port)
}

// at is the fixture at another URL.
func (f *fixture) at(url string) *fixture {
	other := *f
	other.url = url
	return &other
}

// get returns the status and the body of an answer to a stranger.
func (f *fixture) get(url string) (int, string) {
	f.t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		f.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// The requests of a client at a root are those to the path of the API: the same answers, limits and entries of the request log.
func TestMTNAtItsRoot(t *testing.T) {
	f := newFixture(t).withRoots()
	f.client("alice", alice, 50_000)
	m := f.at(f.rootOf("checkout", payments.MTN)).mtn(key)
	f.mtn(key).refresh() // the api knows hosts that it has read
	m.base = ""
	paid := m.pay(alice)
	if got := f.call("GET", "/v1/payments?reference="+paid, nil).body["data"].([]any); len(got) != 1 {
		t.Errorf("the payment is listed %d times", len(got))
	}
	m.call("GET", "/collection/v1_0/requesttopay/"+newReference(), "")
	m.send("GET", "/collection/v1_0/account/balance", "", map[string]string{"Ocp-Apim-Subscription-Key": "wrong"})
	m.send("GET", "/sandboxes/team/checkout/v1/payments", "", nil).is(t, http.StatusNotFound, noRoute)
	var told []string
	for _, entry := range f.requests("") {
		told = append(told, fieldsOf(entry, "method", "path", "status", "error"))
	}
	slices.Sort(told)
	if diff := cmp.Diff([]string{
		"GET /operators/mtn/collection/v1_0/account/balance 401 key_invalid",
		"GET /operators/mtn/collection/v1_0/requesttopay/{...} 404 not_found",
		"GET /operators/mtn/sandboxes/team/checkout/v1/payments 404 no_route",
	}, told); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
	f.config.RateLimit = new(int32(1))
	f.sandbox(f.config, key)
	m.refresh()
	limited := 0
	for range 5 {
		if m.send("GET", "/v1_0/apiuser/"+m.User, "", nil).status == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited == 0 {
		t.Error("five requests were answered, although the limit is one a minute")
	}
}

// Clients of M-Pesa that join absolute paths to their base URL get the same answers at a root: the exchanges of testdata/native hold there
// too.
func TestExchangesOfMPesaAtItsRoot(t *testing.T) {
	api := operators.NativeAPI(payments.MPesa)
	files, err := filepath.Glob(filepath.Join("testdata", "native", "mpesa", "*.http"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no exchanges (%v)", err)
	}
	seen := newCoverage(t, api)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".http"), func(t *testing.T) {
			c := newConversation(t, api)
			c.f, c.root = c.f.withRoots(), true
			c.f.follow() // the api knows hosts that it has read
			c.names["host"] = strings.TrimPrefix(c.f.rootOf("checkout", payments.MPesa), "http://")
			replay(c, file, seen)
		})
	}
}

// The page of an order is where the client asked for it: at the root, or below the path.
func TestOrangePageAtTheRoot(t *testing.T) {
	f, _ := withOrange(t, payments.Approve)
	f = f.withRoots()
	f.orange(key).token()
	root := f.rootOf("checkout", payments.Orange)
	for base, client := range map[string]*orange{
		root: f.at(root).orange(key), f.url + "/sandboxes/team/checkout/operators/orange": f.orange(key),
	} {
		if base == root {
			client.base = ""
		}
		p := client.place("order-" + newReference()[:8])
		if want := base + "/payment/pay_token/" + p.payToken; p.page != want {
			t.Errorf("the page is at %s, want %s", p.page, want)
			continue
		}
		text := p.open().text
		at, err := url.Parse(p.page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`(?:href|action)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
			followed, err := at.Parse(link[1])
			if err != nil {
				t.Fatal(err)
			}
			if status, _ := client.f.get(followed.String()); followed.Host == at.Host && status != http.StatusOK {
				t.Errorf("%s of the page leads to %s, which answers %d", link[1], followed, status)
			}
		}
		p.confirm("0707000001", f.code(awa)).is(t, http.StatusOK, "Paiement effectué")
		if got := p.state(); got != "SUCCESS" {
			t.Errorf("paid at %s it is %s", base, got)
		}
	}
	f.conserved()
}

// What an API names as its address is where the client asked, and the documents name the other one too, without a word about the sandbox.
func TestAddressesInAnswersAtRoots(t *testing.T) {
	f := newFixture(t)
	f.config.Environments = append(append(f.config.Environments, moovEnvironments()...), mpesaEnvironment())
	f.sandbox(f.config, key)
	f = f.withRoots()
	f.mtn(key).refresh()
	for _, api := range operators.NativeAPIs() {
		if api.Operator == payments.Airtel { // its environment is disabled
			continue
		}
		root, path := f.rootOf("checkout", api.Operator), "/operators/"+string(api.Operator)
		pattern := regexp.MustCompile(`-\w{12}\.`).ReplaceAllString(root, "-{code}.")
		for asked, want := range map[string][]string{
			root: {root, f.url + "/sandboxes/{namespace}/{name}" + path},
			f.url + "/sandboxes/team/checkout" + path: {f.url + "/sandboxes/team/checkout" + path, pattern},
			f.url + "/sandboxes/team/none" + path:     {f.url + "/sandboxes/team/none" + path, pattern},
			f.url + path:                              {f.url + path, pattern},
		} {
			var document struct{ Servers []struct{ URL string } }
			_, text := f.get(asked + "/openapi.json")
			if err := json.Unmarshal([]byte(text), &document); err != nil {
				t.Fatal(err)
			}
			var servers []string
			for _, s := range document.Servers {
				servers = append(servers, s.URL)
			}
			if diff := cmp.Diff(want, servers); diff != "" {
				t.Errorf("%s: the servers (-want +got):\n%s", asked, diff)
			}
			checkOpenAPI31(t, []byte(text))
		}
	}
	root := f.rootOf("checkout", payments.Moov)
	if _, wsdl := f.get(root + ussdPush + "?wsdl"); !strings.Contains(wsdl, `location="`+root+ussdPush) {
		t.Errorf("the WSDL does not lead to %s: %s", root, wsdl)
	}
}

// An unknown host is answered as an unknown path is, and no query is sent: this server has no database.
func TestUnknownHostsOfOperators(t *testing.T) {
	t.Parallel()
	base := &url.URL{Scheme: "https", Host: "pay.example.com"}
	domain, err := sandboxes.NewOperatorDomain("example.com", base)
	if err != nil {
		t.Fatal(err)
	}
	server := fronts.New(fronts.Options{BaseURL: base, Console: true, Roots: fronts.RootsBelow(domain, sandboxes.NewDirectory(nil))})
	ask := func(host, path string) string {
		r := httptest.NewRequest(http.MethodGet, "https://"+host+path, nil)
		r.Header.Set("Accept", "text/html")
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		return fmt.Sprint(w.Code, w.Body, w.Header().Get("X-Cauri-Reason"), w.Header().Get("Location"))
	}
	want := regexp.MustCompile(`"request_?[iI]d":"[^"]*"`)
	unknown := want.ReplaceAllString(ask("pay.example.com", "/none"), "")
	for _, host := range []string{"mtn-000000000000.example.com", "none-000000000000.example.com", "ORANGE-ABCDEFGHJKMN.Example.com.:8443"} {
		for _, path := range []string{"/", "/collection/token/", "/v1/meta", "/docs", "/sandboxes/team/checkout/operators/mtn/openapi.json"} {
			if got := want.ReplaceAllString(ask(host, path), ""); got != unknown {
				t.Errorf("%s%s is answered %s, an unknown path %s", host, path, got, unknown)
			}
		}
	}
	for _, host := range []string{"pay.example.com", "mtn-0000000000.example.com", "example.com", "mtn-000000000000.example.org", "a.mtn-000000000000.example.com"} {
		if got := ask(host, "/docs"); !strings.HasPrefix(got, "200") {
			t.Errorf("the page at %s is answered %.60s", host, got)
		}
	}
}

// A path of an operator's own API at another place says where the API is.
func TestPathsOfOperatorsElsewhere(t *testing.T) {
	f := newFixture(t)
	for path, want := range map[string]string{
		"POST /collection/token/":                                           "/sandboxes/{namespace}/{name}/operators/mtn",
		"GET /collection/v1_0/requesttopay/x":                               "/sandboxes/{namespace}/{name}/operators/mtn",
		"POST /api/disbursement/v1_0/transfer":                              "/sandboxes/{namespace}/{name}/operators/mtn",
		"POST /sandboxes/team/checkout/auth/oauth2/token":                   "/sandboxes/team/checkout/operators/airtel",
		"POST /sandboxes/team/none/merchant/v2/payments/":                   "/sandboxes/team/none/operators/airtel",
		"GET /orange-money-webpay/dev/v1/webpayment":                        "/sandboxes/{namespace}/{name}/operators/orange",
		"POST //orange-money-webpay/ci/v1/transactionstatus":                "/sandboxes/{namespace}/{name}/operators/orange",
		"POST /com.tlc.merchant.api/UssdPush":                               "/sandboxes/{namespace}/{name}/operators/moov",
		"POST /sandboxes/team/checkout/api/Flooz/DebitService/Debit?a=b%20": "/sandboxes/team/checkout/operators/moov",
		"POST /mpesa/stkpush/v1/processrequest":                             "/sandboxes/{namespace}/{name}/operators/mpesa",
		"GET /v1/rsa/encryption-keys":                                       "/sandboxes/{namespace}/{name}/operators/airtel",
		"GET /collections":                                                  "", "GET /openapi.json": "", "GET /collection": "", "POST /sandboxes/team/checkout": "", "GET /%2f": "",
	} {
		method, path, _ := strings.Cut(path, " ")
		got := f.call(method, path, nil)
		detail, _ := got.body["detail"].(object)
		reason := got.header.Get("X-Cauri-Reason")
		named, _ := detail["path"].(string)
		if got.status != http.StatusNotFound || named != want || (want != "") != strings.HasSuffix(reason, " "+want) ||
			!strings.Contains(got.raw, want) {
			t.Errorf("%s %s is answered %d %s, with the reason %q", method, path, got.status, got.raw, reason)
		}
	}
}

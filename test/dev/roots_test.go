package dev

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/test/ports"
)

const fourOperators = `{apiVersion: cauri.dev/v1alpha1, kind: SandboxEnvironment, metadata: {name: shop}, spec: {
  environments: [{operator: mtn, country: RW}, {operator: airtel, country: RW, callbackURL: "%[1]s/airtel"}, {operator: orange, country: CI},
    {operator: moov, country: TG, callbackURL: "%[1]s/moov"}], stores: [{slug: shop}], testNumbers: Standard, latencyPercent: 0}}`

// rootClients are clients that join absolute paths to their base URL, by the command that runs them. The client in Go is in this file.
var rootClients = map[string][]string{
	"node":   {"node", "testdata/roots/client.mjs"},
	"python": {"python3", "testdata/roots/client.py"},
	"php":    {"php", "testdata/roots/client.php"},
	"ruby":   {"ruby", "testdata/roots/client.rb"},
	"java":   {"java", "testdata/roots/Client.java"},
}

// Clients that join absolute paths to their base URL pay by each operator's own API at its root: token, payment, status and callback.
// With CAURI_TEST_WHOLE=1 in six languages, otherwise in three.
func TestClientsThatJoinAbsolutePaths(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	p := start(t, "--database-url", newDatabase(t), "--quiet", "--file", write(t, "shop.yaml", fmt.Sprintf(fourOperators, shop.URL)))
	given := p.variables()
	basic := func(user, password string) string {
		return base64.StdEncoding.EncodeToString([]byte(given[user] + ":" + given[password]))
	}
	given["MTN_BASIC"] = basic("CAURI_MTN_API_USER", "CAURI_MTN_API_KEY")
	given["ORANGE_BASIC"] = basic("CAURI_ORANGE_CLIENT_ID", "CAURI_ORANGE_CLIENT_SECRET")
	given["SHOP"] = shop.URL
	run := func(name string, send func(variables map[string]string) error) {
		variables := map[string]string{"RUN": name, "REFERENCE": fmt.Sprintf("%08x-0000-4000-8000-000000000000", name[:2])}
		for variable, value := range given {
			variables[variable] = value
		}
		if err := send(variables); err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		for _, told := range []string{`/mtn {*"externalId":"` + name + "-mtn", `/airtel {*"id":"` + name + "-airtel", "/orange/" + name + " {", `/moov {*` + name + "-moov"} {
			shop.await(t, told)
		}
	}
	run("go", sendSteps)
	for name, command := range rootClients {
		whole := os.Getenv("CAURI_TEST_WHOLE") != ""
		if _, err := exec.LookPath(command[0]); err != nil && whole {
			t.Errorf("%s is not installed", command[0])
		} else if err == nil && (whole || name == "node" || name == "python") {
			run(name, func(variables map[string]string) error {
				client := exec.CommandContext(t.Context(), command[0], append(command[1:], "testdata/roots/steps.txt")...)
				client.Env = os.Environ()
				for variable, value := range variables {
					client.Env = append(client.Env, variable+"="+value)
				}
				if out, err := client.CombinedOutput(); err != nil {
					return fmt.Errorf("%w\n%s", err, out)
				}
				return nil
			})
		}
	}
}

// sendSteps is a client in Go. It sends the steps of testdata/roots/steps.txt.
func sendSteps(kept map[string]string) error {
	file, err := os.Open("testdata/roots/steps.txt")
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	name := regexp.MustCompile(`\{([A-Z_]+)\}`)
	filled := func(text string) string {
		return name.ReplaceAllStringFunc(text, func(name string) string { return kept[strings.Trim(name, "{}")] })
	}
	var base *url.URL
	var step *rootStep
	lines := bufio.NewScanner(file)
	for more := true; more; {
		more = lines.Scan()
		word, rest, _ := strings.Cut(lines.Text(), " ")
		if isNext := word == "base" || word == "GET" || word == "POST"; step != nil && (isNext || !more) {
			if err := step.send(base, kept); err != nil {
				return err
			}
			step = nil
		}
		switch word {
		case "base":
			if base, err = url.Parse(filled(rest)); err != nil {
				return err
			}
		case "GET", "POST":
			step = &rootStep{method: word, path: filled(rest), header: http.Header{}, keep: map[string]string{}}
		case "header":
			name, value, _ := strings.Cut(filled(rest), ": ")
			step.header.Set(name, value)
		case "keep":
			name, pattern, _ := strings.Cut(rest, " ")
			step.keep[name] = pattern
		case "body":
			step.body = filled(rest)
		case "until":
			step.until = filled(rest)
		}
	}
	return lines.Err()
}

// rootStep is a step of a client.
type rootStep struct {
	method, path, body, until string
	header                    http.Header
	keep                      map[string]string
}

// send sends the step until its answer has what it waits for.
func (s *rootStep) send(base *url.URL, kept map[string]string) error {
	at, err := base.Parse(s.path)
	if err != nil {
		return err
	}
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		request, err := http.NewRequest(s.method, at.String(), strings.NewReader(s.body))
		if err != nil {
			return err
		}
		request.Header = s.header
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(answer.Body)
		if _ = answer.Body.Close(); err != nil {
			return err
		}
		for name, pattern := range s.keep {
			if found := regexp.MustCompile(pattern).FindSubmatch(text); found != nil {
				kept[name] = string(found[1])
			}
		}
		switch {
		case answer.StatusCode/100 == 2 && strings.Contains(string(text), s.until):
			return nil
		case answer.StatusCode/100 != 2 || time.Since(begun) > patience:
			return fmt.Errorf("%s is answered %d %s", at, answer.StatusCode, text)
		}
	}
}

// shop keeps the callbacks that come to it.
type shop struct {
	*httptest.Server
	mutex sync.Mutex
	came  []string // path and body
}

func newShop(t *testing.T) *shop {
	s := &shop{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.came = append(s.came, r.URL.Path+" "+string(body))
	}))
	t.Cleanup(s.Close)
	return s
}

// await waits for a callback. In what it begins with, a * stands for anything.
func (s *shop) await(t *testing.T, want string) {
	t.Helper()
	form := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(want), `\*`, ".*"))
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		s.mutex.Lock()
		came := append([]string(nil), s.came...)
		s.mutex.Unlock()
		for _, each := range came {
			if form.MatchString(each) {
				return
			}
		}
		if time.Since(begun) > patience {
			t.Errorf("no callback came as %s: %q", want, came)
			return
		}
	}
}

// variables are those of the environment file.
func (p *process) variables() map[string]string {
	p.t.Helper()
	text, err := os.ReadFile(p.envFile)
	if err != nil {
		p.t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		all[name] = strings.Trim(value, "'")
	}
	return all
}

// roots are the addresses of the roots that the environment file has.
func (p *process) roots() map[string]string {
	p.t.Helper()
	all := p.variables()
	for name := range all {
		if !strings.HasSuffix(name, "_ROOT_URI") {
			delete(all, name)
		}
	}
	return all
}

// A root keeps its port while the database is kept, has another one while its port is taken, and is closed at the end.
func TestPortsOfOperators(t *testing.T) {
	t.Parallel()
	database, file := newDatabase(t), write(t, "shop.yaml", fmt.Sprintf(fourOperators, "http://127.0.0.1:9"))
	first := start(t, "--database-url", database, "--file", file)
	roots := first.roots()
	if len(roots) != 4 {
		t.Fatalf("the environment file has the roots %v", roots)
	}
	mtn := roots["CAURI_MTN_ROOT_URI"]
	first.awaitOutput("for clients that join absolute paths to their base URL: "+mtn, "  CAURI_MTN_ROOT_URI="+mtn)
	if status := statusOf(t, mtn+"/collection/v1_0/account/balance", ""); status != http.StatusUnauthorized {
		t.Errorf("without a key, MTN's root answers %d", status)
	}
	if status := statusOf(t, mtn+"/collection/v1_0/account/balance", "evil.example"); status != http.StatusMisdirectedRequest {
		t.Errorf("under another host name, MTN's root answers %d", status)
	}
	first.stop()
	for _, root := range roots {
		if answer, err := http.Get(root); err == nil {
			_ = answer.Body.Close()
			t.Errorf("%s answers after the end", root)
		}
	}
	at, err := url.Parse(mtn)
	if err != nil {
		t.Fatal(err)
	}
	other := httptest.NewUnstartedServer(nil)
	_ = other.Listener.Close()
	if other.Listener, err = net.Listen("tcp", at.Host); err != nil {
		t.Fatal(err)
	}
	other.Start()
	again := start(t, "--database-url", database, "--file", file)
	now := again.roots()
	again.stop()
	other.Close()
	if now["CAURI_MTN_ROOT_URI"] == mtn || now["CAURI_ORANGE_ROOT_URI"] != roots["CAURI_ORANGE_ROOT_URI"] {
		t.Errorf("while the port of MTN was taken, the roots are %v, before %v", now, roots)
	}
}

// In a container there are no ports but those that are listed.
func TestListedPortsOfOperators(t *testing.T) {
	t.Parallel()
	file, port := write(t, "shop.yaml", fmt.Sprintf(fourOperators, "http://127.0.0.1:9")), ports.ForTest(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--listen=0.0.0.0"}, "map[]"},
		{[]string{"--listen=0.0.0.0", "--base-url=http://cauri:8080", "--operator-ports=orange=" + port}, "map[CAURI_ORANGE_ROOT_URI:http://cauri:" + port + "]"},
	} {
		p := start(t, append(c.args, "--database-url", newDatabase(t), "--file", file)...)
		if got := fmt.Sprint(p.roots()); got != c.want {
			t.Errorf("with %q the roots are %s, want %s", c.args, got, c.want)
		}
		if strings.HasSuffix(c.want, port+"]") {
			if status := statusOf(t, "http://127.0.0.1:"+port+"/oauth/v3/token", ""); status != http.StatusUnauthorized {
				t.Errorf("the listed port answers %d", status)
			}
		}
		p.stop()
	}
}

// statusOf is the status of the answer to a POST, asked for under a host name.
func statusOf(t *testing.T, url, host string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

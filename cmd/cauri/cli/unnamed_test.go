package cli

import (
	"encoding/csv"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// second is a second sandbox of the namespace, which no controller has seen.
const second = `{"apiVersion":"cauri.dev/v1alpha1","kind":"SandboxEnvironment","metadata":{"name":"till","namespace":"team",
	"creationTimestamp":"2026-05-31T12:00:00Z"},"spec":{"environments":[{"operator":"mtn","country":"RW"}]}}`

// withSecond gives a cluster a second sandbox, and another namespace without any.
func withSecond(c *cluster) {
	c.others = []string{second}
	c.other["GET "+sandboxesOfTeam+"/till"] = func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(second)) }
	c.other["GET "+strings.Replace(sandboxesOfTeam, "team", "other", 1)] = func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"kind":"SandboxEnvironmentList","items":[]}`))
	}
}

// runAs runs a command of the program or of the plugin, which remembers what was chosen.
func (c *cluster) runAs(plugin bool, config string, args ...string) result {
	c.t.Helper()
	return run(c.t, Options{Plugin: plugin, Config: config}, append(args, "--kubeconfig="+c.kubeconfig)...)
}

// Where nothing names a sandbox, the only one of the namespace is meant; with several, the user has to say which.
func TestTheOnlySandbox(t *testing.T) {
	f := newFixture(t)
	c := newCluster(t, f.url)
	for _, plugin := range []bool{true, false} {
		c.runAs(plugin, "", "payers").want(t, ExitSuccess, alice, "The sandbox is team/checkout, the only one in its namespace.")
		if r := c.runAs(plugin, "", "listen", "--print-secret"); r.out != testSecret+"\n" || strings.Count(r.progress, "The sandbox is") != 1 {
			t.Errorf("got %q, %q, %v", r.out, r.progress, r.err)
		}
	}
	withSecond(c)
	c.run("status").want(t, ExitUsage, "the namespace team has 2 sandboxes: checkout, till", "Write which one: `cauri status NAME`",
		"`kubectl cauri use NAME`")
	c.runAs(false, "", "status").want(t, ExitUsage, "has 2 sandboxes: checkout, till", "`cauri status --sandbox=team/NAME`", "`cauri use NAME`")
	c.run("status", "-n", "other").want(t, ExitRefused, "the namespace other has no sandboxes", "`kubectl cauri list -A`")
	c.runAs(false, "", "status", "-n", "other").want(t, ExitUsage, "no sandbox: pass --sandbox", "The namespace other of", "has none")
	c.denied["GET "+sandboxesOfTeam] = true
	c.run("status").want(t, ExitRefused, "you may not list sandboxenvironments in the namespace team")
	c.runAs(false, "", "status").want(t, ExitUsage, "no sandbox: pass --sandbox", "you may not list sandboxenvironments")
	c.run("status", "checkout").want(t, ExitSuccess, "team/checkout")
}

// The first argument of the plugin is the sandbox's name, unless it is what stands behind a name.
func TestTheNameMayBeLeftOut(t *testing.T) {
	f := newFixture(t)
	c := newCluster(t, f.url)
	c.applied = reconciled
	first := decoded[wire.Payment](t, c.run("pay", "--scenario=success", "-o", "json"))
	event := "evt_" + strings.TrimPrefix(first.ID, "TX_")
	pending := func() string {
		t.Helper()
		return strings.TrimSpace(c.run("pay", "--msisdn="+manual, "--wait=false", "-o", "name").out)
	}
	for _, name := range [][]string{nil, {"checkout"}, {"team/checkout"}} {
		call := func(command string, args ...string) result {
			return c.run(slices.Concat([]string{command}, name, args)...)
		}
		call("events").want(t, ExitSuccess, event)
		call("events", event).want(t, ExitSuccess, event, `"event":"payment.completed"`)
		call("requests").want(t, ExitSuccess)
		call("resend", event).want(t, ExitRefused, "no_webhook")
		call("refund", first.ID, "--amount=1").want(t, ExitSuccess, "refund")
		call("cancel", pending()).want(t, ExitSuccess, "USER_CANCELLED")
		pending()
		call("approve", strings.TrimPrefix(manual, "+")).want(t, ExitRefused, "the number of a test client with its +")
		call("approve", manual).want(t, ExitSuccess, "SUCCESS")
		call("rotate", "secret").want(t, ExitSuccess, "has a new signing secret")
		call("rotate").want(t, ExitUsage, "key|secret is missing: write `cauri rotate [NAME] key|secret`")
		call("refund").want(t, ExitUsage, "TRANSACTION is missing")
	}
	c.run("status", "Checkout").want(t, ExitRefused, `no sandbox "Checkout"; it has checkout`)
	completed := run(t, Options{Plugin: true}, "__complete", "rotate", "--kubeconfig="+c.kubeconfig, "")
	if completed.out != "checkout\nkey\nsecret\n:4\n" {
		t.Errorf("completed %q", completed.out)
	}
}

// What `cauri use` chose holds for one context of a kubeconfig, until another one is chosen or the sandbox is gone.
func TestUse(t *testing.T) {
	f := newFixture(t)
	c, elsewhere := newCluster(t, f.url), newCluster(t, f.url)
	withSecond(c)
	withSecond(elsewhere)
	config := filepath.Join(t.TempDir(), "config", "cauri")
	c.runAs(true, config, "use").want(t, ExitSuccess, "No sandbox is chosen in the context c: `kubectl cauri use NAME`")
	c.runAs(true, config, "use", "tilt").want(t, ExitRefused, `no sandbox "tilt"; it has checkout, till`)
	c.runAs(true, config, "use", "checkout").want(t, ExitSuccess, "Commands use the sandbox team/checkout in the context c.",
		"`kubectl cauri use --none` ends that")
	for path, want := range map[string]os.FileMode{config: 0o700, filepath.Join(config, "use.json"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	for _, plugin := range []bool{true, false} {
		if r := c.runAs(plugin, config, "use"); r.out != "team/checkout\n" {
			t.Errorf("use prints %q, %v", r.out, r.err)
		}
		program := map[bool]string{true: "kubectl cauri", false: "cauri"}[plugin]
		c.runAs(plugin, config, "payers").want(t, ExitSuccess, alice, "The sandbox is team/checkout, as `"+program+" use` says.")
		elsewhere.runAs(plugin, config, "payers").want(t, ExitUsage, "has 2 sandboxes")
	}
	c.runAs(true, config, "status", "till").want(t, ExitSuccess, "team/till")
	c.runAs(true, config, "status", "-n", "other").want(t, ExitRefused, "the namespace other has no sandboxes")
	c.runAs(true, config, "status", "-n", "team").want(t, ExitSuccess, "team/checkout, as")

	elsewhere.runAs(false, config, "use", "team/till").want(t, ExitSuccess, "team/till", "`cauri use --none`")
	elsewhere.runAs(true, config, "status").want(t, ExitSuccess, "team/till, as")
	c.runAs(true, config, "use", "till", "--none").want(t, ExitUsage, "write one of them")
	c.runAs(true, config, "use", "--none").want(t, ExitSuccess, "No sandbox is chosen in the context c.")
	c.runAs(true, config, "status").want(t, ExitUsage, "has 2 sandboxes")
	if r := elsewhere.runAs(true, config, "use"); r.out != "team/till\n" {
		t.Errorf("use prints %q, %v", r.out, r.err)
	}

	delete(elsewhere.other, "GET "+sandboxesOfTeam+"/till")
	elsewhere.runAs(true, config, "status").want(t, ExitRefused, `no sandbox "till"`, "`kubectl cauri use` has chosen it", "--none")

	completed := run(t, Options{Config: config}, "__complete", "use", "--kubeconfig="+c.kubeconfig, "t")
	if completed.out != "till\n:4\n" {
		t.Errorf("completed %q", completed.out)
	}
}

// A choice counts only if no other user could have made it, and one that cannot be read is named.
func TestUseOfAnUnsafeFile(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "http://127.0.0.1:1")
	withSecond(c)
	config := t.TempDir()
	c.runAs(true, config, "use", "checkout").want(t, ExitSuccess)
	if err := os.Chmod(config, 0o777); err != nil {
		t.Fatal(err)
	}
	c.runAs(true, config, "status").want(t, ExitUsage, "has 2 sandboxes")
	c.runAs(true, config, "use").want(t, ExitUsage, "every user can write to "+config)
	c.runAs(true, config, "use", "checkout").want(t, ExitUsage, "every user can write to "+config)
	if err := os.Chmod(config, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(config, "use.json")
	if err := os.WriteFile(path, []byte("?"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.runAs(true, config, "use").want(t, ExitUsage, path+" cannot be read: remove it")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(config, "elsewhere"), path); err != nil {
		t.Fatal(err)
	}
	c.runAs(true, config, "use", "checkout").want(t, ExitUsage, path+" is not a regular file")
}

// A file of the folder comes before a choice, and a choice before the only sandbox. Flags for a cluster come before the file.
func TestOrderOfWhatNamesASandbox(t *testing.T) {
	f := newFixture(t)
	c := newCluster(t, f.url)
	withSecond(c)
	config, folder := t.TempDir(), t.TempDir()
	path := filepath.Join(folder, ".env.cauri")
	if err := os.WriteFile(path, []byte("CAURI_URI="+f.url+"\nCAURI_API_KEY="+testKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := Options{Folder: folder, Config: config}
	in := "--kubeconfig=" + c.kubeconfig
	run(t, at, "use", "checkout", in).want(t, ExitSuccess, "Here commands use another one: "+path+" comes before it.")
	run(t, at, "use", in).want(t, ExitSuccess, "team/checkout", path+" comes before it")
	run(t, at, "payers").want(t, ExitSuccess, "The sandbox is that of "+path)
	run(t, at, "payers", in).want(t, ExitSuccess, alice, "The sandbox is team/checkout, as")
	run(t, at, "status", in, "--sandbox=team/till").want(t, ExitSuccess, "team/till")
	run(t, at, "list", in).want(t, ExitSuccess, "checkout", "Here commands use a sandbox that is not one of these: "+path+" names it.")
	at.Plugin = true
	run(t, at, "payers", in).want(t, ExitSuccess, alice, "The sandbox is team/checkout, as")
}

func TestList(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "http://127.0.0.1:1/sandboxes/team/checkout")
	config := t.TempDir()
	line := func(r result, name string) string {
		t.Helper()
		for line := range strings.Lines(r.out) {
			if fields := strings.Fields(line); slices.Contains(fields, name) {
				return strings.Join(fields, " ")
			}
		}
		t.Fatalf("there is no %s in\n%s%v", name, r.out, r.err)
		return ""
	}
	const row = "* checkout True Ready http://127.0.0.1:1/sandboxes/team/checkout 3 -"
	if got := line(c.runAs(true, config, "list"), "checkout"); got != row { // the only one
		t.Errorf("listed %q", got)
	}
	withSecond(c)
	if got := line(c.runAs(true, config, "list"), "checkout"); got != strings.TrimPrefix(row, "* ") {
		t.Errorf("listed %q", got)
	}
	c.runAs(true, config, "use", "till").want(t, ExitSuccess)
	r := c.runAs(false, config, "list")
	if got := line(r, "till"); !strings.HasPrefix(got, "* till - - - - ") {
		t.Errorf("listed %q", got)
	}
	if got, want := line(r, "CURRENT"), "CURRENT NAME READY STATUS URL TRANSACTIONS AGE"; got != want {
		t.Errorf("the titles are %q", got)
	}

	c.run("list", "-n", "other").want(t, ExitSuccess, "The namespace other has no sandboxes.", "-A")
	const everywhere = "/apis/cauri.dev/v1alpha1/sandboxenvironments"
	c.denied["GET "+everywhere] = true
	c.run("list", "-A").want(t, ExitRefused, "you may not list sandboxenvironments in all namespaces")
	c.other["GET "+everywhere] = func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = sandboxesOfTeam
		c.mutex.Unlock()
		c.serve(w, r)
		c.mutex.Lock()
	}
	if got, want := line(c.runAs(true, config, "list", "-A"), "till"), "* team till - - - -"; !strings.HasPrefix(got, want) {
		t.Errorf("listed %q", got)
	}
	all := entries[listedSandbox](t, c.runAs(true, config, "list", "-A", "-o", "json"))
	if len(all) != 2 || all[0].Name != "checkout" || *all[0].Transactions != 3 || all[0].Current || !all[1].Current || all[1].CreatedAt == nil {
		t.Errorf("listed %+v", all)
	}
	if r := c.runAs(true, config, "list", "-o", "name"); r.out != "team/checkout\nteam/till\n" {
		t.Errorf("listed %q", r.out)
	}
	records, err := csv.NewReader(strings.NewReader(c.runAs(true, config, "list", "-o", "csv").out)).ReadAll()
	if err != nil || len(records) != 3 || !slices.Equal(records[2], []string{"team", "till", "true", "", "", "", "", "2026-05-31T12:00:00Z"}) {
		t.Errorf("listed %q, %v", records, err)
	}
	c.run("list", "-o", "xml").want(t, ExitUsage, "write json, yaml, csv or name")
	for _, format := range []string{"", "json", "yaml", "csv"} {
		if r := c.run("list", "--output="+format); strings.Contains(r.out+r.progress, testKey) {
			t.Errorf("%s shows the key:\n%s", format, r.out)
		}
	}
}

// Without a cluster, the list tells what commands use.
func TestListWithoutACluster(t *testing.T) {
	t.Parallel()
	run(t, Options{}, "list").want(t, ExitUsage, "name a kubeconfig")
	folder := t.TempDir()
	path := filepath.Join(folder, ".env.cauri")
	if err := os.WriteFile(path, []byte("CAURI_URI=http://127.0.0.1:1/x\nCAURI_API_KEY="+testKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, Options{Folder: folder}, "list").want(t, ExitSuccess, "There is no cluster. Commands use the sandbox http://127.0.0.1:1/x, which "+
		path+" names.")
	r := run(t, Options{Folder: folder}, "list", "-o", "json")
	found := entries[listedSandbox](t, r)
	if len(found) != 1 || found[0].From != path || !found[0].Current || strings.Contains(r.out, testKey) {
		t.Errorf("listed %s", r.out)
	}
	run(t, Options{Folder: folder, Plugin: true}, "list").want(t, ExitUsage, "name a kubeconfig")
}

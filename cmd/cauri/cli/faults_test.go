package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// A preset, and a fault from a file, are set with what the flags say, listed and removed.
func TestFaults(t *testing.T) {
	f := newFixture(t)
	f.run("faults").want(t, 0, "Nothing goes wrong on purpose")
	f.run("faults", "on", "lost-answer").want(t, ExitRefused, "spec.api.faults")
	f.config.API.Faults = true
	if _, err := f.store.ApplySandbox(t.Context(), f.config); err != nil {
		t.Fatal(err)
	}
	f.run("faults", "on", "lost-answer", "--reference=order-9*", "--first=1", "--for=1h").
		want(t, 0, "lost-answer is on, and ends in 1 h: recorded and not answered", "The shop repeats the request", "faults off lost-answer")
	file := filepath.Join(t.TempDir(), "fault.yaml")
	if err := os.WriteFile(file, []byte("name: mine\nwebhook: {duplicate: 2, overlap: true}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.run("faults", "on", "-f", file, "--for=0").want(t, 0, "ends when removed")
	found := entries[wire.Fault](t, f.run("faults", "-o", "json"))
	if len(found) != 2 || *found[1].SetBy != "cli" || compacted(t, found[1].When) != `{"reference":"order-9*","first":1}` {
		t.Errorf("set are %+v", found)
	}
	for typed, want := range map[string][]string{
		"off ": {"mine\tmine: sent 2 times", "lost-answer\t"}, "on tw": {"twice\tThe webhook comes twice, the", "twice-at-once\t"},
	} {
		args := append([]string{"__complete", "faults"}, strings.Split(typed, " ")...)
		run(t, Options{}, slices.Insert(args, len(args)-1, "--url="+f.url, "--api-key="+testKey)...).want(t, 0, want...)
	}
	if got := f.run("faults", "list").out; !strings.Contains(got, "in 1 h") || !strings.Contains(got, "when removed") {
		t.Errorf("listed are\n%s", got)
	}
	run(t, Options{}, "__complete", "faults", "o").want(t, 0, "on\t", "off\t")
	f.run("faults", "off", "mine").want(t, 0, "mine is off")
	f.run("faults", "off", "mine").want(t, ExitRefused, "It may have ended")
	f.run("faults", "off", "--all").want(t, 0, "is off")
	f.run("faults", "on", "none-such").want(t, ExitUsage, "lost-answer, unavailable")
	f.run("faults", "on").want(t, ExitUsage, "-f with a file")
	f.run("faults", "off").want(t, ExitUsage, "or --all")
	f.run("faults", "on", "lost-answer", "--first=0").want(t, ExitRefused, "when.first")
	f.run("faults", "on", "lost-answer", "--for=1s").want(t, ExitRefused, "for: ")
	f.run("faults", "on", "-f", "/none").want(t, ExitUsage, "/none")
	f.run("faults", "onn").want(t, ExitUsage, "one argument too many")
}

func compacted(t *testing.T, text []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A file has the body of the request, and a flag goes before it.
func TestFaultFromAFile(t *testing.T) {
	f := newFixture(t)
	f.config.API.Faults = true
	if _, err := f.store.ApplySandbox(t.Context(), f.config); err != nil {
		t.Fatal(err)
	}
	set := func(text string, flags ...string) result {
		t.Helper()
		file := filepath.Join(t.TempDir(), "fault.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return f.run(append([]string{"faults", "on", "-f", file, "-o", "json"}, flags...)...)
	}
	const entry = "name: mine\nfor: 2h\nwhen: {first: 3, reference: a*}\nwebhook: {drop: true}\n"
	for _, c := range []struct {
		flags   []string
		seconds int64
		when    string
	}{
		{nil, 7200, `{"reference":"a*","first":3}`},
		{[]string{"--for=1h", "--first=2"}, 3600, `{"reference":"a*","first":2}`},
	} {
		got := decoded[wire.Fault](t, set(entry, c.flags...))
		if got.SecondsLeft == nil || *got.SecondsLeft > c.seconds || *got.SecondsLeft < c.seconds-600 || compacted(t, got.When) != c.when {
			t.Errorf("with %v, it is %+v", c.flags, got)
		}
	}
	set("- name: mine\n").want(t, ExitUsage, "not one entry of spec.faults")
	set("kind: SandboxEnvironment\n").want(t, ExitUsage, "has no name")
	set("name: mine\nwhen: all\nwebhook: {drop: true}\n", "--first=1").want(t, ExitRefused, "when")
	set("name: mine\nwebhook: {dorp: true}\n").want(t, ExitRefused, "webhook.dorp")
}

// Package receivers grades receivers of webhooks that are written in other languages and by others: those of docs/grade.md, and those that
// the libraries of Svix and of Standard Webhooks show.
package receivers

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/grade"
	"github.com/cauri-dev/cauri/server/webhooks"
	"github.com/cauri-dev/cauri/test/npm"
	"github.com/cauri-dev/cauri/test/ports"
)

const secret = "whsec_c2VjcmV0IG9mIHRoZSByZWNlaXZlcg=="

// check starts a receiver, which listens on $PORT, and grades it. How fast it answers counts for nothing here.
func check(t *testing.T, receiver *exec.Cmd, environment ...string) *grade.Card {
	t.Helper()
	port := ports.ForTest(t)
	run(t, receiver, port, append(environment, "PORT="+port, "CAURI_WEBHOOK_SECRET="+secret))
	send := grade.Through(webhooks.NewSender(egress.Guard{AllowLoopback: true}, "test", time.Now), "http://"+loopback(port)+"/webhooks")
	card, err := grade.Run(t.Context(), grade.Options{
		Secret: secret, Now: time.Now, Send: func(ctx context.Context, m grade.Message) grade.Answer {
			answer := send(ctx, m)
			answer.DurationMs = 0
			return answer
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return card
}

func loopback(port string) string { return net.JoinHostPort("127.0.0.1", port) }

// run runs a receiver until the test ends. It returns when the receiver accepts connections.
func run(t *testing.T, receiver *exec.Cmd, port string, environment []string) {
	t.Helper()
	var output bytes.Buffer
	receiver.Env = append(receiver.Environ(), environment...)
	receiver.Stdout, receiver.Stderr = &output, &output
	if err := receiver.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = receiver.Wait()
	}()
	t.Cleanup(func() {
		_ = receiver.Process.Kill()
		<-ended
		if t.Failed() {
			t.Log(output.String())
		}
	})
	for {
		if conn, err := net.Dial("tcp", loopback(port)); err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-ended:
			t.Fatalf("the receiver has ended: %s", receiver.ProcessState)
		case <-t.Context().Done():
			t.Fatal("the receiver does not listen")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// docs/grade.md says what was found in receivers of others, as it is found now.
func TestReceiversOfOthers(t *testing.T) {
	npm.Install(t)
	found := "| receiver | letter | lines that do not hold |\n| --- | --- | --- |\n"
	for _, receiver := range []struct{ file, name string }{
		{"svix.mjs", "The example of Svix for Express, with the package `svix`"},
		{"standardwebhooks.mjs", "A server of Node.js with the package `standardwebhooks`, as its README shows it"},
		{"naive.mjs", "An Express program that parses JSON, looks at no signature, and throws an error for a status that it does not know"},
	} {
		card := check(t, exec.Command("node", filepath.Join("testdata", receiver.file)))
		found += fmt.Sprintf("| %s | %s | %s|\n", receiver.name, card.Letter, notHeld(card))
	}
	_, after, _ := strings.Cut(page(t), "<!-- others: begin -->\n")
	told, _, _ := strings.Cut(after, "<!-- others: end -->\n")
	if diff := cmp.Diff(strings.TrimSpace(told), strings.TrimSpace(found)); diff != "" {
		t.Errorf("docs/grade.md says something else of the receivers of others (-page +found):\n%s\nFound is\n%s", diff, found)
	}
}

// notHeld says which lines of a card do not hold. Those that differ in the status of the payment are one.
func notHeld(card *grade.Card) string {
	var names []string
	count := map[string]int{}
	for _, r := range card.Results {
		if r.Outcome == grade.Failed {
			anchor := r.Of().Anchor
			if count[anchor]++; count[anchor] == 1 {
				names = append(names, anchor)
			}
		}
	}
	said := ""
	for i, name := range names {
		if i > 0 {
			said += ", "
		}
		said += fmt.Sprintf("[%s](#%s)", strings.ReplaceAll(name, "-", " "), name)
		if n := count[name]; n > 1 {
			said += fmt.Sprintf(" (%d)", n)
		}
	}
	return strings.TrimLeft(said+" ", " ")
}

const root = "../.."

// page is docs/grade.md.
func page(t *testing.T) string {
	t.Helper()
	return read(t, "docs/grade.md")
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

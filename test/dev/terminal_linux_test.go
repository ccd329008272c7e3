package dev

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal is a terminal, and the side from which a person uses it.
func openTerminal(t *testing.T) (person, terminal *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	return person, terminal
}

// onTerminal runs the program on a terminal of its own. Its output is what a person sees.
func onTerminal(t *testing.T, args ...string) (p *process, person, terminal *os.File) {
	t.Helper()
	programs := t.TempDir()
	person, terminal = openTerminal(t)
	p = &process{t: t, output: &output{}, opened: programs + "/opened"}
	browser := fmt.Sprintf("#!/bin/sh\nprintf %%s \"$1\" >'%[1]s.new' && mv '%[1]s.new' '%[1]s'\n", p.opened)
	if err := os.WriteFile(programs+"/xdg-open", []byte(browser), 0o700); err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(program, args...)
	p.cmd.Env = append(os.Environ(), "DISPLAY=:0", "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = terminal, terminal, terminal
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		}
	})
	go func() { _, _ = io.Copy(p.output, person) }() // ends with the terminal
	return p, person, terminal
}

func press(t *testing.T, person *os.File, keys string) {
	t.Helper()
	if _, err := person.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

func settings(t *testing.T, terminal *os.File) unix.Termios {
	t.Helper()
	found, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *found
}

// On a terminal, keys work without Enter: s shows the state, o opens the console in a browser, and in `cauri listen` r sends
// the last event again. Ctrl-C ends both, and the terminal is as it was.
func TestKeysOnATerminal(t *testing.T) {
	t.Parallel()
	_, fresh := openTerminal(t)
	before := settings(t, fresh)
	env := t.TempDir() + "/env"
	dev, devKeys, devTerminal := onTerminal(t, "dev", "--port=0", "--env-file="+env, "--database-url="+newDatabase(t))
	dev.awaitOutput("The key s shows the state")
	press(t, devKeys, "s")
	dev.awaitOutput("SANDBOX", "default/shop", "TEST-CLIENT")
	press(t, devKeys, "o")
	dev.awaitOutput("This link opens the console of default/shop once")
	var link []byte
	dev.eventually("the browser opens the link", func() bool {
		link, _ = os.ReadFile(dev.opened)
		return len(link) > 0
	})
	// The arguments of a program can be seen by others, so the browser opens a page that leads to the link.
	page, err := http.DefaultTransport.RoundTrip(httptest.NewRequest(http.MethodGet, string(link), nil))
	if err != nil {
		t.Fatal(err)
	}
	console := page.Header.Get("Location")
	if console == "" || !strings.Contains(dev.output.String(), console) {
		t.Errorf("the browser opens %s, which leads to %q, and that is not printed:\n%s", link, console, dev.output)
	}
	if got, err := http.Get(console); err != nil || got.StatusCode != http.StatusOK {
		t.Errorf("%s answers %v, %v", console, got, err)
	}

	hook, stopHook := receiver(t, make(chan http.Header, 10))
	defer stopHook()
	listen, listenKeys, listenTerminal := onTerminal(t, "listen", "--env-file="+env, "--forward-to="+hook)
	listen.awaitOutput("Press r to send the last one again.")
	if out, err := exec.Command(program, "pay", "--env-file="+env, "--scenario=success").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	dev.awaitOutput("collection              TX_", "payment.completed")
	listen.awaitOutput("answered 200")
	press(t, listenKeys, "r")
	state := func(transactions string, times int) {
		t.Helper()
		form := regexp.MustCompile(`default/shop +yes +` + transactions + ` +0 `)
		dev.eventually("the state has "+transactions+" transactions", func() bool { return len(form.FindAllString(dev.output.String(), -1)) == times })
	}
	press(t, devKeys, "s")
	state("1", 1) // at once: the status of the resource follows some seconds later
	if out, err := exec.Command(program, "reset", "--env-file="+env).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	press(t, devKeys, "s")
	state("0", 2)
	listen.eventually("the event is sent again", func() bool { return strings.Count(listen.output.String(), "answered 200") == 2 })
	for _, ended := range []struct {
		p        *process
		keys     *os.File
		terminal *os.File
	}{{listen, listenKeys, listenTerminal}, {dev, devKeys, devTerminal}} {
		press(t, ended.keys, "\x03") // Ctrl-C
		if err := ended.p.cmd.Wait(); err != nil {
			t.Errorf("it ended with %v\n%s", err, ended.p.output)
		}
		if after := settings(t, ended.terminal); after != before {
			t.Errorf("the settings of the terminal are %+v, before %+v", after, before)
		}
	}
	if text := dev.output.String(); strings.Count(text, "\n") != strings.Count(text, "\r\n") {
		t.Errorf("lines do not begin at the left:\n%q", text)
	}
}

package keypress

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

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

func settings(t *testing.T, terminal *os.File) unix.Termios {
	t.Helper()
	found, err := unix.IoctlGetTermios(int(terminal.Fd()), getSettings)
	if err != nil {
		t.Fatal(err)
	}
	return *found
}

// Keys arrive without Enter, and the terminal is afterwards as it was, however the command ends.
func TestKeysWithoutEnter(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(restore, interrupt func()){
		"by the command": func(restore, _ func()) { restore() },
		"by Ctrl-C":      func(_, interrupt func()) { interrupt() },
		"by a panic": func(restore, _ func()) {
			defer func() { _ = recover() }()
			defer restore()
			panic("what")
		},
	} {
		t.Run(name, func(t *testing.T) {
			person, terminal := openTerminal(t)
			before := settings(t, terminal)
			ctx, interrupt := context.WithCancel(t.Context())
			keys := make(chan byte)
			restore, ok := On(ctx, terminal, func(key byte) { keys <- key })
			if !ok {
				t.Fatal("it is no terminal")
			}
			if _, err := person.WriteString("rs"); err != nil {
				t.Fatal(err)
			}
			if got := []byte{<-keys, <-keys}; string(got) != "rs" {
				t.Errorf("the keys are %q", got)
			}
			during := settings(t, terminal)
			if during.Lflag&unix.ISIG == 0 || during.Oflag&unix.OPOST == 0 {
				t.Error("Ctrl-C or line breaks do not work")
			}
			end(restore, interrupt)
			for interrupted := ctx.Err() != nil; interrupted && settings(t, terminal) != before; {
				time.Sleep(time.Millisecond) // it is restored beside this
			}
			if after := settings(t, terminal); after != before {
				t.Errorf("the settings are %+v, before %+v", after, before)
			}
			interrupt()
		})
	}
}

func TestNoTerminal(t *testing.T) {
	t.Parallel()
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	press := func(key byte) { t.Errorf("the key %q", key) }
	if restore, ok := On(t.Context(), file, press); ok {
		restore()
		t.Error("a file that is no terminal has keys")
	}
	if _, ok := On(t.Context(), strings.NewReader("r"), press); ok {
		t.Error("a text has keys")
	}
}

// Package browser tests the console in Chromium, on the real programs, as people use it.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cauri-dev/cauri/test/system"
)

// chromiumVariable names the environment variable with the path of Chromium. `make e2e` sets it.
const chromiumVariable = "CAURI_CHROMIUM"

// running is the installation and the browser of all tests. Each test has sandboxes and tabs of its own.
var running struct {
	*system.System
	api      *system.API
	program  string
	chromium context.Context
}

func TestMain(m *testing.M) {
	if os.Getenv(chromiumVariable) == "" {
		fmt.Printf("%s is not set: `make e2e` runs these tests\n", chromiumVariable)
		return
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "cauri-browser-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	program, err := system.Build(ctx, folder)
	if err != nil {
		return 0, err
	}
	postgres, err := system.StartPostgres(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, postgres.Close()) }()
	s, err := system.Open(ctx, postgres, program)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	running.System, running.program = s, program
	if running.api, err = s.StartAPI(ctx, "api"); err != nil {
		return 0, err
	}
	if _, err = s.StartWorker(ctx, "worker"); err != nil {
		return 0, err
	}
	stop, err := startChromium(ctx)
	if err != nil {
		return 0, fmt.Errorf("starting Chromium: %w", err)
	}
	defer stop()
	if code = m.Run(); code != 0 {
		fmt.Println(s.Logs(15))
	}
	return code, nil
}

// startChromium starts a browser that reaches no host but this machine.
func startChromium(ctx context.Context) (stop func(), err error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(os.Getenv(chromiumVariable)),
		chromedp.WSURLReadTimeout(within),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.Flag("lang", "en"),
	)
	if os.Geteuid() == 0 { // Chromium has no sandbox for root
		options = append(options, chromedp.NoSandbox)
	}
	ctx, end := chromedp.NewExecAllocator(ctx, options...)
	chromium, endChromium := chromedp.NewContext(ctx)
	running.chromium = chromium
	return func() { endChromium(); end() }, chromedp.Do(chromium)
}

// consoleOf is the address of a sandbox's console.
func consoleOf(s *system.Sandbox) string {
	return running.api.URL + "/sandboxes/" + s.Config.Namespace + "/" + s.Config.Name + "/console"
}

// lines joins what a test found, one finding a line.
func lines(found []string) string { return "\n" + strings.Join(found, "\n") }

package cli

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// browseWait is how long Browse waits for the error of the program that opens URLs. The program may run as long as the
// browser.
const browseWait = time.Second

// Browse opens a URL in the user's browser. It reports whether that worked: a machine may have no browser or no screen.
func Browse(ctx context.Context, url string) bool {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url} // unlike start, it needs no quoting of the URL
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" { // xdg-open would start a browser in the terminal
			return false
		}
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), name, args...)
	if cmd.Start() != nil {
		return false
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err == nil
	case <-time.After(browseWait):
		return true
	}
}

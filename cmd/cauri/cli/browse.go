package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// browseWait is how long Browse waits for the error of the program that opens URLs. The program may run as long as the
// browser.
const browseWait = time.Second

// visitWait is how long Browse waits for the browser to ask for the page that leads to the link.
const visitWait = 30 * time.Second

// Browse opens a link in the user's browser. It reports whether that worked: a machine may have no browser or no screen.
// The link has a token, and all users of a machine can see the arguments of its programs. So on Linux the browser gets the
// address of a page that leads to the link, and on macOS a file that only the user can read. Windows shows the arguments to
// the user and to administrators only.
func Browse(ctx context.Context, link string) bool {
	switch runtime.GOOS {
	case "windows":
		return opens(ctx, "rundll32", "url.dll,FileProtocolHandler", link) // unlike start, it needs no quoting of the URL
	case "darwin":
		page, err := pageWith(link)
		return err == nil && opens(ctx, "open", page)
	}
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" { // xdg-open would start a browser in the terminal
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, visitWait)
	defer cancel()
	address, visited, err := offer(ctx, link, isOwn)
	if err != nil || !opens(ctx, "xdg-open", address) {
		return false
	}
	select {
	case <-visited:
		return true
	case <-ctx.Done():
		return false
	}
}

// opens starts a program that opens a URL, and reports whether it has not failed at once.
func opens(ctx context.Context, name string, args ...string) bool {
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

// pageWith writes a page that leads to a link into a new file, which only the user can read. The link works once, and for
// minutes only.
func pageWith(link string) (path string, err error) {
	file, err := os.CreateTemp("", "cauri-*.html") // with the mode 0600
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	_, err = file.WriteString(`<!doctype html><meta http-equiv=refresh content="0;url=` + strings.ReplaceAll(link, `"`, "%22") + `">`)
	return file.Name(), err
}

// offer serves a page on this machine that leads to a link, until a program of the user has asked for it, or ctx ends. isOwn
// reports whether a connection between two addresses is one of the user's.
func offer(
	ctx context.Context, link string, isOwn func(from, to netip.AddrPort) bool,
) (address string, visited <-chan struct{}, err error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	path, done := "/"+rand.Text(), make(chan struct{})
	server := &http.Server{ReadHeaderTimeout: visitWait}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || r.URL.Path != path || !isOwn(from, netip.MustParseAddrPort(listener.Addr().String())) {
			http.NotFound(w, r)
			return
		}
		if stop() { // nobody has been here
			w.Header().Set("Cache-Control", "no-store")
			http.Redirect(w, r, link, http.StatusSeeOther)
			go func() {
				_ = server.Shutdown(context.WithoutCancel(ctx)) // after this answer
				close(done)
			}()
		}
	})
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String() + path, done, nil
}

// isOwn reports whether a connection from one address of this machine to another is of a program of the user, as Linux
// lists it in /proc/net/tcp.
func isOwn(from, to netip.AddrPort) bool {
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(table)) {
		columns := strings.Fields(line)
		if len(columns) > 7 && columns[1] == inTable(from) && columns[2] == inTable(to) {
			return columns[7] == strconv.Itoa(os.Getuid())
		}
	}
	return false
}

// inTable returns an address and port as /proc/net/tcp has them: an IPv4 address in the byte order of the machine.
func inTable(at netip.AddrPort) string {
	b := at.Addr().Unmap().As4()
	return fmt.Sprintf("%02X%02X%02X%02X:%04X", b[3], b[2], b[1], b[0], at.Port())
}

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledgertest"
)

// kubernetes is a Kubernetes API that knows the controller's kinds and has none of their objects; it returns its kubeconfig file.
func kubernetes(t *testing.T) string {
	t.Helper()
	const group = "cauri.dev"
	mux := http.NewServeMux()
	for path, document := range map[string]string{
		"/api":    `{"kind":"APIVersions","versions":["v1"]}`,
		"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"secrets","namespaced":true,"kind":"Secret"}]}`,
		"/apis": `{"kind":"APIGroupList","groups":[{"name":"` + group + `","versions":[{"groupVersion":"` + group +
			`/v1alpha1","version":"v1alpha1"}],` +
			`"preferredVersion":{"groupVersion":"` + group + `/v1alpha1","version":"v1alpha1"}}]}`,
		"/apis/" + group + "/v1alpha1": `{"kind":"APIResourceList","groupVersion":"` + group + `/v1alpha1","resources":[` +
			`{"name":"sandboxenvironments","namespaced":true,"kind":"SandboxEnvironment"},` +
			`{"name":"testclients","namespaced":true,"kind":"TestClient"},` +
			`{"name":"expectations","namespaced":true,"kind":"Expectation"}]}`,
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, document)
		})
	}
	for path, kind := range map[string]string{
		"/api/v1/secrets": "Secret", "/apis/" + group + "/v1alpha1/sandboxenvironments": "SandboxEnvironment",
		"/apis/" + group + "/v1alpha1/testclients": "TestClient", "/apis/" + group + "/v1alpha1/expectations": "Expectation",
	} {
		apiVersion := strings.TrimPrefix(strings.TrimPrefix(path[:strings.LastIndex(path, "/")], "/apis/"), "/api/")
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			w.Header().Set("Content-Type", "application/json")
			switch {
			case query.Has("sendInitialEvents"): // as an older Kubernetes: list first
				w.WriteHeader(http.StatusUnprocessableEntity)
				fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)
			case query.Has("watch"):
				w.(http.Flusher).Flush()
				<-r.Context().Done() // nothing happens
			case strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList"):
				fmt.Fprint(w, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"items":[]}`)
			default:
				fmt.Fprintf(w, `{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"1"},"items":[]}`, kind+"List", apiVersion)
			}
		})
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := `{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":"` + server.URL + `"}}],` +
		`"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],"users":[{"name":"u","user":{}}],"current-context":"c"}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func controllerArgs(t *testing.T, health, metrics string) []string {
	t.Helper()
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"serve", "controller", "--kubeconfig=" + kubernetes(t), "--encryption-key-file=" + keys, "--health-address=" + health,
		"--metrics-address=" + metrics}
}

// A client of the controller's probes and metrics whose body does not come is answered, its connection is closed, and it does not hold
// up the end of the process. What is answered is what controller-runtime's own servers answer.
func TestControllerServersKeepDeadlines(t *testing.T) {
	t.Parallel()
	p := start(t, ledgertest.URL(t), 2, controllerArgs(t, "127.0.0.1:0", "127.0.0.1:0")...)
	probes, metrics := p.addresses["controller's probes"], p.addresses["controller's metrics"]
	eventually(t, "the controller is ready", func() bool { code, _ := get(probes, "/readyz"); return code == http.StatusOK })
	eventually(t, "its controllers work", func() bool {
		_, text := get(metrics, "/metrics")
		return strings.Contains(text, "\ncontroller_runtime_max_concurrent_reconciles{")
	})
	var all sync.WaitGroup
	for _, c := range []struct {
		address, path string
		status        int
		body          string // contained in the answer
	}{
		{probes, "/healthz", 200, "ok"},
		{probes, "/healthz/ping", 200, "ok"},
		{probes, "/healthz?verbose", 200, "[+]ping ok\nhealthz check passed\n"},
		{probes, "/readyz", 200, "ok"},
		{probes, "/readyz/caches", 200, "ok"},
		{probes, "/readyz?verbose", 200, "[+]caches ok\nhealthz check passed\n"},
		{probes, "/readyz/other", 404, ""},
		{probes, "/metrics", 404, ""},
		{metrics, "/metrics", 200, "\ncontroller_runtime_max_concurrent_reconciles{"},
		{metrics, "/metrics", 200, "\nrest_client_requests_total{"},
		{metrics, "/metrics", 200, "\ncauri_build_info{"},
		{metrics, "/metrics", 200, "\nprocess_cpu_seconds_total "},
		{metrics, "/healthz", 404, ""},
	} {
		for _, request := range []string{
			"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
			"GET %s HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n",
			"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf",
			"POST %s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nha",
		} {
			request = fmt.Sprintf(request, c.path)
			all.Go(func() { // at once, since each takes as long as a body may
				if status, body, err := untilClosed(c.address, request); err != nil || status != c.status || !strings.Contains(body, c.body) {
					t.Errorf("%q was answered %d %.300q, %v; want %d with %q", request, status, body, err, c.status, c.body)
				}
			})
		}
	}
	all.Wait()
	for _, address := range []string{probes, metrics} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-"); err != nil {
			t.Fatal(err)
		}
	}
	if p.terminate(); p.err != nil {
		t.Errorf("it ended with %v", p.err)
	}
}

// untilClosed sends a request, reads until the server has closed the connection, and returns the answer.
func untilClosed(address, request string) (status int, body string, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0, "", err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(soon))
	if _, err := io.WriteString(conn, request); err != nil {
		return 0, "", err
	}
	reader := bufio.NewReader(conn)
	answer, err := http.ReadResponse(reader, nil)
	if err != nil {
		return 0, "", err
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return answer.StatusCode, string(text), err
	}
	_, err = io.Copy(io.Discard, reader)
	return answer.StatusCode, string(text), err
}

// An address that somebody else has taken ends the controller with an error that names it.
func TestControllerServersNeedTheirAddresses(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	database := ledgertest.URL(t)
	for name, args := range map[string][]string{
		"controller's probes":  controllerArgs(t, taken.Addr().String(), "0"),
		"controller's metrics": controllerArgs(t, "0", taken.Addr().String()),
	} {
		p := launch(t, database, args...)
		p.follow(make(chan [2]string, 1))
		p.wait()
		want := "cauri: listening for the " + name + ": " + taken.Addr().String() + " is used by another program"
		if p.err == nil || !strings.Contains(p.log.String(), want) {
			t.Errorf("%s: it ended with %v and said\n%s", name, p.err, p.log.String())
		}
	}
}

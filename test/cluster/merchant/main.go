// Command merchant is a merchant's backend, to be run in a cluster by tests. It finds its sandboxes as Service Bindings, receives
// their webhooks, and calls Cauri as it is told. Below /shop/{binding} it is a shop that a pipeline judges.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/cauri-dev/cauri/test/cluster/merchantapi"
	"github.com/cauri-dev/cauri/test/judged"
)

const address = ":8080"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "merchant:", err)
		os.Exit(1)
	}
}

// run serves, or with `kill POD` ends a pod's processes.
func run(ctx context.Context, args []string) error {
	if len(args) == 2 && args[0] == "kill" {
		return kill(args[1])
	}
	if len(args) > 0 {
		return fmt.Errorf("unknown arguments %q: write none, or kill POD", args)
	}
	bindings, err := readBindings(os.Getenv("SERVICE_BINDING_ROOT"))
	if err != nil {
		return err
	}
	server := &http.Server{Addr: address, Handler: newMerchant(bindings).routes(), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	slog.Info("listening", "address", address, "bindings", len(bindings))
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// merchant is the backend.
type merchant struct {
	bindings map[string]binding
	endpoint *endpoint
	loads    *loads
}

func newMerchant(bindings map[string]binding) *merchant {
	return &merchant{bindings: bindings, endpoint: newEndpoint(bindings), loads: newLoads(bindings)}
}

func (m *merchant) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /webhooks/{binding}", m.endpoint.receive)
	mux.HandleFunc("PUT /behavior", m.endpoint.behave)
	mux.HandleFunc("GET /arrivals/{binding}", m.endpoint.tell)
	mux.HandleFunc("POST /calls", m.call)
	for name, b := range m.bindings {
		mux.Handle("/shop/"+name+"/", http.StripPrefix("/shop/"+name, judged.NewShop(b.verify)))
	}
	mux.HandleFunc("POST /loads/{name}", m.loads.begin)
	mux.HandleFunc("GET /loads/{name}", m.loads.tell)
	mux.HandleFunc("DELETE /loads/{name}", m.loads.end)
	return mux
}

// call makes one request and passes its answer on.
func (m *merchant) call(w http.ResponseWriter, r *http.Request) {
	var asked merchantapi.Call
	if !read(w, r, &asked) {
		return
	}
	b, known := m.bindings[asked.Binding]
	if !known {
		http.Error(w, fmt.Sprintf("there is no binding %q", asked.Binding), http.StatusNotFound)
		return
	}
	if asked.URI != "" {
		b.uri = asked.URI
	}
	if asked.Key != "" {
		b.key = asked.Key
	}
	answer, err := b.do(r.Context(), http.DefaultClient, asked.Method, asked.Path, asked.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	write(w, answer)
}

func read(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}

func write(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // who asked may have gone
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// devRoot is an operator's own API of a sandbox.
type devRoot struct {
	sandbox  types.NamespacedName
	operator payments.Operator
}

// String returns the name of the root in the state of `cauri dev`.
func (r devRoot) String() string {
	return "operator-port " + r.sandbox.String() + " " + string(r.operator)
}

// devRoots are the ports at whose roots the operators' own APIs of the sandboxes are served. A port is opened when its
// address is first asked for, and closed at the end. devRoots implements [httpfront.Roots], and is safe for concurrent
// use.
type devRoots struct {
	api     *net.TCPAddr // that the API listens on
	host    string       // host of the URLs
	enabled bool
	listed  map[payments.Operator]net.Listener // of --operator-ports, for the first sandbox; nil: ports are chosen
	state   keptPorts

	mutex  sync.Mutex
	order  []types.NamespacedName // the sandboxes, in the order of their ports
	open   map[devRoot]net.Listener
	served func(net.Listener) // serves an open port; nil before the start of the api
	serves sync.WaitGroup
}

// keptPorts remembers the port of each root for the next start. It is a [devState].
type keptPorts interface {
	port(devRoot) int // 0 if it is unknown
	keepPort(devRoot, int)
}

// newDevRoots opens the ports that --operator-ports lists. listener is the one of the API.
func newDevRoots(o devOptions, listener net.Listener) (*devRoots, error) {
	ports, choose, err := o.ports()
	if err != nil {
		return nil, err
	}
	r := &devRoots{api: listener.Addr().(*net.TCPAddr), open: map[devRoot]net.Listener{}, enabled: len(ports) > 0}
	if choose { // in a container, only published ports can be reached, and nobody publishes a port that was chosen
		r.enabled = r.api.IP.IsLoopback()
	}
	if r.host = r.api.IP.String(); !r.api.IP.IsLoopback() {
		r.host = o.publicURL(listener).Hostname()
	}
	for operator, port := range ports {
		at, err := r.listen(port)
		if err != nil {
			r.close()
			return nil, fmt.Errorf("%w: choose another port for %s with --operator-ports", err, operator)
		}
		if r.listed == nil {
			r.listed = map[payments.Operator]net.Listener{}
		}
		r.listed[operator] = at
	}
	return r, nil
}

func (r *devRoots) listen(port int) (net.Listener, error) {
	return net.ListenTCP("tcp", &net.TCPAddr{IP: r.api.IP, Port: port, Zone: r.api.Zone})
}

// Find implements [httpfront.Roots].
func (r *devRoots) Find(request *http.Request) *httpfront.Root {
	at, _ := request.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if at == nil || at.Port == r.api.Port {
		return nil
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	u := url.URL{Scheme: "http", Host: cmp.Or(request.Host, at.String())}
	for root, listener := range r.open {
		if portOf(listener) == at.Port {
			return &httpfront.Root{URL: u.String(), Path: httpfront.OperatorPath(httpfront.SandboxName(root.sandbox), root.operator)}
		}
	}
	return &httpfront.Root{URL: u.String(), Path: "/operator-ports"} // a listed port of an operator that the first sandbox does not have
}

// URL implements [httpfront.Roots].
func (r *devRoots) URL(of *sandboxes.Sandbox, operator payments.Operator) string {
	return r.url(devRoot{types.NamespacedName{Namespace: of.Namespace, Name: of.Name}, operator})
}

// Pattern implements [httpfront.Roots]. On a developer's machine, it may tell which sandboxes there are.
func (r *devRoots) Pattern(named httpfront.SandboxName, operator payments.Operator) string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if listener := r.open[devRoot{types.NamespacedName(named), operator}]; listener != nil {
		return "http://" + r.hostOf(listener)
	}
	return ""
}

// url returns the URL of a root, and opens its port if it is not open; "" for none.
func (r *devRoots) url(root devRoot) string {
	if !r.enabled {
		return ""
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	listener := r.open[root]
	if listener == nil {
		if listener = r.choose(root); listener == nil {
			return ""
		}
		r.open[root] = listener
		if r.served != nil && r.listed == nil {
			r.served(listener)
		}
	}
	return "http://" + r.hostOf(listener)
}

// choose returns the listener of a root that is not open; nil for none. If no port is listed, it takes the first of these
// that is free: the port of the last start, the one that follows from the port of the API, any port.
func (r *devRoots) choose(root devRoot) net.Listener {
	place := r.placeOf(root.sandbox)
	if r.listed != nil {
		if place > 0 {
			return nil
		}
		return r.listed[root.operator]
	}
	for _, port := range []int{r.state.port(root), r.firstPort(place, root.operator), -1} {
		if port == 0 {
			continue
		}
		if listener, err := r.listen(max(port, 0)); err == nil {
			r.state.keepPort(root, portOf(listener))
			return listener
		}
	}
	slog.Warn("no port is free for an operator's own API", "sandbox", root.sandbox, "operator", root.operator)
	return nil
}

// firstPort returns the port that follows from the port of the API. It is below the range of outgoing connections. APIs
// with ports that follow each other have different ones.
func (r *devRoots) firstPort(place int, operator payments.Operator) int {
	return 20_000 + r.api.Port%1000*10 + place*len(payments.Operators) + slices.Index(payments.Operators, operator) + 1
}

// placeOf returns the place of a sandbox among all that have had a place. The first one is 0.
func (r *devRoots) placeOf(sandbox types.NamespacedName) int {
	if i := slices.Index(r.order, sandbox); i >= 0 {
		return i
	}
	r.order = append(r.order, sandbox)
	return len(r.order) - 1
}

// place gives places to sandboxes, in this order.
func (r *devRoots) place(all []types.NamespacedName) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, sandbox := range all {
		r.placeOf(sandbox)
	}
}

// serve serves all ports until ctx ends.
func (r *devRoots) serve(ctx context.Context, handler http.Handler) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.served = func(listener net.Listener) {
		r.serves.Go(func() {
			if err := serve(ctx, "API of an operator", listener, handler); err != nil {
				slog.WarnContext(ctx, "a port has ended", "error", err)
			}
		})
	}
	for listener := range r.listeners() {
		r.served(listener)
	}
}

// listeners returns the listeners of all ports.
func (r *devRoots) listeners() iter.Seq[net.Listener] {
	if r.listed != nil {
		return maps.Values(r.listed)
	}
	return maps.Values(r.open)
}

// close closes all ports, and waits until their requests are answered.
func (r *devRoots) close() {
	r.mutex.Lock()
	for listener := range r.listeners() {
		_ = listener.Close() // it may be closed already
	}
	r.mutex.Unlock()
	r.serves.Wait()
}

func (r *devRoots) hostOf(listener net.Listener) string {
	return net.JoinHostPort(r.host, strconv.Itoa(portOf(listener)))
}

func portOf(listener net.Listener) int { return listener.Addr().(*net.TCPAddr).Port }

// The values of --operator-ports that list no port.
const (
	portsAuto = "auto"
	portsOff  = "off"
)

// ports returns the ports that --operator-ports lists. choose reports whether ports are chosen instead.
func (o devOptions) ports() (listed map[payments.Operator]int, choose bool, err error) {
	switch o.operatorPorts {
	case portsAuto, "":
		return nil, true, nil
	case portsOff:
		return nil, false, nil
	}
	listed = map[payments.Operator]int{}
	for entry := range strings.SplitSeq(o.operatorPorts, ",") {
		name, text, _ := strings.Cut(strings.TrimSpace(entry), "=")
		port, err := strconv.Atoi(text)
		operator := payments.Operator(name)
		if operators.NativeAPI(operator) == nil || err != nil || port < 1 || port > 65535 || listed[operator] != 0 {
			return nil, false, errors.New(badPorts(o.operatorPorts))
		}
		listed[operator] = port
	}
	return listed, false, nil
}

func badPorts(text string) string {
	var names []string
	for _, api := range operators.NativeAPIs() {
		names = append(names, string(api.Operator))
	}
	return fmt.Sprintf("--operator-ports=%s: write auto, off, or a port for each operator, such as %s=20801; the operators are %s",
		text, names[0], strings.Join(names, ", "))
}

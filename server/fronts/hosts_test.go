package fronts

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// Who writes the name of the machine itself into Host without being on it gets no console.
func TestConsoleOfALoopbackHost(t *testing.T) {
	t.Parallel()
	front := apart(&url.URL{Scheme: "https", Host: "console.example.com"}, http.NotFoundHandler())(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	for _, c := range []struct {
		host, local, remote, header string
		want                        int
	}{
		{"localhost:8080", "127.0.0.1:8080", "127.0.0.1:50000", "", http.StatusOK},
		{"[::1]:8080", "[::1]:8080", "[::1]:50000", "X-Request-Id", http.StatusOK},
		{"console.example.com", "10.0.0.7:8080", "10.0.0.9:50000", "X-Forwarded-For", http.StatusOK},
		{"localhost:8080", "127.0.0.1:8080", "10.0.0.9:50000", "", http.StatusNotFound},
		{"localhost:8080", "10.0.0.7:8080", "127.0.0.1:50000", "", http.StatusNotFound},
		{"127.0.0.1", "10.0.0.7:8080", "10.0.0.9:50000", "", http.StatusNotFound},
		{"localhost:8080", "127.0.0.1:8080", "127.0.0.1:50000", "X-Forwarded-For", http.StatusNotFound},
		{"localhost:8080", "127.0.0.1:8080", "127.0.0.1:50000", "X-Forwarded-Client-Cert", http.StatusNotFound},
		{"localhost:8080", "127.0.0.1:8080", "127.0.0.1:50000", "Forwarded", http.StatusNotFound},
		{"localhost:8080", "127.0.0.1:8080", "127.0.0.1:50000", "Via", http.StatusNotFound},
	} {
		local, err := net.ResolveTCPAddr("tcp", c.local)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "/sandboxes/team/shop/console", nil)
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(local)))
		r.Host, r.RemoteAddr = c.host, c.remote
		if c.header != "" {
			r.Header.Set(c.header, "")
		}
		w := httptest.NewRecorder()
		front.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%+v: answered %d", c, w.Code)
		}
	}
}

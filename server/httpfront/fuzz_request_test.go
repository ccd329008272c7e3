package httpfront

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/requests"
)

// FuzzAuthorization checks that a key is taken as it was sent, and nothing else for a key.
func FuzzAuthorization(f *testing.F) {
	for _, seed := range []string{"Bearer cauri_sk_test_x", "bearer  x ", "Bearer", "Bearer ", "Basic eDp5", "Bearerx y", " Bearer x", "Bearer x y", "Bearer\tx", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		r := httptest.NewRequest(http.MethodGet, "/v1/payments", nil)
		r.Header["Authorization"] = []string{header}
		key, ok := Bearer(r)
		if ok &&
			(key == "" || key != strings.TrimSpace(key) || !strings.HasSuffix(strings.TrimSpace(header), key) ||
				!strings.EqualFold(header[:7], "Bearer ")) {
			t.Errorf("%q is read as the key %q", header, key)
		}
		if plain := strings.TrimSpace(header); plain != "" {
			r.Header["Authorization"] = []string{"Bearer " + plain}
			if key, ok := Bearer(r); !ok || key != plain {
				t.Errorf("the key %q is read as %q, %t", plain, key, ok)
			}
		}
		r.Header["Authorization"] = []string{header, "Bearer another"}
		if second, _ := Bearer(r); second == "another" && key != "another" {
			t.Errorf("with %q, a second header is taken", header)
		}
	})
}

// FuzzPath checks that a path is of the sandbox that stands in it, that its form does not change its route, and that answers lead back to
// the form that was asked.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"/v1/payments/x", "/api/v1/payments/TX_1", "/sandboxes/team/checkout/v1/payments/TX_1", "/sandboxes/a/b/api/v1/payments/x", "/sandboxes/a/b", "/sandboxes///v1/payments/x", "/sandboxes/v1/payments/v1/payments/x", "/sandboxes/a/b/sandboxes/c/d/v1/payments/x", "/%2e%2e/v1/x"} {
		f.Add(seed)
	}
	const route = "/v1/payments/{id}"
	f.Fuzz(func(t *testing.T, path string) {
		if !strings.HasPrefix(path, "/") {
			return
		}
		router := chi.NewRouter()
		router.Use(New(Options{RoutedPath: func(u *url.URL) string { return u.Path }}).byRoutedPath)
		for _, form := range FormsOf(route) {
			router.Get(form, func(_ http.ResponseWriter, r *http.Request) {
				if RouteOf(r) != route {
					t.Errorf("%q is routed as %q", path, RouteOf(r))
				}
				if back := PathTo(r, "/v1/payments/"+chi.URLParam(r, "id")); back != path {
					t.Errorf("%q leads back to %q", path, back)
				}
				if of, found := SandboxInPath(r); found != strings.HasPrefix(path, "/sandboxes/") ||
					found && !strings.HasPrefix(path, "/sandboxes/"+of.Namespace+"/"+of.Name+"/") {
					t.Errorf("%q is of the sandbox %v", path, of)
				}
			})
		}
		router.ServeHTTP(httptest.NewRecorder(), &http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}, Header: http.Header{}})
	})
}

// FuzzRequestID checks that a caller's id of a request comes back as it was, or another one takes its place, and that it has a form that
// neither logs nor headers mind.
func FuzzRequestID(f *testing.F) {
	for _, seed := range []string{"req-1", "", "a b", "x\ny", strings.Repeat("a", 129), "é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if requests.IDForm.MatchString(id) && (len(id) > 128 || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })) {
			t.Errorf("%q is taken", id)
		}
	})
}

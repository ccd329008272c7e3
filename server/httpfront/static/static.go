// Package static serves content that does not change while the program runs: pages and descriptions of APIs.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/time/rate"
)

// CacheControl lets a browser keep an answer for five minutes. Then it revalidates it by its ETag. No shared cache keeps one:
// documents and pages repeat the host of the request, which anybody can write.
const CacheControl = "private, max-age=300"

// Content is an answer that does not change while the program runs.
type Content struct {
	Header http.Header
	parts  [][]byte // of the body, in this order
}

// compressions bounds the compressed answers of a process, which anybody may ask for: each takes some milliseconds. What is
// beyond is sent as it is.
var compressions = rate.NewLimiter(20, 20) // a second, and at once

// New returns a content with a body of this type.
func New(contentType string, body []byte) *Content {
	return Of(contentType, string(body), body)
}

// Of returns a content whose body has these parts, which it does not copy: clients that read slowly share them. The text version
// differs where the parts do.
func Of(contentType, version string, parts ...[]byte) *Content {
	return &Content{parts: parts, Header: http.Header{
		"Content-Type":           {contentType},
		"Etag":                   {etag([]byte(version))},
		"Cache-Control":          {CacheControl},
		"X-Content-Type-Options": {"nosniff"},
		"Vary":                   {"Accept-Encoding"},
	}}
}

func etag(parts ...[]byte) string {
	sum := sha256.Sum256(bytes.Join(parts, nil))
	return `W/"` + hex.EncodeToString(sum[:8]) + `"`
}

// Body returns the body without the property that [Content.WithServers] adds.
func (s *Content) Body() []byte { return bytes.Join(s.parts, nil) }

// ServeHTTP implements [http.Handler]. It compresses the answer if the client accepts it, within [compressions].
func (s *Content) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.serve(w, r, compressions) }

func (s *Content) serve(w http.ResponseWriter, r *http.Request, compressions *rate.Limiter) {
	for name, values := range s.Header {
		w.Header()[name] = values
	}
	if strings.Contains(r.Header.Get("If-None-Match"), s.Header.Get("Etag")) {
		w.Header().Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	var to io.Writer = w
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && compressions.Allow() {
		w.Header().Set("Content-Encoding", "gzip")
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level exists
		defer func() { _ = z.Close() }()
		to = z
	}
	for _, part := range s.parts {
		if _, err := to.Write(part); err != nil { // the client has disconnected
			return
		}
	}
}

// WithServers returns a copy whose body, a JSON object, has the first property "servers". The parameter servers is a
// JSON value.
func (s *Content) WithServers(servers []byte) *Content {
	with := *s
	with.Header = s.Header.Clone()
	with.Header.Set("Etag", etag([]byte(s.Header.Get("Etag")), servers))
	with.parts = [][]byte{append(append([]byte(`{"servers":`), servers...), ','), s.parts[0][1:]}
	return &with
}

// AskedAt returns the base URL that a client used for a request to this path, and the prefix before this path in the
// request's URL. If the request's host is that of the public URL, the base URL is the public URL. An Ingress may have
// changed the scheme of such a request. The parameter public may be nil. If the request has no host, as
// HTTP/1.0 allows, the base URL is the public URL, or else has the address of the connection.
func AskedAt(r *http.Request, public *url.URL, path string) (origin, prefix string) {
	u := &url.URL{Scheme: "http", Host: r.Host}
	if address, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && r.Host == "" {
		u.Host = address.String()
	}
	switch {
	case public != nil && (r.Host == "" || strings.EqualFold(public.Host, r.Host)):
		u = public
	case r.TLS != nil:
		u.Scheme = "https"
	}
	before := url.URL{Path: strings.TrimSuffix(r.URL.Path, path)}
	return strings.TrimSuffix(u.String(), "/"), before.EscapedPath()
}

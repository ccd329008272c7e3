// Package static serves what is the same for as long as the program runs: pages, and descriptions of APIs.
package static

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
)

// CacheControl lets an answer be kept for a while, and then asks whether it has changed.
const CacheControl = "public, max-age=300"

// Content is an answer that is the same for as long as the program runs.
type Content struct {
	Header       http.Header
	before, body []byte // one after the other
}

// New is the content of a type.
func New(contentType string, body []byte) *Content {
	return &Content{body: body, Header: http.Header{
		"Content-Type":           {contentType},
		"Etag":                   {etag(body)},
		"Cache-Control":          {CacheControl},
		"X-Content-Type-Options": {"nosniff"},
	}}
}

func etag(parts ...[]byte) string {
	sum := sha256.Sum256(bytes.Join(parts, nil))
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

// Body is what it is, without servers.
func (s *Content) Body() []byte { return s.body }

// ServeHTTP implements [http.Handler].
func (s *Content) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, values := range s.Header {
		w.Header()[name] = values
	}
	if strings.Contains(r.Header.Get("If-None-Match"), s.Header.Get("Etag")) {
		w.Header().Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(s.before)
	_, _ = w.Write(s.body) // a client that went away misses nothing
}

// WithServers is a description of an API, which is a JSON object, with its servers as the first property.
func (s *Content) WithServers(servers []byte) *Content {
	with := *s
	with.Header = s.Header.Clone()
	with.Header.Set("Etag", etag([]byte(s.Header.Get("Etag")), servers))
	with.before, with.body = append(append([]byte(`{"servers":`), servers...), ','), s.body[1:]
	return &with
}

// AskedAt is where a request for a path was made: the URL under which the API is there, and the form of the path. A
// request to the host of the public URL of the API, which may be nil, came there, whatever scheme and path the Ingress
// has left of it.
func AskedAt(r *http.Request, public *url.URL, path string) (origin, form string) {
	if r.Host == "" { // HTTP/1.0
		return "", ""
	}
	u := &url.URL{Scheme: "http", Host: r.Host}
	switch {
	case public != nil && strings.EqualFold(public.Host, r.Host):
		u = public
	case r.TLS != nil:
		u.Scheme = "https"
	}
	before := url.URL{Path: strings.TrimSuffix(r.URL.Path, path)}
	return strings.TrimSuffix(u.String(), "/"), before.EscapedPath()
}

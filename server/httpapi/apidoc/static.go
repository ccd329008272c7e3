package apidoc

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// staticCacheControl lets an answer be kept for a while, and then asks whether it has changed.
const staticCacheControl = "public, max-age=300"

// static is an answer that is the same for as long as the program runs.
type static struct {
	header       http.Header
	before, body []byte // one after the other
}

func newStatic(contentType string, body []byte) *static {
	return &static{body: body, header: http.Header{
		"Content-Type":           {contentType},
		"Etag":                   {etag(body)},
		"Cache-Control":          {staticCacheControl},
		"X-Content-Type-Options": {"nosniff"},
	}}
}

func etag(parts ...[]byte) string {
	sum := sha256.Sum256(bytes.Join(parts, nil))
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

func (s *static) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, values := range s.header {
		w.Header()[name] = values
	}
	if strings.Contains(r.Header.Get("If-None-Match"), s.header.Get("Etag")) {
		w.Header().Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(s.before)
	_, _ = w.Write(s.body) // a client that went away misses nothing
}

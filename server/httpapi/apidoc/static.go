package apidoc

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
)

// staticCacheControl lets an answer be kept for a while, and then asks whether it has changed.
const staticCacheControl = "public, max-age=300"

// DocumentHandler serves the API's description as JSON. It is made once in a process: tests start hundreds of servers.
var DocumentHandler = sync.OnceValue(func() http.Handler {
	encoded, err := json.Marshal(NewDocument())
	if err != nil {
		panic("encoding the API's description: " + err.Error()) // it is the same in every program, so every test would see it
	}
	return newStatic(MediaJSON, encoded)
})

// static is an answer that is the same for as long as the program runs.
type static struct {
	header http.Header
	body   []byte
}

func newStatic(contentType string, body []byte) *static {
	sum := sha256.Sum256(body)
	return &static{body: body, header: http.Header{
		"Content-Type":           {contentType},
		"Etag":                   {`"` + hex.EncodeToString(sum[:8]) + `"`},
		"Cache-Control":          {staticCacheControl},
		"X-Content-Type-Options": {"nosniff"},
	}}
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
	_, _ = w.Write(s.body) // a client that went away misses nothing
}

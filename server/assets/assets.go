// Package assets has what all pages share, those of the console and those that describe the APIs: files, and the
// appearance.
package assets

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5"
)

//go:embed *.css *.js *.svg
var files embed.FS

// Policy is the Content-Security-Policy of all pages: nothing inline, and nothing from another origin.
const Policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// file is a file that pages refer to. Its address has the hash of its content, so that browsers keep it for a year.
type file struct {
	contentType  string
	plain, small []byte // small is compressed by gzip
}

// all maps names with a hash to files, and plain names to names with a hash.
var all = sync.OnceValue(func() (all struct {
	byName map[string]file
	named  map[string]string
}) {
	all.byName, all.named = map[string]file{}, map[string]string{}
	entries, _ := files.ReadDir(".") // embedded files are always there
	for _, entry := range entries {
		text, _ := files.ReadFile(entry.Name())
		var small bytes.Buffer
		z, _ := gzip.NewWriterLevel(&small, gzip.BestCompression) // the level exists
		_, _ = z.Write(text)
		_ = z.Close()
		sum := sha256.Sum256(text)
		extension := path.Ext(entry.Name())
		name := strings.TrimSuffix(entry.Name(), extension) + "." + hex.EncodeToString(sum[:6]) + extension
		all.named[entry.Name()] = name
		all.byName[name] = file{mime.TypeByExtension(extension), text, small.Bytes()}
	}
	return all
})

// Named returns the name of a file with the hash of its content.
func Named(name string) string { return all().named[name] }

// Sizes returns the compressed sizes of the files in bytes.
func Sizes() map[string]int {
	sizes := map[string]int{}
	for name, f := range all().byName {
		sizes[name] = len(f.small)
	}
	return sizes
}

// Serve serves the file that the parameter "file" of the path names. It needs no session: the files are the same for all.
func Serve(w http.ResponseWriter, r *http.Request) {
	f, ok := all().byName[chi.URLParam(r, "file")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	body, header := f.plain, w.Header()
	header.Set("Content-Type", f.contentType)
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		body = f.small
	}
	_, _ = w.Write(body) // a browser that went away misses nothing
}

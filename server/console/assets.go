package console

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

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"
)

//go:embed assets/console.css assets/console.js assets/htmx.js assets/sprite.svg assets/shell.svg
var files embed.FS

// asset is a file that pages refer to. Its address has the hash of its content, so that browsers keep it for a year.
type asset struct {
	contentType  string
	plain, small []byte // small is compressed by gzip
}

// assets maps names with a hash to files, and plain names to names with a hash.
var assets = sync.OnceValue(func() (all struct {
	byName map[string]asset
	named  map[string]string
}) {
	all.byName, all.named = map[string]asset{}, map[string]string{}
	entries, _ := files.ReadDir("assets") // embedded files are always there
	for _, entry := range entries {
		text, _ := files.ReadFile("assets/" + entry.Name())
		var small bytes.Buffer
		z, _ := gzip.NewWriterLevel(&small, gzip.BestCompression) // the level exists
		_, _ = z.Write(text)
		_ = z.Close()
		sum := sha256.Sum256(text)
		extension := path.Ext(entry.Name())
		name := strings.TrimSuffix(entry.Name(), extension) + "." + hex.EncodeToString(sum[:6]) + extension
		all.named[entry.Name()] = name
		all.byName[name] = asset{mime.TypeByExtension(extension), text, small.Bytes()}
	}
	return all
})

// Asset returns the address of a file.
func (v *visit) Asset(name string) templ.SafeURL { return v.To("/assets/" + assets().named[name]) }

// serveAsset serves a file. It needs no session: the files are the same for all.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	a, ok := assets().byName[chi.URLParam(r, "file")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	body, header := a.plain, w.Header()
	header.Set("Content-Type", a.contentType)
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		body = a.small
	}
	_, _ = w.Write(body) // a browser that went away misses nothing
}

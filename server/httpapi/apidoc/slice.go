package apidoc

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cauri-dev/cauri/server/httpfront/static"
)

// SliceParameter is the name of the parameter that selects one operation of the document.
const SliceParameter = "operation"

// IDs returns the ids of all operations, in the order of the page.
func IDs() (ids []string) {
	for _, o := range Operations {
		ids = append(ids, o.ID)
	}
	return ids
}

// slicesOf returns the documents of the single operations of a document, by their ids.
func slicesOf(whole func() *static.Content) func() map[string]*static.Content {
	return sync.OnceValue(func() map[string]*static.Content {
		all := map[string]*static.Content{}
		d := parsed(whole().Body())
		paths, components := parsed(d["paths"]), map[string]map[string]json.RawMessage{}
		mustDecode(d["components"], &components)
		for _, o := range Operations {
			method := strings.ToLower(o.Method)
			operation := withHeaders(parsed(parsed(paths[o.Path])[method]), parsed(d[CommonHeaders]))
			all[o.ID] = static.New(MediaJSON, sliceOf(d, components, o, map[string]json.RawMessage{method: operation}))
		}
		return all
	})
}

// withHeaders returns an operation whose successful answers describe the common headers too.
func withHeaders(operation, common map[string]json.RawMessage) json.RawMessage {
	responses := parsed(operation["responses"])
	for status, text := range responses {
		if r := parsed(text); r["$ref"] == nil {
			headers := maps.Clone(common)
			if r["headers"] != nil {
				maps.Copy(headers, parsed(r["headers"]))
			}
			r["headers"] = encoded(headers)
			responses[status] = encoded(r)
		}
	}
	operation["responses"] = encoded(responses)
	return encoded(operation)
}

// sliceOf returns the document of one operation: its path, and the components to which it refers.
func sliceOf(whole map[string]json.RawMessage, components map[string]map[string]json.RawMessage, o Operation, item any) []byte {
	d := maps.Clone(whole)
	delete(d, "webhooks")
	delete(d, "x-webhooks")
	d["paths"] = encoded(map[string]any{o.Path: item})
	var tags []map[string]any
	mustDecode(d["tags"], &tags)
	d["tags"] = encoded(slices.DeleteFunc(tags, func(tag map[string]any) bool { return tag["name"] != o.Tag }))
	kept := map[string]map[string]json.RawMessage{"securitySchemes": components["securitySchemes"]}
	keep(kept, components, d["paths"])
	keep(kept, components, d[CommonHeaders])
	d["components"] = encoded(kept)
	return encoded(d)
}

var reference = regexp.MustCompile(`"\$ref":"#/components/([A-Za-z]+)/([A-Za-z0-9._-]+)"`)

// keep adds the components to which a part of a document refers, and those to which they refer.
func keep(kept, components map[string]map[string]json.RawMessage, part []byte) {
	for _, found := range reference.FindAllSubmatch(part, -1) {
		kind, name := string(found[1]), string(found[2])
		if kept[kind] == nil {
			kept[kind] = map[string]json.RawMessage{}
		}
		if kept[kind][name] == nil {
			kept[kind][name] = components[kind][name]
			keep(kept, components, components[kind][name])
		}
	}
}

package apidoc

import (
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// CommonHeaders is the name of the document's extension that has the headers of all operations. OpenAPI has no other place for
// them than each answer, where they took a quarter of the document.
const CommonHeaders = "x-common-headers"

const commonHeadersDescription = "\n\nThe extension `" + CommonHeaders + "` has the headers that answers of all operations have. " +
	"Each answer describes its other headers."

// commonHeaders are the names of the headers that answers of all operations have, or may have.
var commonHeaders = append([]string{wire.APIVersionHeader, wire.RequestIDHeader, faults.Header, wire.IgnoredHeader}, RateLimitHeaders...)

// share moves what operations have in common to one place of the document: each answer with errors becomes a component, and
// the common headers an extension. Only the operation that pays describes all of its headers itself, because generators do not
// read extensions.
func share(d *huma.OpenAPI) {
	d.Info.Description += commonHeadersDescription
	common := map[string]*huma.Param{}
	for _, name := range commonHeaders {
		common[name] = &huma.Param{Ref: "#/components/headers/" + name}
	}
	d.Extensions = map[string]any{CommonHeaders: common}
	d.Components.Responses = map[string]*huma.Response{}
	for _, item := range d.Paths {
		for _, o := range []*huma.Operation{item.Get, item.Put, item.Post, item.Patch, item.Delete} {
			if o != nil {
				shareOf(o, d.Components.Responses)
			}
		}
	}
}

func shareOf(o *huma.Operation, components map[string]*huma.Response) {
	for status, r := range o.Responses {
		codes := codesOf(r)
		if len(codes) > 0 || o.OperationID != CreatePayment.ID {
			maps.DeleteFunc(r.Headers, func(name string, _ *huma.Param) bool { return slices.Contains(commonHeaders, name) })
		}
		if len(codes) > 0 { // generators make names of types of these names: a letter comes first
			name := strings.Join(append([]string{"Error", status}, codes...), "-")
			components[name] = r
			o.Responses[status] = &huma.Response{Ref: "#/components/responses/" + name}
		}
	}
}

// codesOf returns the error codes of an answer, and none for a successful answer.
func codesOf(r *huma.Response) (codes []string) {
	content := r.Content[MediaJSON]
	if content == nil || content.Schema.Properties["error"] == nil {
		return nil
	}
	for _, code := range content.Schema.Properties["error"].Enum {
		codes = append(codes, code.(string))
	}
	return codes
}

package httpapi

import (
	"maps"
	"slices"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/requests"
)

// kept returns the fields that the request log keeps of the requests to a route. The log omits successful requests for
// the log itself and for streams, because these would fill the log of a sandbox that somebody watches.
func kept(method, route string) httpfront.LoggedFields {
	fields := keptFields()[method+" "+route]
	return httpfront.LoggedFields{
		Query: fields.query, Body: fields.body, Answer: answerFields(),
		OnlyFailures: route == apidoc.ListRequests.Path || route == apidoc.OpenStream.Path,
	}
}

// routeFields are the fields and parameters of a route that the request log keeps.
type routeFields struct{ query, body requests.Fields }

// keptFields has the fields of each route, by "METHOD path". The fields are those of the API's description. None of
// them is a credential.
var keptFields = sync.OnceValue(func() map[string]routeFields {
	all := map[string]routeFields{}
	for _, o := range apidoc.Operations {
		f := routeFields{requests.Fields{}, requests.Fields{}}
		for _, p := range o.Parameters {
			if p.In == "query" {
				f.query[p.Name] = true
			}
		}
		if o.Body != nil {
			for name := range o.Body.Properties {
				if !slices.Contains(captured, name) {
					f.body[name] = true
				}
			}
		}
		all[o.Method+" "+o.Path] = f
	}
	return all
})

// captured are fields of requests that the log must not keep: a merchant sends in them the bytes that its receiver got.
var captured = []string{"body", "body_base64", "signature", "webhook_signature", "computed_signature", "secret_fingerprint"}

// foreign are the fields of answers that the log must not keep: texts of receivers and operators,
// signatures, and codes.
var foreign = []string{"otp", "body", "payload", "raw", "responseBody", "requestBody", "sentExcerpt", "yourExcerpt", "fields",
	"signature", "signatures", "key", "secret", "previousSecrets", "secretFingerprint", "webhook_signature", "computed_signature", "secret_fingerprint"}

// answerFields are the fields of answers that the request log keeps. They are the fields of the API's description, and
// the names of fields and parameters that are keys of detail.fieldErrors.
var answerFields = sync.OnceValue(func() requests.Fields {
	all := requests.Fields{
		"query": true, "transaction": true, "recorded": true, "environments": true, "stores": true, "refundable": true, "limit": true, "allow": true,
	}
	for _, schema := range decode.Schemas.Map() {
		addFields(all, schema)
	}
	for _, route := range keptFields() {
		maps.Copy(all, route.query)
		maps.Copy(all, route.body)
	}
	for _, name := range foreign {
		delete(all, name)
	}
	return all
})

// addFields adds the fields of a schema and of all its nested schemas.
func addFields(all requests.Fields, schema *huma.Schema) {
	if schema == nil {
		return
	}
	for name, field := range schema.Properties {
		all[name] = true
		addFields(all, field)
	}
	addFields(all, schema.Items)
}

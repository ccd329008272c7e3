package wire

import "github.com/danielgtaylor/huma/v2"

const SchemaPrefix = "#/components/schemas/"

// Schemas has all schemas of the API by the names of their Go types: of the request bodies, which [Decoder] checks, and
// of the answers. It is complete after the initialization of packages, and never changes.
var Schemas = huma.NewMapRegistry(SchemaPrefix, huma.DefaultSchemaNamer)

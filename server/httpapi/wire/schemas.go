package wire

import "github.com/danielgtaylor/huma/v2"

const SchemaPrefix = "#/components/schemas/"

// Schemas are all schemas of the API, by the names of their Go types: of the bodies that it checks, by [Decoder], and of its answers. They
// are complete when the program starts and never change.
var Schemas = huma.NewMapRegistry(SchemaPrefix, huma.DefaultSchemaNamer)

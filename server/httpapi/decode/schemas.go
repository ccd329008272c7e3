package decode

import (
	"github.com/danielgtaylor/huma/v2"
)

const SchemaPrefix = "#/components/schemas/"

// Schemas has the schemas of all request bodies and answers, by the names of their Go types. It does not change after
// the initialization of the packages.
var Schemas = huma.NewMapRegistry(SchemaPrefix, huma.DefaultSchemaNamer)

// Package stories has the stories of this folder as files of the program. Package server/stories reads them.
package stories

import "embed"

// Files has a file for each story, NAME.yaml.
//
//go:embed *-*.yaml
var Files embed.FS

// Package docs has the documents, so that the program can show them.
package docs

import "embed"

// Files has the pages.
//
//go:embed *.md fr/*.md reference/*.md reference/commands/*.md
var Files embed.FS

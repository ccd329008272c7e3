// Command queries writes the statements of server/postgres/queries to the folder from which sqlc reads them, with their
// fragments inserted.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cauri-dev/cauri/server/postgres/queries"
)

const folder = "bin/queries"

func main() {
	expanded, err := queries.Expanded()
	err = errors.Join(err, os.RemoveAll(folder), os.MkdirAll(folder, 0o755))
	for name, text := range expanded {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

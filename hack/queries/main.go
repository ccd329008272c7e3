// Command queries writes the statements of server/postgres/queries to the folders from which sqlc reads them, with their
// fragments inserted: bin/queries, and bin/queries/unclocked for sandboxes without a clock.
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
	err := os.RemoveAll(folder)
	err = errors.Join(err, write(folder, queries.Clocked), write(filepath.Join(folder, "unclocked"), queries.Unclocked))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(folder string, as queries.Recording) error {
	expanded, err := queries.Expanded(as)
	err = errors.Join(err, os.MkdirAll(folder, 0o755))
	for name, text := range expanded {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	return err
}

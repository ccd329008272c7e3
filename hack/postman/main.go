// Command postman writes a Postman collection and its environment from the API's description. `make generate` runs it, from the root of
// the repository.
//
// Each example of the description becomes a request. The requests run one after the other, and use the ids of earlier
// answers. A converter of the OpenAPI document would write independent requests, with ids that do not exist.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

const folder = "docs/postman"

func main() {
	for name, content := range map[string]any{
		"cauri.postman_collection.json": newCollection(), "cauri.postman_environment.json": newEnvironment(),
	} {
		if err := write(filepath.Join(folder, name), content); err != nil {
			fmt.Fprintf(os.Stderr, "writing the Postman collection: %v\n", err)
			os.Exit(1)
		}
	}
}

func write(file string, content any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(content); err != nil {
		return err
	}
	return os.WriteFile(file, text.Bytes(), 0o644)
}

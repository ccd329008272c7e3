package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// downloads is the base URL of the published files.
const downloads = "https://github.com/cauri-dev/cauri/releases/download/"

// krewFile is the name of krew's manifest of the plugin `kubectl cauri`. krew-index requires the name of the plugin.
const krewFile = "cauri.yaml"

// makePlugin writes krew's manifest, with the checksums of the programs' archives. krew links the program as
// kubectl-cauri. The program recognizes by this name that it is a plugin.
func (r *release) makePlugin() error {
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: cauri
spec:
  version: %s
  homepage: https://github.com/cauri-dev/cauri
  shortDescription: Use mobile-money sandboxes
  description: |
    Shows, pays and follows the sandboxes of Cauri, which simulate the mobile money
    of African operators: status, payments and their payers, webhooks on your own
    machine, resets, rotation, and the time of a sandbox.
  caveats: |
    Commands need the right to get SandboxEnvironments, and those that call the API
    the right to get the sandbox's Secret. Try: kubectl cauri check NAME
  platforms:
`, r.Version)
	for _, platform := range slices.Concat(platforms, programPlatforms) {
		folder, program, extension := r.programName(platform), "cauri", "tar.gz"
		if platform.OS == "windows" {
			program, extension = "cauri.exe", "zip"
		}
		archive := folder + "." + extension
		sum, err := checksum(r.file("%s", archive))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, `  - selector:
      matchLabels:
        os: %s
        arch: %s
    uri: %s%s/%s
    sha256: %s
    files:
    - {from: %s/%s, to: .}
    - {from: %s/LICENSE, to: .}
    bin: %s
`, platform.OS, platform.Architecture, downloads, r.Version, archive, sum, folder, program, folder, program)
	}
	_, err := writeFile(r.file("%s", krewFile), func(out io.Writer) error { _, err := io.WriteString(out, b.String()); return err })
	return err
}

// Command windows checks that packages compile for Windows, because a release has a program for Windows. It only
// type-checks the packages and their imports, which takes a tenth of the time. It does not check macOS, because code
// that is only for Linux fails for Windows too.
//
// Run it from the root of the module: bin/windows ./cmd/cauri
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	failed := false
	found, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
		Env:  append(os.Environ(), "CGO_ENABLED=0", "GOOS=windows"),
	}, os.Args[1:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	packages.Visit(found, nil, func(p *packages.Package) {
		for _, problem := range p.Errors {
			failed = true
			fmt.Fprintf(os.Stderr, "for Windows: %v\n", problem)
		}
	})
	if failed {
		os.Exit(1)
	}
}

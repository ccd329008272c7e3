// Command lint runs analyzers that staticcheck does not have on whole modules:
//
//	lint <file of exclusions> <folder of a module>...
//
// docs/decisions/0024-linters.md says why it is a program of ours and not golangci-lint.
package main

import (
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"

	"github.com/gostaticanalysis/nilerr"
	"github.com/kkHAIKE/contextcheck"
	"github.com/polyfloyd/go-errorlint/errorlint"
	gosec "github.com/securego/gosec/v2/goanalysis"
	"github.com/timakin/bodyclose/passes/bodyclose"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa/ssautil"
	"mvdan.cc/unparam/check"
)

func main() {
	findings, err := lint(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(2)
	}
	for _, finding := range findings {
		fmt.Println(finding)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
}

// lint returns the findings in the modules, sorted, without excluded ones. It also returns the lines of the file that
// exclude nothing.
func lint(file string, modules []string) ([]string, error) {
	excluded, err := readExclusions(file)
	if err != nil {
		return nil, err
	}
	// Each package is loaded with and without its tests, so most findings occur twice.
	found := map[finding]bool{}
	for _, module := range modules {
		if err := lintModule(module, found); err != nil {
			return nil, fmt.Errorf("%s: %w", module, err)
		}
	}
	var findings []string
	for f := range found {
		if !excluded.match(f) {
			findings = append(findings, fmt.Sprintf("%s:%d: %s: %s", f.file, f.line, f.analyzer, f.message))
		}
	}
	slices.Sort(findings)
	for _, e := range excluded {
		if !e.used && !e.elsewhere(modules) {
			findings = append(findings, fmt.Sprintf("%s:%d: excludes nothing any more: remove it", file, e.line))
		}
	}
	return findings, nil
}

type finding struct {
	file, analyzer, message string
	line                    int
}

func lintModule(folder string, found map[finding]bool) error {
	config := &packages.Config{Dir: folder, Mode: packages.LoadSyntax | packages.NeedModule, Tests: true}
	pkgs, err := packages.Load(config, "./...")
	if err != nil {
		return err
	}
	if packages.PrintErrors(pkgs) > 0 {
		return errors.New("the packages do not compile")
	}
	packages.Visit(pkgs, nil, func(pkg *packages.Package) { // also visits dependencies, whose source is not loaded
		if !slices.Contains(pkgs, pkg) {
			pkg.TypesInfo, pkg.Syntax = &types.Info{}, nil
		}
	})
	graph, err := checker.Analyze(analyzers(), pkgs, nil)
	if err != nil {
		return err
	}
	for _, action := range graph.Roots {
		if action.Err != nil {
			return fmt.Errorf("%s: %w", action, action.Err)
		}
		for _, d := range action.Diagnostics {
			found[at(action.Package.Fset.Position(d.Pos), action.Analyzer.Name, d.Message)] = true
		}
	}
	return unusedParameters(pkgs, found)
}

func analyzers() []*analysis.Analyzer {
	return []*analysis.Analyzer{
		bodyclose.Analyzer,
		contextcheck.NewAnalyzer(contextcheck.Configuration{}),
		errorlint.NewAnalyzer(),
		gosec.Analyzer,
		nilerr.Analyzer,
	}
}

// unusedParameters runs unparam, which needs all packages in one call.
func unusedParameters(pkgs []*packages.Package, found map[finding]bool) error {
	program, _ := ssautil.Packages(pkgs, 0)
	program.Build()
	var unparam check.Checker
	unparam.Packages(pkgs)
	unparam.ProgramSSA(program)
	issues, err := unparam.Check()
	for _, issue := range issues {
		found[at(program.Fset.Position(issue.Pos()), "unparam", issue.Message())] = true
	}
	return err
}

func at(p token.Position, analyzer, message string) finding {
	file := p.Filename
	if folder, err := os.Getwd(); err == nil {
		if relative, err := filepath.Rel(folder, file); err == nil {
			file = relative
		}
	}
	return finding{file: file, line: p.Line, analyzer: analyzer, message: message}
}

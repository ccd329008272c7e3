// Package architecture holds the rules of the tree that no compiler checks.
package architecture

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
)

const module = "github.com/cauri-dev/cauri/"

// rule says what some packages never import. A name stands for a package and for those in folders below it; one that
// has a dot in its first part, or is of the standard library, is from outside of this module.
type rule struct {
	of     []string
	except []string // of of
	never  []string
	but    []string // of never
	why    string
}

var (
	// computes are the packages that compute and judge without a database.
	computes = []string{
		"server/advice", "server/assets", "server/egress", "server/english", "server/expectations", "server/faults", "server/grade",
		"server/junit", "server/ledgercsv", "server/manual", "server/operators", "server/payments", "server/qrcode", "server/secrets", "server/stories",
		"server/syntax", "server/textfile", "server/webhooks",
	}
	// stores are the packages that ask the database.
	stores = []string{"server/postgres", "server/sandboxes", "server/ledger", "server/proof", "server/requests"}
	// fronts are the APIs of the program, and the console.
	fronts = []string{"server/httpapi", "server/native", "server/console"}
	// doubles stand in for something in tests, or put it together for them.
	doubles = []string{
		"server/ledgertest", "server/operators/operatorstest", "server/operators/operatorapi/operatorapitest", "server/fronts/frontstest",
		"server/payments/paymentstest",
	}
	// above are the packages that stand on the stores.
	above      = slices.Concat([]string{"server/service", "server/streams", "server/httpfront", "server/worker", "server/fronts"}, fronts)
	kubernetes = []string{"k8s.io", "sigs.k8s.io"}
	// readers are the libraries of Kubernetes that read what people write, and know no cluster.
	readers = []string{"k8s.io/apimachinery", "sigs.k8s.io/yaml", "sigs.k8s.io/json"}
)

var rules = []rule{
	{of: []string{"server/payments"}, never: []string{"github.com", "golang.org"},
		why: "the rules of money stand on the standard library alone"},
	{of: computes, never: slices.Concat(stores, above, []string{"github.com/jackc/pgx"}), why: "what computes and judges needs no database"},
	{of: stores, except: doubles, never: above, why: "a store does not know who uses it"},
	{of: []string{"server"}, except: append([]string{"server/postgres/sqlc"}, stores[1:]...), never: []string{"server/postgres/sqlc"},
		why: "few packages run queries; the others ask through them"},
	{of: []string{"server/service"}, never: slices.Concat([]string{"net/http", "database/sql", "github.com/jackc/pgx", "server/httpfront"}, fronts),
		why: "package service does what any front asks, and speaks neither HTTP nor SQL"},
	{of: []string{"server/worker"}, never: append([]string{"server/service", "server/httpfront", "server/fronts"}, fronts...),
		why: "the worker is a process of its own"},
	{of: append([]string{"server/service", "server/httpfront"}, fronts...), never: []string{"server/worker", "server/fronts"},
		why: "an API is a process of its own, which package fronts puts together"},
	{of: []string{"controllers"}, except: []string{"controllers/localapi"}, never: append([]string{"server/ledger", "server/proof"}, above...),
		why: "the controller moves no money"},
	{of: []string{"server", "api"}, except: doubles, never: append([]string{"controllers", "cmd"}, kubernetes...), but: readers,
		why: "only controllers and commands know Kubernetes"},
	{of: []string{"api"}, never: []string{"server"}, why: "who uses the resources needs nothing of the server"},
	{of: []string{"server/httpapi/wire"}, never: []string{"server", "github.com", "golang.org"}, but: []string{"server/payments"},
		why: "the types of the API are for its clients too"},
	{of: []string{"cmd/cauri/cli", "cmd/cauri/explain", "cmd/cauri/mcp", "cmd/cauri/sandboxapi"}, never: append(stores, above...),
		but: []string{"server/httpapi/wire", "server/httpapi/view/offline"}, why: "the command line is a client of the API"},
	{of: []string{"api", "controllers", "server", "cmd"}, except: doubles, never: append([]string{"test", "hack", "testing"}, doubles...),
		why: "a program serves nothing that is for tests"},
	{of: []string{"test/load/baseline"}, never: []string{"api", "controllers", "server", "cmd"},
		why: "what Cauri is measured against has nothing of it"},
}

// problemOf says why a package may not import another, or "" if it may.
func problemOf(name, imports string) string {
	for _, r := range rules {
		if isOneOf(name, r.of) && !isOneOf(name, r.except) && isOneOf(imports, r.never) && !isOneOf(imports, r.but) && !within(imports, name) {
			return fmt.Sprintf("%s imports %s: %s", name, imports, r.why)
		}
	}
	for _, alike := range [][]string{fronts, operatorsOf()} { // they stand beside each other
		for _, one := range alike {
			if within(name, one) && !within(imports, one) && isOneOf(imports, alike) {
				return fmt.Sprintf("%s imports %s: each of %s knows no other", name, imports, strings.Join(alike, ", "))
			}
		}
	}
	return ""
}

// operatorsOf are the packages of the operators' own APIs.
func operatorsOf() (packages []string) {
	for _, o := range payments.Operators {
		packages = append(packages, "server/operators/"+string(o))
	}
	return packages
}

func TestImportsPointOneWay(t *testing.T) {
	for _, line := range goList(t, "{{.ImportPath}}|{{join .Imports \" \"}}") {
		name, imports, _ := strings.Cut(line, "|")
		for path := range strings.FieldsSeq(imports) {
			if problem := problemOf(strings.TrimPrefix(name, module), strings.TrimPrefix(path, module)); problem != "" {
				t.Error(problem)
			}
		}
	}
}

// What links the driver of Postgres is no client of the API.
func TestClientsOfTheAPILinkNoDatabase(t *testing.T) {
	for _, client := range []string{
		"cmd/cauri/explain", "cmd/cauri/sandboxapi", "server/httpapi/wire", "server/httpapi/view/offline", "server/grade",
	} {
		for _, line := range goList(t, "{{join .Deps \" \"}}", "./"+client) {
			for path := range strings.FieldsSeq(line) {
				if within(path, "github.com/jackc/pgx") {
					t.Errorf("%s links %s", client, path)
				}
			}
		}
	}
}

// A rule that names a folder that is not there any more forbids nothing.
func TestRulesOfImportsNamePackages(t *testing.T) {
	packages := goList(t, "{{.ImportPath}}")
	for _, r := range rules {
		for _, name := range slices.Concat(r.of, r.except, r.never, r.but) {
			ours := strings.HasPrefix(name, "server") || strings.HasPrefix(name, "cmd") || strings.HasPrefix(name, "test/")
			if ours && !slices.ContainsFunc(packages, func(p string) bool { return within(strings.TrimPrefix(p, module), name) }) {
				t.Errorf("%s: there is no %s", r.why, name)
			}
		}
	}
}

// Imports that somebody could write in a hurry.
func TestWrongImportsAreNamed(t *testing.T) {
	for _, wrong := range [][2]string{
		{"server/payments", "github.com/google/uuid"},
		{"server/payments", "server/ledger"},
		{"server/faults", "server/sandboxes"},
		{"server/advice", "server/sandboxes"},
		{"server/grade", "github.com/jackc/pgx/v5"},
		{"server/ledger", "server/service"},
		{"server/sandboxes", "server/worker"},
		{"server/console", "server/httpapi/wire"},
		{"server/ledgercsv", "server/proof"},
		{"server/native", "server/console"},
		{"server/service", "net/http"},
		{"server/service", "github.com/jackc/pgx/v5/pgxpool"},
		{"server/httpfront", "server/postgres/sqlc"},
		{"server/worker", "server/service"},
		{"server/operators/mtn", "server/operators/airtel"},
		{"controllers/resync", "server/ledger"},
		{"server/httpapi", "sigs.k8s.io/controller-runtime/pkg/client"},
		{"api/v1alpha1", "server/payments"},
		{"cmd/cauri/cli", "server/ledger"},
		{"cmd/cauri/cli", "server/httpapi/view"},
		{"server/httpapi/wire", "server/ledger"},
		{"server/httpapi/wire", "github.com/danielgtaylor/huma/v2"},
		{"server/httpapi", "server/ledgertest"},
		{"cmd/cauri", "test/system"},
		{"test/load/baseline", "server/payments"},
	} {
		if problemOf(wrong[0], wrong[1]) == "" {
			t.Errorf("%s may import %s", wrong[0], wrong[1])
		}
	}
}

func isOneOf(name string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return within(name, folder) })
}

func within(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }

// goList returns a line for each package; without packages, for all of them.
func goList(t *testing.T, format string, packages ...string) []string {
	t.Helper()
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	command := exec.CommandContext(t.Context(), "go", append([]string{"list", "-f", format}, packages...)...)
	command.Dir = "../.."
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// Package architecture holds the rules of the tree that no compiler checks.
package architecture

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
)

const module = "github.com/cauri-dev/cauri/"

// mayImport says which packages of this module each package may import: imports point one way. A package in a folder below
// one that is named here has the rules of that folder.
var mayImport = map[string][]string{
	"api/v1alpha1":                 {},
	"server/english":               {},
	"server/syntax":                {},
	"server/payments":              {"server/english"},
	"server/operators":             {"server/english", "server/operators", "server/payments"},
	"server/operators/adapter":     {"server/payments"},
	"server/operators/operatorapi": {"server/egress", "server/operators/adapter", "server/payments", "server/syntax"},
	"server/egress":                {},
	"server/webhooks":              {"server/english", "server/faults", "server/payments", "server/egress", "server/secrets"},
	"server/junit":                 {},
	"server/advice":                {"server/egress", "server/english", "server/sandboxes", "server/webhooks"},
	"server/grade":                 {"server/advice", "server/english", "server/junit", "server/payments", "server/webhooks"},
	"server/telemetry":             {},
	"server/httpserver":            {},
	"server/postgres":              {},
	"server/localpostgres":         {},
	"server/postgres/sqlc":         {"server/payments"},
	"server/secrets":               {},
	"server/faults":                {"server/english", "server/payments"},
	"server/expectations":          {"server/english", "server/operators", "server/payments"},
	"server/sandboxes":             {"server/egress", "server/expectations", "server/faults", "server/payments", "server/postgres", "server/secrets"},
	"server/ledger":                {"server/egress", "server/expectations", "server/faults", "server/payments", "server/postgres", "server/secrets", "server/sandboxes", "server/ledger"},
	"server/operators/operatorapi/operatorapitest": {
		"server/operators/operatorapi", "server/payments",
	},
	"server/ledger/ledgertest": {
		"server/ledger", "server/payments", "server/postgres", "server/proof", "server/sandboxes", "server/secrets",
	},
	"server/proof":    {"server/ledger", "server/payments", "server/postgres", "server/sandboxes"},
	"server/requests": {"server/english", "server/payments", "server/postgres"},
	"server/service": {
		"server/english",
		"server/expectations",
		"server/faults",
		"server/payments",
		"server/operators",
		"server/postgres",
		"server/proof",
		"server/requests",
		"server/sandboxes",
		"server/ledger",
		"server/webhooks",
	},
	"server/exchange": {
		"server/faults",
		"server/ledger",
		"server/postgres",
		"server/requests",
		"server/sandboxes",
		"server/service",
		"server/streams",
		"server/telemetry",
	},
	"server/exchange/static":   {},
	"server/fronts/frontstest": {"server/fronts", "server/ledger/ledgertest", "server/sandboxes"},
	"server/httpapi": {
		"server/advice",
		"server/assets",
		"server/exchange",
		"server/service",
		"server/streams",
		"server/faults",
		"server/payments",
		"server/operators",
		"server/postgres",
		"server/requests",
		"server/sandboxes",
		"server/ledger",
		"server/proof",
		"server/webhooks",
		"server/httpapi/apidoc",
		"server/httpapi/wire",
	},
	"server/native": {
		"server/assets",
		"server/exchange",
		"server/exchange/static",
		"server/service",
		"server/faults",
		"server/payments",
		"server/operators",
		"server/postgres",
		"server/requests",
		"server/sandboxes",
		"server/ledger",
		"server/telemetry",
	},
	"server/console": {
		"server/advice",
		"server/assets",
		"server/egress",
		"server/streams",
		"server/console/locale",
		"server/english",
		"server/exchange",
		"server/service",
		"server/faults",
		"server/expectations",
		"server/grade",
		"server/payments",
		"server/operators",
		"server/postgres",
		"server/requests",
		"server/sandboxes",
		"server/ledger",
		"server/proof",
		"server/telemetry",
		"server/webhooks",
	},
	"server/assets":         {},
	"server/console/locale": {"server/english"},
	"server/fronts": {
		"server/console",
		"server/exchange",
		"server/httpapi",
		"server/httpapi/apidoc",
		"server/native",
		"server/service",
		"server/requests",
		"server/sandboxes",
		"server/ledger",
		"server/proof",
		"server/telemetry",
	},
	"server/httpapi/wire": {
		"server/advice",
		"server/english",
		"server/expectations",
		"server/faults",
		"server/grade",
		"server/payments",
		"server/operators",
		"server/postgres",
		"server/requests",
		"server/sandboxes",
		"server/ledger",
		"server/proof",
		"server/syntax",
		"server/webhooks",
	},
	"server/streams": {"server/postgres", "server/ledger"},
	"server/httpapi/apidoc": {
		"server/english",
		"server/assets",
		"server/expectations",
		"server/exchange/static",
		"server/faults",
		"server/grade",
		"server/payments",
		"server/operators",
		"server/requests",
		"server/sandboxes",
		"server/ledger",
		"server/proof",
		"server/webhooks",
		"server/httpapi/wire",
	},
	"server/worker": {
		"server/expectations",
		"server/grade",
		"server/faults",
		"server/payments",
		"server/egress",
		"server/operators",
		"server/postgres",
		"server/sandboxes",
		"server/ledger",
		"server/proof",
		"server/telemetry",
		"server/webhooks",
	},
	"controllers": {
		"server/advice",
		"server/egress",
		"server/english",
		"server/expectations",
		"api/v1alpha1",
		"controllers/resync",
		"server/faults",
		"server/payments",
		"server/operators",
		"server/operators/operatorapi",
		"server/postgres",
		"server/secrets",
		"server/sandboxes",
		"server/ledger",
		"server/telemetry",
		"server/webhooks",
	},
	"controllers/resync":   {"api/v1alpha1", "server/postgres", "server/sandboxes", "server/ledger"},
	"config/crd":           {},
	"controllers/localapi": {"api/v1alpha1", "config/crd", "controllers", "server/postgres"},
	"cmd/cauri/sandboxapi": {"server/httpapi/wire"},
	"cmd/cauri/kube":       {"api/v1alpha1"},
	"cmd/cauri/keypress":   {},
	"cmd/cauri/cli": {
		"server/english",
		"server/expectations",
		"api/v1alpha1",
		"cmd/cauri/keypress",
		"cmd/cauri/kube",
		"cmd/cauri/sandboxapi",
		"server/advice",
		"server/egress",
		"server/faults",
		"server/grade",
		"server/junit",
		"server/httpapi/wire",
		"server/localpostgres",
		"server/operators",
		"server/payments",
		"server/webhooks",
	},
	"cmd/cauri": {
		"server/english",
		"api/v1alpha1",
		"cmd/cauri/cli",
		"cmd/cauri/keypress",
		"cmd/cauri/sandboxapi",
		"controllers",
		"controllers/localapi",
		"controllers/localapi",
		"server/payments",
		"server/egress",
		"server/operators",
		"server/postgres",
		"server/localpostgres",
		"server/secrets",
		"server/sandboxes",
		"server/ledger",
		"server/proof",
		"server/requests",
		"server/telemetry",
		"server/webhooks",
		"server/exchange",
		"server/fronts",
		"server/httpapi/wire",
		"server/httpserver",
		"server/worker",
	},
	"hack/apipage": {
		"server/assets", "server/payments", "server/operators", "server/operators/operatorapi", "server/httpapi/apidoc",
		"server/httpapi/wire",
	},
	"hack/chart":        {}, // reads files
	"hack/fidelity":     {"server/operators"},
	"hack/markets":      {"server/operators", "server/operators/operatorapi", "server/payments"},
	"hack/postman":      {"server/httpapi/apidoc"},
	"hack/crd":          {}, // reads files
	"hack/reference":    {}, // reads files
	"hack/prose":        {},
	"hack/columns":      {}, // reads files
	"hack/recording":    {}, // reads files
	"hack/queries":      {"server/postgres/queries"},
	"test/architecture": {},
	"test/argocd":       {},              // reads a file
	"test/chart":        {"controllers"}, // for their scheme
	"test/chaos": {
		"api/v1alpha1",
		"server/payments",
		"server/postgres",
		"server/secrets",
		"server/sandboxes",
		"server/ledger",
		"test/system",
		"test/system/kube",
	},
	"test/cluster": {
		"api/v1alpha1", "server/payments", "test/cluster/merchantapi", "test/judged", "test/ports", "test/snippets", "test/system",
	},
	"test/examples":            {"test/ports", "test/snippets", "test/system"},
	"test/snippets":            {}, // reads files
	"test/browser":             {"server/payments", "server/sandboxes", "test/system"},
	"test/clients":             {"server/payments", "server/sandboxes", "test/system"},
	"test/cluster/merchant":    {"test/cluster/merchantapi", "test/judged"}, // a black box
	"test/cluster/merchantapi": {},
	"test/conformance":         {"test/conformance/rules", "test/conformance/suite"}, // a black box
	"test/conformance/rules":   {"test/conformance/suite"},
	"test/conformance/suite":   {},
	"test/judged":              {"server/junit"},
	"test/dev":                 {"test/judged", "test/ports", "test/runner", "test/system"},
	"test/e2e":                 {"server/webhooks", "test/ports", "test/runner"},
	"test/stories": {
		"api/v1alpha1",
		"controllers",
		"controllers/localapi",
		"server/egress",
		"server/exchange",
		"server/fronts",
		"server/sandboxes",
		"server/webhooks",
		"server/worker",
	},
	"test/faults": {"server/payments", "server/postgres", "server/secrets", "server/sandboxes", "server/ledger", "test/system"},
	"test/load":   {"test/load/cases", "test/load/profile", "test/load/report", "test/load/soak"},
	"test/load/bench": {
		"server/payments",
		"server/sandboxes",
		"server/secrets",
		"server/ledger",
		"test/load/generator",
		"test/load/report",
		"test/system",
	},
	"test/load/cases": {
		"api/v1alpha1",
		"server/operators",
		"server/payments",
		"server/sandboxes",
		"server/secrets",
		"server/ledger",
		"test/load/bench",
		"test/load/generator",
		"test/load/growth",
		"test/load/report",
		"test/system",
		"test/system/kube",
	},
	"test/load/growth": {
		"server/sandboxes",
		"server/secrets",
		"server/ledger",
		"test/load/generator",
		"test/load/growth",
		"test/system",
	},
	"test/load/profile": {
		"server/payments",
		"test/load/bench",
		"test/load/cases",
		"test/load/generator",
		"test/load/report",
		"test/system",
	},
	"test/load/report": {"test/load/chart", "test/load/generator"},
	"test/load/soak": {
		"test/load/bench",
		"test/load/cases",
		"test/load/generator",
		"test/load/profile",
		"test/load/report",
		"test/system",
	},
	"test/load/chart":     {},
	"test/load/baseline":  {}, // what Cauri is measured against has nothing of it
	"test/load/generator": {},
	"test/load/plot":      {"test/load/chart"},
	"test/published":      {"test/npm", "test/ports", "test/system"},
	"test/npm":            {},
	"test/ports":          {},
	"test/receivers":      {"server/egress", "server/grade", "server/webhooks", "test/npm", "test/ports", "test/snippets", "test/system"},
	"test/monitoring":     {}, // reads files
	"test/runner":         {}, // runs shell scripts
	"test/scripts":        {"test/runner"},
	"test/system": {
		"server/localpostgres",
		"server/operators",
		"server/payments",
		"server/postgres",
		"server/secrets",
		"server/sandboxes",
		"server/ledger",
		"test/ports",
	},
	"test/system/kube": {"controllers", "test/system"},
}

// ofOperator is what the package of each operator may import: no other operator.
var ofOperator = []string{
	"server/egress", "server/operators/adapter", "server/operators/operatorapi", "server/operators/speech", "server/payments",
}

// standardLibraryOnly are the packages that nothing from outside may reach.
var standardLibraryOnly = []string{"server/payments"}

func TestImportsPointOneWay(t *testing.T) {
	for _, line := range goList(t, "{{.ImportPath}}|{{join .Imports \" \"}}") {
		name, imports, _ := strings.Cut(line, "|")
		for _, problem := range problemsOf(strings.TrimPrefix(name, module), strings.Fields(imports)) {
			t.Error(problem)
		}
	}
}

// problemsOf says which imports of a package are against its rules.
func problemsOf(name string, imports []string) (problems []string) {
	folder, allowed := rulesOf(name)
	if folder == "" {
		return []string{name + " has no rule: say in mayImport what it may import"}
	}
	for _, path := range imports {
		other, ours := strings.CutPrefix(path, module)
		switch {
		case ours && !slices.ContainsFunc(allowed, func(a string) bool { return within(other, a) }):
			problems = append(problems, name+" imports "+other+", which only points the other way")
		case !ours && strings.Contains(path, ".") && slices.Contains(standardLibraryOnly, folder):
			problems = append(problems, name+" imports "+path+"; it may import the standard library only")
		}
	}
	return problems
}

// fronts are the APIs of the program, and the console.
var fronts = []string{"server/httpapi", "server/native", "server/console"}

// A front stands on packages service and exchange, and knows no other front: adding one touches none of the others.
func TestFrontsKnowNoOtherFront(t *testing.T) {
	for _, front := range fronts {
		for _, other := range fronts {
			if problems := problemsOf(front, []string{module + other}); front != other && len(problems) == 0 {
				t.Errorf("%s may import %s", front, other)
			}
		}
	}
}

// Package service carries out what any front asks: it speaks neither HTTP nor SQL, and knows no front.
func TestServiceKnowsNeitherHTTPNorSQL(t *testing.T) {
	for _, line := range goList(t, "{{.ImportPath}}|{{join .Imports \" \"}}") {
		name, imports, _ := strings.Cut(strings.TrimPrefix(line, module), "|")
		for _, path := range strings.Fields(imports) {
			if name == "server/service" && (path == "net/http" || path == "database/sql" || strings.Contains(path, "pgx")) {
				t.Errorf("server/service imports %s", path)
			}
		}
	}
}

// testDoubles are packages that stand in for something in tests, or put it together for them. No program has them, so
// that nothing of them is ever served.
var testDoubles = []string{"server/operators/operatorstest", "server/ledger/ledgertest", "server/fronts/frontstest"}

func TestOnlyTestsImportDoubles(t *testing.T) {
	for _, line := range goList(t, "{{.ImportPath}}|{{join .Imports \" \"}}") {
		name, imports, _ := strings.Cut(strings.TrimPrefix(line, module), "|")
		for _, double := range testDoubles {
			if slices.Contains(strings.Fields(imports), module+double) && !slices.Contains(testDoubles, name) {
				t.Errorf("%s imports %s, which is for tests", name, double)
			}
		}
	}
}

// runsQueries are the packages that run the generated queries: what else the database is asked goes through them.
var runsQueries = []string{"server/sandboxes", "server/ledger", "server/proof", "server/requests"}

func TestFewRunQueries(t *testing.T) {
	for _, line := range goList(t, "{{.ImportPath}}|{{join .Imports \" \"}}") {
		name, imports, _ := strings.Cut(strings.TrimPrefix(line, module), "|")
		if slices.Contains(strings.Fields(imports), module+"server/postgres/sqlc") && !slices.Contains(runsQueries, name) {
			t.Errorf("%s imports the generated queries", name)
		}
	}
}

func rulesOf(name string) (folder string, allowed []string) {
	if operator, ok := strings.CutPrefix(name, "server/operators/"); ok && payments.Operator(operator).Valid() {
		return name, ofOperator
	}
	for f, a := range mayImport {
		if within(name, f) && len(f) > len(folder) {
			folder, allowed = f, a
		}
	}
	return folder, allowed
}

func within(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }

func goList(t *testing.T, format string) []string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-f", format, "./...")
	command.Dir = "../.."
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

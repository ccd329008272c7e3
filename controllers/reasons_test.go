package controllers

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/expectation"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/controllers/sandboxenvironment"
	"github.com/cauri-dev/cauri/controllers/testclient"
)

// shown is what the tools of a platform team show of a resource that is not ready.
type shown struct{ kstatus, argoCD, alert string }

var (
	// needsSomebody: who owns the resource has to change its spec, or an object that the spec names.
	needsSomebody = shown{"Failed", "Degraded", "CauriResourcesStalled"}
	// waits: it goes on by itself, and nothing is wrong.
	waits = shown{"InProgress", "Progressing", ""}
	// isBroken: it is retried, and the platform team has to look if it does not end.
	isBroken = shown{"InProgress", "Progressing", "CauriResourcesNotReady"}
)

// shownOfReasons has each reason for which a step of a reconciliation ends, by the package that gives it.
var shownOfReasons = map[string]shown{
	"sandboxenvironment InvalidSpec":           needsSomebody,
	"sandboxenvironment SecretConflict":        needsSomebody,
	"sandboxenvironment SigningSecretNotFound": needsSomebody,
	"sandboxenvironment SigningSecretInvalid":  needsSomebody,
	"sandboxenvironment SecretNotLabeled":      needsSomebody,
	"sandboxenvironment APIKeySecretNotFound":  needsSomebody,
	"sandboxenvironment APIKeySecretInvalid":   needsSomebody,
	"sandboxenvironment CredentialsError":      isBroken,
	"testclient OperatorUnknown":               needsSomebody,
	"testclient DuplicateMsisdn":               needsSomebody,
	"testclient LimitExceeded":                 needsSomebody,
	"testclient Retrying":                      isBroken,
	"expectation LimitExceeded":                waits, // for others to be decided, which all are in time
	"reconciler LimitExceeded":                 needsSomebody,
	"reconciler SandboxNotFound":               waits, // it may be applied before its sandbox
	"reconciler SandboxNotReady":               waits, // the sandbox says why
	"reconciler ClockAdvancing":                waits,
	"reconciler Deleting":                      waits,
	"reconciler DatabaseUnavailable":           isBroken,
	"reconciler DatabaseError":                 isBroken,
	"reconciler Retrying":                      isBroken,
}

// besideSteps are the reasons that no step ends for: of Ready while it is True, of conditions that Ready does not summarize, and of
// an Expectation's verdict, which is shown by TestArgoCDHealthOfExpectations.
var besideSteps = []string{
	"Ready", "Suspended", "NoEnvironmentEnabled", "QuotaExceeded", "ClockStartWaits", "Pending",
	"OperatorSecretNotFound", "OperatorSecretInvalid", "OperatorAddressForbidden",
	"NothingDelivered", "AddressForbidden", "DeliveryFailing", "EndpointFailing", "SweepFailing", "OwnedByAnotherInstallation", "Balanced", "Imbalance", "NotVerified",
	"Met", "NotMet", "Settling", "Exceeded", "DeadlineExceeded", "EvaluatedLate", "TooManyRows", "SandboxReset", "SandboxDeleted",
}

// A reason is Stalled if a person has to change something, and is in an alert if it does not end by itself: kstatus, which Flux and
// Helm ask, and Argo CD's health check say the same.
func TestWhatEveryReasonShows(t *testing.T) {
	t.Parallel()
	constants := reasonConstants(t)
	customizations := readCustomizations(t)
	got, named := map[string]shown{}, slices.Clone(besideSteps)
	for _, step := range stepErrors(t) {
		reason := constants[step.constant]
		named = append(named, reason)
		for _, obj := range resourcesWith(step.err(reason), step.folder) {
			health, err := customizations.Health(toUnstructured(t, obj))
			if err != nil {
				t.Fatal(err)
			}
			now := shown{kstatusInMemory(t, obj).String(), health.Status, alertOf(t, obj)}
			key := step.folder + " " + reason
			if before, ok := got[key]; ok && before != now {
				t.Errorf("%s shows %v and %v", key, before, now)
			}
			got[key] = now
		}
	}
	if diff := cmp.Diff(shownOfReasons, got, cmp.AllowUnexported(shown{})); diff != "" {
		t.Errorf("what the reasons show (-wanted +shown):\n%s", diff)
	}
	slices.Sort(named)
	if diff := cmp.Diff(slices.Sorted(maps.Values(constants)), slices.Compact(named)); diff != "" {
		t.Errorf("the reasons (-of the API +of this test):\n%s", diff)
	}
}

// resourcesWith returns resources of the kinds of a folder whose reconciliation ends with an error.
func resourcesWith(err error, folder string) (all []client.Object) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	sandbox, testClient, e := &v1alpha1.SandboxEnvironment{}, &v1alpha1.TestClient{}, &v1alpha1.Expectation{}
	for _, obj := range []client.Object{sandbox, testClient, e} {
		obj.SetGeneration(1)
	}
	progress := reconciler.Progress{Steps: sandboxenvironment.Steps, Done: 2, Err: err}
	sandbox.Status = sandboxenvironment.Status(sandbox, sandboxenvironment.Observation{Progress: progress}, "http://here", now)
	testClient.Status = testclient.Status(testClient, testclient.Observation{Err: err}, now)
	e.Status = expectation.Status(e, expectation.Observation{Err: err}, now)
	switch folder {
	case "sandboxenvironment":
		return []client.Object{sandbox}
	case "testclient":
		return []client.Object{testClient}
	case "expectation":
		return []client.Object{e}
	}
	return []client.Object{sandbox, testClient}
}

// alertOf returns the alert that counts a resource; "" for none. It reads the two rules about resources.
func alertOf(t *testing.T, obj client.Object) (alert string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "config", "monitoring", "rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	if err := yaml.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	expr := map[string]string{}
	for _, group := range file.Groups {
		for _, r := range group.Rules {
			expr[r.Alert] = r.Expr
		}
	}
	const stalled, notReady = "CauriResourcesStalled", "CauriResourcesNotReady"
	if !strings.Contains(expr[stalled], `cauri_resource_conditions{condition="Stalled",kind!="Expectation",status="True"}`) {
		t.Fatalf("%s is written in another way by now: %s", stalled, expr[stalled])
	}
	reasons := regexp.MustCompile(`cauri_resources\{ready="False",reason=~"([^"]*)"\}`).FindStringSubmatch(expr[notReady])
	if reasons == nil {
		t.Fatalf("%s is written in another way by now: %s", notReady, expr[notReady])
	}
	state := stateOf(obj)
	_, isExpectation := obj.(*v1alpha1.Expectation)
	for _, c := range state.Conditions {
		if c.Type == v1alpha1.ConditionStalled && c.Status == "True" && !isExpectation {
			alert = stalled
		}
	}
	if state.Ready.Status == "False" && regexp.MustCompile("^("+reasons[1]+")$").MatchString(state.Ready.Reason) {
		alert += notReady
	}
	return alert
}

// stepError is an error in the code of the controllers: its folder, its type, and the constant of its reason.
type stepError struct{ folder, kind, constant string }

func (s stepError) err(reason string) error {
	switch s.kind {
	case "StallingError":
		return &reconciler.StallingError{Reason: reason, Message: "Change it."}
	case "WaitingError":
		return &reconciler.WaitingError{Reason: reason, Message: "It waits."}
	}
	return &reconciler.FailedError{Reason: reason, Cause: errors.New("it failed")}
}

// goFiles returns the parsed files below a folder that are no tests.
func goFiles(t *testing.T, folder string) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	err := filepath.WalkDir(folder, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		files[name], err = parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// stepErrors finds the errors of steps in the code.
func stepErrors(t *testing.T) (found []stepError) {
	t.Helper()
	for name, file := range goFiles(t, ".") {
		ast.Inspect(file, func(node ast.Node) bool {
			literal, ok := node.(*ast.CompositeLit)
			if !ok {
				return true
			}
			kind := nameOf(literal.Type)
			if !slices.Contains([]string{"StallingError", "WaitingError", "FailedError"}, kind) {
				return true
			}
			for _, element := range literal.Elts {
				if pair, ok := element.(*ast.KeyValueExpr); ok && nameOf(pair.Key) == "Reason" {
					if constant := nameOf(pair.Value); strings.HasPrefix(constant, "Reason") && constant != "Reason" { // not one that is passed on
						found = append(found, stepError{filepath.Dir(name), kind, constant})
					}
				}
			}
			return true
		})
	}
	return found
}

// nameOf returns the name of an identifier, which may be qualified.
func nameOf(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// reasonConstants returns the reasons of the API by the names of their constants.
func reasonConstants(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, file := range goFiles(t, filepath.Join("..", "api", "v1alpha1")) {
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				if strings.HasPrefix(name.Name, "Reason") && i < len(spec.Values) {
					found[name.Name] = strings.Trim(spec.Values[i].(*ast.BasicLit).Value, `"`)
				}
			}
			return true
		})
	}
	return found
}

package chart

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"testing"
	texttemplate "text/template"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

const argo = "config/gitops/argocd/"

func TestArgoCDInstallsTheChart(t *testing.T) {
	t.Parallel()
	application := objectsIn(t, argo+"application.yaml")[0]
	has(t, application, "spec.source.repoURL", "ghcr.io/cauri-dev/charts")
	has(t, application, "spec.source.chart", "cauri")
	has(t, application, "spec.source.helm.releaseName", release)
	has(t, application, "spec.destination.namespace", namespace)
	if len(objects(t, "--values="+valuesOf(t, application, "spec", "source", "helm", "valuesObject"))) == 0 {
		t.Error("nothing is installed")
	}
}

// Forty folders give forty Applications, each with the folder and the namespace of its team, which the project allows.
func TestApplicationSetForFortyTeams(t *testing.T) {
	t.Parallel()
	var set, project *unstructured.Unstructured
	for _, object := range objectsIn(t, argo+"applicationset.yaml") {
		switch object.GetKind() {
		case "ApplicationSet":
			set = object
		case "AppProject":
			project = object
		}
	}
	has(t, set, "spec.goTemplateOptions", []any{"missingkey=error"})
	has(t, set, "spec.generators.0.git.directories.0.path", "teams/*")
	text, err := yaml.Marshal(set.Object["spec"].(map[string]any)["template"])
	if err != nil {
		t.Fatal(err)
	}
	// Argo CD renders each value of the template on its own, as text/template with functions that this one does not use.
	each := texttemplate.Must(texttemplate.New("").Option("missingkey=error").Parse(string(text)))
	// The example's own folder is one of them.
	teams := []string{"team-shop"}
	for i := range 39 {
		teams = append(teams, fmt.Sprintf("team-%02d", i))
	}
	seen := map[string]bool{}
	for _, team := range teams {
		folder := path.Join("teams", team)
		var rendered bytes.Buffer
		if err := each.Execute(&rendered, map[string]any{"path": map[string]any{"path": folder, "basename": team}}); err != nil {
			t.Fatal(err)
		}
		application := parse(t, rendered.String())[0]
		name := application.GetName()
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 || seen[name] {
			t.Errorf("the Application %q is there twice, or is no name: %v", name, problems)
		}
		seen[name] = true
		has(t, application, "spec.source.path", folder)
		has(t, application, "spec.destination.namespace", team)
		has(t, application, "spec.project", project.GetName())
		has(t, application, "spec.source.repoURL", project.Object["spec"].(map[string]any)["sourceRepos"].([]any)[0])
		destination := project.Object["spec"].(map[string]any)["destinations"].([]any)[0].(map[string]any)["namespace"].(string)
		if allowed, err := path.Match(destination, team); !allowed || err != nil {
			t.Errorf("the project does not allow the namespace %s", team)
		}
	}
	if len(seen) != 40 {
		t.Errorf("there are %d Applications", len(seen))
	}
	allowed := []string{" Namespace"}
	for _, object := range objectsIn(t, "config/samples/platform/team-shop/*.yaml") {
		if group, kind := object.GroupVersionKind().Group, object.GetKind(); group == "cauri.dev" || kind == "Kustomization" {
			continue
		} else if !slices.Contains(allowed, group+" "+kind) {
			t.Errorf("the folder has %s, which the project does not allow", nameOf(object))
		}
	}
}

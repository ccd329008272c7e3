package monitoring

import (
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const kubeStateMetrics = "../../config/gitops/kube-state-metrics/values.yaml"

// fields leads from the object, or from what a metric looks at, to a field.
type fields []string

// stateMetric is what kube-state-metrics reads of a metric.
type stateMetric struct {
	Path           fields            `json:"path"`
	LabelsFromPath map[string]fields `json:"labelsFromPath"`
	ValueFrom      fields            `json:"valueFrom"`
	NilIsZero      bool              `json:"nilIsZero"`
}

type stateResource struct {
	GroupVersionKind struct{ Group, Version, Kind string } `json:"groupVersionKind"`
	MetricNamePrefix string                                `json:"metricNamePrefix"`
	LabelsFromPath   map[string]fields                     `json:"labelsFromPath"`
	ErrorLogV        int                                   `json:"errorLogV"`
	Metrics          []struct {
		Name, Help string
		Each       struct {
			Type  string       `json:"type"`
			Gauge *stateMetric `json:"gauge"`
			Info  *stateMetric `json:"info"`
		} `json:"each"`
	} `json:"metrics"`
}

type stateValues struct {
	RBAC struct {
		ExtraRules []struct{ APIGroups, Resources, Verbs []string } `json:"extraRules"`
	} `json:"rbac"`
	CustomResourceState struct {
		Enabled bool `json:"enabled"`
		Config  struct {
			Kind string `json:"kind"`
			Spec struct {
				Resources []stateResource `json:"resources"`
			} `json:"spec"`
		} `json:"config"`
	} `json:"customResourceState"`
}

// Each field that kube-state-metrics is told to read is in the schema, and has a value of a type that it can show.
func TestKubeStateMetricsReadsFieldsThatExist(t *testing.T) {
	var values stateValues
	if err := yaml.UnmarshalStrict([]byte(read(t, kubeStateMetrics)), &values); err != nil {
		t.Fatal(err)
	}
	for kind, file := range map[string]string{
		"SandboxEnvironment": "cauri.dev_sandboxenvironments.yaml", "TestClient": "cauri.dev_testclients.yaml",
		"Expectation": "cauri.dev_expectations.yaml",
	} {
		crd, root := schema(t, "../../config/crd/"+file)
		found := slices.IndexFunc(values.CustomResourceState.Config.Spec.Resources, func(r stateResource) bool {
			gvk := r.GroupVersionKind
			return gvk.Kind == kind && gvk.Group == crd.Spec.Group && gvk.Version == crd.Spec.Versions[0].Name
		})
		if found < 0 {
			t.Fatalf("%s is not configured", kind)
		}
		resource := values.CustomResourceState.Config.Spec.Resources[found]
		for label, path := range resource.LabelsFromPath {
			isLabel(t, label, at(t, root, path))
		}
		for _, metric := range resource.Metrics {
			name := resource.MetricNamePrefix + "_" + metric.Name
			if metric.Help == "" || !strings.HasSuffix(metric.Help, ".") {
				t.Errorf("%s has no help", name)
			}
			switch each := metric.Each; {
			case each.Type == "Info" && each.Info != nil && each.Gauge == nil:
				labels(t, root, each.Info)
			case each.Type == "Gauge" && each.Gauge != nil && each.Info == nil:
				isNumber(t, name, at(t, labels(t, root, each.Gauge), each.Gauge.ValueFrom))
			default:
				t.Errorf("%s is neither a gauge nor an info", name)
			}
			if !strings.Contains(read(t, "../../docs/gitops.md"), "`"+name+"`") {
				t.Errorf("docs/gitops.md does not explain %s", name)
			}
		}
		if !slices.ContainsFunc(values.RBAC.ExtraRules, func(rule struct{ APIGroups, Resources, Verbs []string }) bool {
			return slices.Contains(rule.APIGroups, crd.Spec.Group) && slices.Contains(rule.Resources, crd.Spec.Names.Plural) &&
				slices.Contains(rule.Verbs, "list") && slices.Contains(rule.Verbs, "watch")
		}) {
			t.Errorf("kube-state-metrics may not list and watch %s", crd.Spec.Names.Plural)
		}
	}
}

func schema(t *testing.T, file string) (*apiextensionsv1.CustomResourceDefinition, apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(read(t, file)), crd); err != nil {
		t.Fatal(err)
	}
	root := *crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	root.Properties["metadata"] = apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"name": {Type: "string"}, "namespace": {Type: "string"}, "generation": {Type: "integer"},
	}}
	return crd, root
}

// at is what a path leads to.
func at(t *testing.T, from apiextensionsv1.JSONSchemaProps, path fields) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	for _, name := range path {
		next, found := from.Properties[name]
		if !found {
			t.Errorf("%q: there is no field %s", path, name)
			return apiextensionsv1.JSONSchemaProps{}
		}
		from = next
	}
	return from
}

// labels checks the labels of a metric, and returns what it looks at: the items of a list one by one.
func labels(t *testing.T, root apiextensionsv1.JSONSchemaProps, metric *stateMetric) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	each := at(t, root, metric.Path)
	if each.Type == "array" {
		each = *each.Items.Schema
	}
	for label, path := range metric.LabelsFromPath {
		isLabel(t, label, at(t, each, path))
	}
	return each
}

func isLabel(t *testing.T, label string, field apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	if field.Type != "string" {
		t.Errorf("the label %s is of type %q", label, field.Type)
	}
}

// isNumber checks that kube-state-metrics makes a number of a field: also of a time, and of a condition's status.
func isNumber(t *testing.T, name string, field apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	isStatus := len(field.Enum) == 3 && string(field.Enum[0].Raw) == `"True"`
	if field.Type != "integer" && field.Type != "boolean" && field.Format != "date-time" && !isStatus {
		t.Errorf("%s is of type %q", name, field.Type)
	}
}

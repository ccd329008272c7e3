package chart

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// jsonSchema is what the test reads of values.schema.json.
type jsonSchema struct {
	Ref        string                 `json:"$ref"`
	Defs       map[string]*jsonSchema `json:"$defs"`
	Properties map[string]*jsonSchema `json:"properties"`
	Additional any                    `json:"additionalProperties"`
	Enum       []string               `json:"enum"`
}

func (s *jsonSchema) resolved(t *testing.T, top *jsonSchema) *jsonSchema {
	t.Helper()
	if s.Ref == "" {
		return s
	}
	name, _ := strings.CutPrefix(s.Ref, "#/$defs/")
	if top.Defs[name] == nil {
		t.Fatalf("the schema has no %s", s.Ref)
	}
	return top.Defs[name]
}

// paths are the names of all properties, as far as the schema knows them. Where it allows any, the path ends.
func (s *jsonSchema) paths(t *testing.T, top *jsonSchema, at string, found map[string]bool) {
	t.Helper()
	for name, property := range s.resolved(t, top).Properties {
		path := strings.TrimPrefix(at+"."+name, ".")
		resolved := property.resolved(t, top)
		if len(resolved.Properties) == 0 {
			found[path] = true
			continue
		}
		if resolved.Additional != false {
			t.Errorf("%s: the schema lets unknown values pass", path)
		}
		property.paths(t, top, path, found)
	}
}

// valuePaths are the names of all values, down to where the schema ends.
func valuePaths(values map[string]any, at string, schema, found map[string]bool) {
	for name, value := range values {
		path := strings.TrimPrefix(at+"."+name, ".")
		part, mapping := value.(map[string]any)
		if !mapping || schema[path] {
			found[path] = true
			continue
		}
		if slices.Contains([]string{"requests", "limits"}, slices.Sorted(maps.Keys(part))[0]) { // resources
			found[path+".requests"], found[path+".limits"] = true, true
			continue
		}
		valuePaths(part, path, schema, found)
	}
}

func TestSchemaKnowsAllValuesAndNoOthers(t *testing.T) {
	t.Parallel()
	var schema jsonSchema
	if err := json.Unmarshal([]byte(read(t, chart+"/values.schema.json")), &schema); err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.UnmarshalStrict([]byte(read(t, chart+"/values.yaml")), &values); err != nil {
		t.Fatal(err)
	}
	allowed, there := map[string]bool{}, map[string]bool{}
	schema.paths(t, &schema, "", allowed)
	delete(allowed, "global")  // Helm's own
	delete(allowed, "enabled") // of charts that depend on this one
	maps.DeleteFunc(allowed, func(path string, _ bool) bool { return strings.HasSuffix(path, "resources.claims") })
	valuePaths(values, "", allowed, there)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(there)), slices.Sorted(maps.Keys(allowed))); diff != "" || schema.Additional != false {
		t.Errorf("(-values.yaml +values.schema.json):\n%s", diff)
	}
}

func TestWrongValuesAreRefused(t *testing.T) {
	t.Parallel()
	for set, says := range map[string]string{
		"ingress.enabled=true,ingress.hosts={pay.example.com},api.operatorDomain=example.org,ingress.tls[0].hosts={pay.example.com}": "no certificate for the host *.example.org",
		"api.replica=3":                             "'replica' not allowed",
		"api.shutdownDelay=30s":                     "/api/shutdownDelay",
		"api.maxHeldAnswers=-1":                     "/api/maxHeldAnswers",
		"api.maxHeldAnswersPerSandbox=many":         "/api/maxHeldAnswersPerSandbox",
		"api.terminationGracePeriodSeconds=20":      "/api/terminationGracePeriodSeconds",
		"api.baseURL=pay.example.com":               "/api/baseURL",
		"api.baseURL=http://:80":                    "/api/baseURL",
		"api.baseURL=http://me@pay.example.com":     "/api/baseURL",
		"api.baseURL=https://pay.example.com/cauri": "/api/baseURL",
		"ingress.enabled=true,ingress.hosts={a.b},api.operatorDomain=o.b,ingress.paths={/sandboxes/team-a/}":                                                            "ingress.paths admits some paths",
		"httpRoute.enabled=true,httpRoute.parentRefs[0].name=p,httpRoute.hostnames={a.b},api.baseURL=http://a.b,api.operatorDomain=o.b,httpRoute.matches[0].method=GET": "httpRoute.matches admits some requests",
		"api.operatorDomain=*.example.com":               "/api/operatorDomain",
		"api.operatorDomain=https://example.com":         "/api/operatorDomain",
		"database.mode=mysql":                            "/database/mode",
		"database.mode=existingSecret":                   "set database.existingSecret.name",
		"database.embedded.settings.max_connections=300": "/database/embedded/settings/max_connections",
		"database.embedded.storage.type=hostPath":        "/database/embedded/storage/type",
		"image.digest=latest":                            "/image/digest",
		"logging.level=trace":                            "/logging/level",
		"eventRetention=30d":                             "/eventRetention",
		"watchNamespaces={Team_A}":                       "/watchNamespaces/0",
		"rbac.namespacedOnly=some":                       "/rbac/namespacedOnly",
		"webhooks.deny={example.com}":                    "/webhooks/deny/0",
		"httpRoute.timeouts.request=75":                  "/httpRoute/timeouts/request",
		"ingress.hosts={https://pay.example.com}":        "/ingress/hosts/0",
		"ingress.paths={sandboxes/team-a}":               "/ingress/paths/0",
		"ingress.enabled=true,ingress.hosts={pay.example.com},console.host=console.example.com,ingress.tls[0].hosts={pay.example.com}": "no certificate for the host console.example.com",
		"api.autoscaling.enabled=true,api.autoscaling.minReplicas=9":                                                                   "api.autoscaling.minReplicas is larger",
		"rbac.namespacedOnly=true":        "all namespaces are watched",
		"database.existingSecret.name=db": "database.mode is embedded",
		"database.mode=cloudnativepg,database.cloudnativepg.instances=1,database.cloudnativepg.readFromReplicas=true":                   "readFromReplicas needs a replica",
		"console.enabled=false,console.host=console.example.com":                                                                        "console.enabled is false",
		"ingress.enabled=true,ingress.hosts={pay.example.com},console.host=pay.example.com":                                             "console.host serves the consoles alone",
		"httpRoute.enabled=true,httpRoute.parentRefs[0].name=public,api.baseURL=https://a.b,httpRoute.hostnames={a.b},console.host=a.b": "console.host serves the consoles alone",
		"httpRoute.enabled=true": "set httpRoute.parentRefs",
		"httpRoute.enabled=true,httpRoute.parentRefs[0].name=public,httpRoute.hostnames={pay.example.com}": "set api.baseURL",
	} {
		if _, err := template(t, "--set="+set); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want something with %q", set, err, says)
		}
	}
}

// What a company adds to the pods that use the database is in each of them, and in no other.
func TestAdditionsToPods(t *testing.T) {
	t.Parallel()
	for mode, values := range map[string][]string{
		"embedded": nil, "own": {"--set=database.mode=existingSecret", "--set=database.existingSecret.name=db"},
	} {
		rendered := objects(t, append(
			values, "--set=extraVolumes[0].name=client,extraVolumes[0].secret.secretName=client,extraVolumeMounts[0].name=client",
			"--set=extraVolumeMounts[0].mountPath=/client,sidecars[0].name=proxy,sidecars[0].image=proxy:1")...)
		components := map[string]bool{}
		for _, pod := range pods(t, rendered) {
			volume := slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == "client" && v.Secret != nil })
			mount := slices.ContainsFunc(pod.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/client" })
			sidecar := slices.ContainsFunc(pod.InitContainers, func(c corev1.Container) bool {
				return c.Name == "proxy" && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
			})
			usesDatabase := slices.Contains([]string{"api", "worker", "controller", "migrate"}, pod.component())
			if components[pod.component()] = usesDatabase; volume != usesDatabase || mount != usesDatabase || sidecar != usesDatabase {
				t.Errorf("database %s: %s has the volume %t, the mount %t, the sidecar %t", mode, pod.component(), volume, mount, sidecar)
			}
		}
		if !components["migrate"] || !components["api"] {
			t.Errorf("database %s: pods of %v", mode, components)
		}
	}
}

// A certificate covers a host by its name, by a wildcard, or as the only one of the Ingress.
func TestHostsWithACertificate(t *testing.T) {
	t.Parallel()
	for _, tls := range []string{
		"ingress.tls[0].secretName=pay", "ingress.tls[0].hosts={*.example.com}", "ingress.tls[0].hosts={pay.example.com},ingress.tls[1].hosts={console.example.com}",
	} {
		objects(t, "--set=ingress.enabled=true,ingress.hosts={pay.example.com},console.host=console.example.com,"+tls)
	}
}

// Several installations share a host by the paths of their namespaces.
func TestPathsOfTheIngress(t *testing.T) {
	t.Parallel()
	ingress := theOnly(t, objects(t, "--set=ingress.enabled=true,ingress.hosts={pay.example.com},ingress.paths={/sandboxes/a,/sandboxes/b}"), "Ingress")
	has(t, ingress, "spec.rules.0.http.paths.0.path", "/sandboxes/a")
	has(t, ingress, "spec.rules.0.http.paths.1.path", "/sandboxes/b")
	has(t, ingress, "spec.rules.0.http.paths.1.backend.service.name", "cauri-api")
}

func TestBaseURL(t *testing.T) {
	t.Parallel()
	const inCluster = "http://cauri-api.cauri-system.svc"
	for set, want := range map[string]string{
		"":                      inCluster,
		"api.service.port=8080": inCluster + ":8080",
		"ingress.enabled=true":  inCluster,
		"ingress.enabled=true,ingress.hosts={pay.example.com}":                                                        "http://pay.example.com",
		"ingress.enabled=true,ingress.hosts={pay.example.com,b.example.com},ingress.tls[0].secretName=pay":            "https://pay.example.com",
		"ingress.enabled=true,ingress.hosts={pay.example.com},api.baseURL=https://pay.example.com/":                   "https://pay.example.com",
		"httpRoute.enabled=true,httpRoute.parentRefs[0].name=public":                                                  inCluster,
		"httpRoute.enabled=true,httpRoute.parentRefs[0].name=public,httpRoute.hostnames={a.b},api.baseURL=http://a.b": "http://a.b",
	} {
		rendered := objects(t, "--set="+set)
		for _, d := range all[appsv1.Deployment](t, rendered, "Deployment") {
			args := d.Spec.Template.Spec.Containers[0].Args
			switch d.Name {
			case "cauri-controller", "cauri-api":
				if !slices.Contains(args, "--base-url="+want) {
					t.Errorf("%s: %s is not told %s: %v", set, d.Name, want, args)
				}
			case "cauri-worker": // makes no request to the api
				if strings.Contains(strings.Join(args, " "), "--base-url") {
					t.Errorf("%s: the worker is told where the api is: %v", set, args)
				}
			}
		}
	}
}

// Two releases in a cluster share no name.
func TestReleasesBesideEachOther(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, as := range []string{"cauri", "blue", "blue-cauri-green"} {
		rendered, err := helm(t, "template", as, chart, "--namespace="+namespace, "--set=crds.enabled=false")
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range parse(t, rendered) {
			if names[nameOf(object)] {
				t.Errorf("%s: %s is another release's", as, nameOf(object))
			}
			names[nameOf(object)] = true
		}
	}
	long := strings.Repeat("long-", 10) + "end" // 53 characters, as Helm allows
	rendered, err := helm(t, "template", long, chart, "--namespace="+namespace, "--set=crds.enabled=false")
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range parse(t, rendered) {
		if len(object.GetName()) > 63 {
			t.Errorf("%s is longer than a name may be", nameOf(object))
		}
	}
}

func TestNotesTellWhatIsNext(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][]string{
		"defaults": {"helm test cauri --namespace cauri-system", "http://cauri-api.cauri-system.svc", "the encryption key (cauri-encryption)", "with all sandboxes",
			"kubectl cauri --namespace default console checkout"},
		"platform": {"Merchants call https://pay.example.com.", "(the consoles are at console.example.com)",
			"call orange-root-uri: DNS and the certificate need the name *.operators.example.com."},
		"cloudnativepg": {"kubectl apply --namespace team-a", "its passwords (cauri-database)"},
		"ci":            {"loses ALL DATA"},
	} {
		out, err := helm(t, "install", release, chart, "--namespace="+namespace, "--dry-run=client", scenarios(t)[name])
		if err != nil {
			t.Fatal(err)
		}
		_, notes, _ := strings.Cut(out, "NOTES:\n")
		for _, want := range c {
			if !strings.Contains(notes, want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, notes)
			}
		}
		if strings.Contains(notes, "\n\n\n") || strings.Contains(notes, "<no value>") {
			t.Errorf("%s: the notes are\n%s", name, notes)
		}
	}
}

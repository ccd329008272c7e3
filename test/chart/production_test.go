package chart

import (
	"maps"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	texttemplate "text/template"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cauri-dev/cauri/test/snippets"
)

// production are the objects of a file in examples/values.
func production(t *testing.T, name string, args ...string) []*unstructured.Unstructured {
	t.Helper()
	return objects(t, append([]string{"--values=" + filepath.Join(root, "examples/values", name+".yaml")}, args...)...)
}

// theOnly is the only object of a kind.
func theOnly(t *testing.T, objects []*unstructured.Unstructured, kind string) *unstructured.Unstructured {
	t.Helper()
	found := slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return o.GetKind() != kind })
	if len(found) != 1 {
		t.Fatalf("there are %d objects of the kind %s", len(found), kind)
	}
	return found[0]
}

// has checks what is at a path of an object. A number in the path is an index.
func has(t *testing.T, object *unstructured.Unstructured, path string, want any) {
	t.Helper()
	var got any = object.Object
	for name := range strings.SplitSeq(path, ".") {
		switch at := got.(type) {
		case map[string]any:
			got = at[name]
		case []any:
			got = at[name[0]-'0']
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s, %s:\n%s", nameOf(object), path, diff)
	}
}

// of is the pod of a component.
func of(t *testing.T, objects []*unstructured.Unstructured, component string) podTemplate {
	t.Helper()
	for _, pod := range pods(t, objects) {
		if pod.component() == component {
			return pod
		}
	}
	t.Fatalf("there is no pod of %s", component)
	return podTemplate{}
}

func policy(t *testing.T, objects []*unstructured.Unstructured, component string) *networkingv1.NetworkPolicy {
	t.Helper()
	for _, p := range all[networkingv1.NetworkPolicy](t, objects, "NetworkPolicy") {
		if p.Name == "cauri-"+component {
			return p
		}
	}
	t.Fatalf("there is no NetworkPolicy of %s", component)
	return nil
}

func hasArgument(t *testing.T, pod podTemplate, argument string) {
	t.Helper()
	if !slices.Contains(pod.Containers[0].Args, argument) {
		t.Errorf("%s has no argument %s: %v", pod.of, argument, pod.Containers[0].Args)
	}
}

func TestProductionWithCloudNativePG(t *testing.T) {
	t.Parallel()
	rendered := production(t, "cloudnativepg")
	cluster := theOnly(t, rendered, "Cluster")
	has(t, cluster, "spec.instances", 3.0)
	has(t, cluster, "spec.postgresql.synchronous.number", 1.0)
	has(t, cluster, "spec.postgresql.parameters.max_connections", "300")
	has(t, cluster, "spec.plugins.0.isWALArchiver", true)
	replica := slices.ContainsFunc(of(t, rendered, "api").Containers[0].Env, func(v corev1.EnvVar) bool {
		return v.Name == "DATABASE_READ_URL" && strings.Contains(v.Value, "@cauri-postgres-ro:5432/")
	})
	if !replica {
		t.Error("the api reads no replica")
	}
	theOnly(t, rendered, "PrometheusRule")
	theOnly(t, rendered, "ServiceMonitor")
	if embedded := all[appsv1.StatefulSet](t, rendered, "StatefulSet"); len(embedded) > 0 {
		t.Error("there is an embedded database too")
	}
}

// Each process logs in with a key of its own, and all of them trust the authorities of the database, the job of the migrations too.
func TestProductionWithRDS(t *testing.T) {
	t.Parallel()
	rendered := production(t, "rds")
	for _, component := range []string{"api", "worker", "controller", "migrate"} {
		pod := of(t, rendered, component)
		mounts := pod.Containers[0].VolumeMounts
		if !slices.ContainsFunc(mounts, func(m corev1.VolumeMount) bool { return m.Name == "rds-ca" && m.MountPath == "/etc/rds" }) ||
			!slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == "rds-ca" && v.ConfigMap != nil }) {
			t.Errorf("%s does not have the authorities", pod.of)
		}
		if component == "migrate" {
			continue // it logs in by a variable
		}
		own := slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool {
			return v.Secret != nil && v.Secret.SecretName == "cauri-database-urls" && v.Secret.Items[0].Key == component
		})
		if !own {
			t.Errorf("%s does not have its own URL", pod.of)
		}
	}
	for _, job := range all[batchv1.Job](t, rendered, "Job") {
		if strings.Contains(job.Name, "migrate") && job.Annotations["helm.sh/hook"] == "" {
			t.Error("the schema is not migrated before the pods change")
		}
	}
	hasArgument(t, of(t, rendered, "controller"), "--base-url=https://pay.example.com")
	for _, component := range []string{"api", "worker", "controller", "migrate"} {
		let := slices.ContainsFunc(policy(t, rendered, component).Spec.Egress, func(r networkingv1.NetworkPolicyEgressRule) bool {
			return len(r.To) > 0 && r.To[0].IPBlock != nil && r.To[0].IPBlock.CIDR == "10.0.64.0/20"
		})
		if !let {
			t.Errorf("%s does not reach the database", component)
		}
	}
}

func TestProductionWithAGateway(t *testing.T) {
	t.Parallel()
	rendered := production(t, "gateway-api")
	route := theOnly(t, rendered, "HTTPRoute")
	has(t, route, "spec.hostnames", []any{"pay.example.com", "console.example.com"})
	has(t, route, "spec.rules.0.timeouts", map[string]any{"request": "0s", "backendRequest": "0s"})
	has(t, route, "spec.parentRefs.0.sectionName", "https")
	hasArgument(t, of(t, rendered, "api"), "--base-url=https://pay.example.com")
	hasArgument(t, of(t, rendered, "api"), "--console-url=https://console.example.com")
	from := policy(t, rendered, "api").Spec.Ingress[0].From[0].NamespaceSelector.MatchLabels
	if from["kubernetes.io/metadata.name"] != "gateways" {
		t.Errorf("the api is called from %v", from)
	}
}

// No pod names a user or a group, with the database for a trial neither.
func TestProductionOnOpenShift(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"existingSecret", "embedded"} {
		args := []string{"--set=database.mode=" + mode}
		if mode == "embedded" {
			args = append(args, "--set=database.existingSecret.name=")
		}
		rendered := production(t, "openshift", args...)
		for _, pod := range pods(t, rendered) {
			if s := pod.SecurityContext; s.RunAsUser != nil || s.RunAsGroup != nil || s.FSGroup != nil || s.RunAsNonRoot == nil {
				t.Errorf("%s: %s has a user of its own: %v", mode, pod.of, s)
			}
			for _, container := range append(pod.InitContainers, pod.Containers...) {
				if s := container.SecurityContext; s.RunAsUser != nil || s.RunAsGroup != nil {
					t.Errorf("%s: a container of %s has a user of its own: %v", mode, pod.of, s)
				}
			}
			if pod.component() == "postgres" || pod.component() == "test" {
				continue // without DNS, and without a policy
			}
			dns := slices.ContainsFunc(policy(t, rendered, pod.component()).Spec.Egress, func(r networkingv1.NetworkPolicyEgressRule) bool {
				return slices.ContainsFunc(r.Ports, func(p networkingv1.NetworkPolicyPort) bool { return p.Port.IntValue() == 5353 })
			})
			if !dns {
				t.Errorf("%s: %s does not reach DNS", mode, pod.of)
			}
		}
		route := theOnly(t, rendered, "Ingress")
		if route.GetAnnotations()["route.openshift.io/termination"] != "edge" {
			t.Errorf("the Route has no TLS: %v", route.GetAnnotations())
		}
		has(t, route, "spec.rules.0.host", "pay.apps.example.com")
		hasArgument(t, of(t, rendered, "api"), "--base-url=https://pay.apps.example.com")
	}
}

// All images are the company's, all pods may pull them, and no webhook leaves the cluster.
func TestProductionInAnAirGap(t *testing.T) {
	t.Parallel()
	rendered := production(t, "air-gapped", "--set=database.mode=embedded,database.existingSecret.name=")
	for _, pod := range pods(t, rendered) {
		if len(pod.ImagePullSecrets) != 1 || pod.ImagePullSecrets[0].Name != "registry" {
			t.Errorf("%s pulls with %v", pod.of, pod.ImagePullSecrets)
		}
		for _, container := range append(pod.InitContainers, pod.Containers...) {
			if !strings.HasPrefix(container.Image, "registry.example.com/platform/") {
				t.Errorf("%s has the image %s", pod.of, container.Image)
			}
		}
	}
	var denied, except []netip.Prefix
	for _, argument := range of(t, rendered, "worker").Containers[0].Args {
		if list, is := strings.CutPrefix(argument, "--webhook-deny="); is {
			denied = prefixes(strings.Split(list, ",")...)
		}
	}
	for _, rule := range policy(t, rendered, "worker").Spec.Egress {
		for _, peer := range rule.To {
			if peer.IPBlock != nil {
				except = append(except, prefixes(peer.IPBlock.Except...)...)
			}
		}
	}
	for where, networks := range map[string][]netip.Prefix{"the worker's flags": denied, "the NetworkPolicy": except} {
		for address, want := range map[string]bool{
			"0.0.0.1": true, "8.8.8.8": true, "9.255.255.255": true, "10.0.0.1": false, "10.255.255.255": false, "11.0.0.0": true, "15.0.0.1": true,
			"31.1.1.1": true, "63.1.1.1": true, "127.1.1.1": true, "203.0.113.9": true, "255.255.255.255": true, "2001:4860::1": true, "fd00::1": true, "9000::1": true,
		} {
			got := slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(netip.MustParseAddr(address)) })
			if got != want {
				t.Errorf("%s refuse %s: %t", where, address, got)
			}
		}
	}
}

func prefixes(all ...string) (parsed []netip.Prefix) {
	for _, one := range all {
		parsed = append(parsed, netip.MustParsePrefix(one))
	}
	return parsed
}

func TestProductionValuesAreExplained(t *testing.T) {
	t.Parallel()
	page, tests := read(t, root+"/docs/platforms.md"), read(t, "production_test.go")
	for name := range valuesIn(t, root+"/examples/values/*.yaml") {
		if !strings.Contains(page, "(../examples/values/"+name+".yaml)") || !strings.Contains(tests, `production(t, "`+name+`"`) {
			t.Errorf("examples/values/%s.yaml has no row in docs/platforms.md, or no test here", name)
		}
	}
}

// The ExternalSecret of docs/platforms.md has the keys of examples/values/rds.yaml, and each makes a URL of whatever password there is.
func TestExternalSecretMakesURLs(t *testing.T) {
	t.Parallel()
	var secret *unstructured.Unstructured
	for _, one := range snippets.Of(t, root, "docs/platforms.md") {
		if one.RunBy() == "test/chart" {
			secret = parse(t, one.Body)[0]
		}
	}
	templates, found, err := unstructured.NestedStringMap(secret.Object, "spec", "target", "template", "data")
	if !found || err != nil {
		t.Fatalf("the ExternalSecret has no template (%v)", err)
	}
	const password = `p@s:s/w?o#r%d&+=[]`
	values := map[string]any{}
	for _, entry := range secret.Object["spec"].(map[string]any)["data"].([]any) {
		name := entry.(map[string]any)["secretKey"].(string)
		if values[name] = "cauri_user"; strings.HasSuffix(name, "Password") {
			values[name] = password
		}
	}
	for key, text := range templates {
		var made strings.Builder
		if err := texttemplate.Must(texttemplate.New(key).Option("missingkey=error").Parse(text)).Execute(&made, values); err != nil {
			t.Fatal(err)
		}
		parsed, err := url.Parse(made.String())
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := parsed.User.Password(); got != password || parsed.Query().Get("sslmode") != "verify-full" ||
			!strings.HasPrefix(parsed.Query().Get("sslrootcert"), "/etc/rds/") {
			t.Errorf("the key %s is %s", key, parsed)
		}
	}
	if diff := cmp.Diff([]string{"api", "controller", "owner", "worker"}, slices.Sorted(maps.Keys(templates))); diff != "" {
		t.Error(diff)
	}
}

package chart

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cauri-dev/cauri/controllers"
)

// foreign are kinds whose types are not Kubernetes' own.
var foreign = []string{"Cluster", "HTTPRoute", "PrometheusRule", "ServiceMonitor"}

func TestObjectsHaveFieldsThatThereAre(t *testing.T) {
	t.Parallel()
	strict := json.NewSerializerWithOptions(
		json.DefaultMetaFactory,
		controllers.Scheme,
		controllers.Scheme,
		json.SerializerOptions{Strict: true},
	)
	everywhere(t, func(t *testing.T, all []*unstructured.Unstructured) {
		seen := map[string]bool{}
		for _, object := range all {
			if seen[nameOf(object)] {
				t.Errorf("%s is there twice", nameOf(object))
			}
			seen[nameOf(object)] = true
			if slices.Contains(foreign, object.GetKind()) {
				continue
			}
			encoded, err := object.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := strict.Decode(encoded, nil, nil); err != nil {
				t.Errorf("%s: %v", nameOf(object), err)
			}
		}
	})
}

func TestObjectsAreLabelled(t *testing.T) {
	t.Parallel()
	clusterWide := []string{"ClusterRole", "ClusterRoleBinding"}
	everywhere(t, func(t *testing.T, all []*unstructured.Unstructured) {
		for _, object := range all {
			for _, label := range []string{"name", "instance", "component", "part-of"} {
				if object.GetLabels()["app.kubernetes.io/"+label] == "" {
					t.Errorf("%s has no label app.kubernetes.io/%s", nameOf(object), label)
				}
			}
			if (object.GetNamespace() == "") != slices.Contains(clusterWide, object.GetKind()) {
				t.Errorf("%s: its namespace is %q", nameOf(object), object.GetNamespace())
			}
		}
	})
}

// matching are the pods that a selector selects.
func matching(t *testing.T, pods []podTemplate, namespace string, selector *metav1.LabelSelector) []podTemplate {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	var found []podTemplate
	for _, pod := range pods {
		if pod.Namespace == namespace && s.Matches(labels.Set(pod.Labels)) {
			found = append(found, pod)
		}
	}
	return found
}

func TestSelectorsSelectTheirPods(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, objects []*unstructured.Unstructured) {
		everyPod := pods(t, objects)
		only := func(what, of string, selector *metav1.LabelSelector) podTemplate {
			t.Helper()
			found := matching(t, everyPod, namespace, selector)
			if len(found) != 1 || of != "" && found[0].of != of {
				t.Fatalf("%s selects %d kinds of pods", what, len(found))
			}
			return found[0]
		}
		for _, d := range all[appsv1.Deployment](t, objects, "Deployment") {
			only("Deployment "+d.Name, "Deployment "+namespace+"/"+d.Name, d.Spec.Selector)
		}
		for _, s := range all[appsv1.StatefulSet](t, objects, "StatefulSet") {
			only("StatefulSet "+s.Name, "StatefulSet "+namespace+"/"+s.Name, s.Spec.Selector)
		}
		for _, b := range all[policyv1.PodDisruptionBudget](t, objects, "PodDisruptionBudget") {
			only("PodDisruptionBudget "+b.Name, "Deployment "+namespace+"/"+b.Name, b.Spec.Selector)
		}
		for _, s := range all[corev1.Service](t, objects, "Service") {
			selector := &metav1.LabelSelector{MatchLabels: s.Spec.Selector}
			selected := matching(t, everyPod, namespace, selector)
			if s.Name != release+"-metrics" {
				selected = []podTemplate{only("Service "+s.Name, "", selector)}
			}
			for _, port := range s.Spec.Ports {
				if !slices.ContainsFunc(selected, func(p podTemplate) bool { return p.ports()[port.TargetPort.StrVal] != 0 }) {
					t.Errorf("Service %s: no pod has a port %s", s.Name, port.TargetPort.StrVal)
				}
			}
		}
		for _, a := range all[autoscalingv2.HorizontalPodAutoscaler](t, objects, "HorizontalPodAutoscaler") {
			found := slices.ContainsFunc(all[appsv1.Deployment](t, objects, "Deployment"), func(d *appsv1.Deployment) bool {
				return d.Name == a.Spec.ScaleTargetRef.Name && d.Spec.Replicas == nil
			})
			if !found {
				t.Errorf("%s scales %s, which is not there or has replicas of its own", a.Name, a.Spec.ScaleTargetRef.Name)
			}
		}
	})
}

func TestProbesAskPortsThatThereAre(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, objects []*unstructured.Unstructured) {
		for _, pod := range pods(t, objects) {
			if kind, _, _ := strings.Cut(pod.of, " "); kind == "Job" || kind == "Pod" {
				continue
			}
			for _, container := range pod.Containers {
				for name, probe := range map[string]*corev1.Probe{"readiness": container.ReadinessProbe, "liveness": container.LivenessProbe} {
					if probe == nil {
						t.Errorf("%s has no %s probe", pod.of, name)
						continue
					}
					if probe.TimeoutSeconds < 3 { // a worker takes 2 s to say that the database does not answer
						t.Errorf("%s: the %s probe waits %d s", pod.of, name, probe.TimeoutSeconds)
					}
					if probe.HTTPGet != nil && pod.ports()[probe.HTTPGet.Port.StrVal] == 0 {
						t.Errorf("%s: the %s probe asks the port %s, which is not there", pod.of, name, probe.HTTPGet.Port.StrVal)
					}
				}
			}
		}
	})
}

// Every pod is under a NetworkPolicy in both directions, and what one lets out another lets in.
func TestNetworkPoliciesCoverAllPods(t *testing.T) {
	t.Parallel()
	for name, values := range scenarios(t) {
		if name == "ci" { // has none
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rendered := objects(t, values)
			policies := all[networkingv1.NetworkPolicy](t, rendered, "NetworkPolicy")
			everyPod := pods(t, rendered)
			for _, pod := range everyPod {
				covered := map[networkingv1.PolicyType]bool{}
				for _, policy := range policies {
					if !slices.ContainsFunc(
						matching(t, everyPod, policy.Namespace, &policy.Spec.PodSelector),
						func(p podTemplate) bool { return p.of == pod.of },
					) {
						continue
					}
					for _, direction := range policy.Spec.PolicyTypes {
						covered[direction] = true
					}
					checkPorts(t, policy, pod)
				}
				if !covered[networkingv1.PolicyTypeIngress] || !covered[networkingv1.PolicyTypeEgress] {
					t.Errorf("%s: covered by NetworkPolicies are %v", pod.of, covered)
				}
			}
			for _, policy := range policies {
				if len(matching(t, everyPod, policy.Namespace, &policy.Spec.PodSelector)) == 0 {
					t.Errorf("the NetworkPolicy %s selects no pod", policy.Name)
				}
			}
		})
	}
}

// checkPorts looks that what comes in comes to ports that are there, and that metrics and probes are not the merchants'.
func checkPorts(t *testing.T, policy *networkingv1.NetworkPolicy, pod podTemplate) {
	t.Helper()
	ports := pod.ports()
	for _, rule := range policy.Spec.Ingress {
		for _, port := range rule.Ports {
			var name string
			for n, number := range ports {
				if *port.Port == intstr.FromInt32(number) {
					name = n
				}
			}
			if name == "" || name != "http" && len(rule.From) == 0 {
				t.Errorf("%s lets everybody, or somebody, in to port %s (%q) of %s", policy.Name, port.Port, name, pod.of)
			}
		}
	}
}

// Of our own pods only the one of `helm test` calls the api, whoever else may by the values.
func TestOurPodsReachTheAPI(t *testing.T) {
	t.Parallel()
	rendered := objects(t, scenarios(t)["platform"])
	var let []string
	for _, policy := range all[networkingv1.NetworkPolicy](t, rendered, "NetworkPolicy") {
		if policy.Name != "cauri-api" {
			continue
		}
		for _, peer := range policy.Spec.Ingress[0].From {
			if peer.PodSelector == nil {
				continue
			}
			for _, pod := range matching(t, pods(t, rendered), namespace, peer.PodSelector) {
				let = append(let, pod.component())
			}
		}
	}
	if diff := cmp.Diff([]string{"test"}, let); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyOurPodsReachTheDatabase(t *testing.T) {
	t.Parallel()
	rendered := objects(t)
	everyPod := pods(t, rendered)
	for _, policy := range all[networkingv1.NetworkPolicy](t, rendered, "NetworkPolicy") {
		if policy.Name != "cauri-postgres" {
			continue
		}
		var let []string
		for _, peer := range policy.Spec.Ingress[0].From {
			for _, pod := range matching(t, everyPod, namespace, peer.PodSelector) {
				let = append(let, pod.component())
			}
		}
		if diff := cmp.Diff([]string{"api", "worker", "controller", "migrate"}, let); diff != "" || len(policy.Spec.Egress) != 0 {
			t.Errorf("who reaches the database: %s, and it reaches %v", diff, policy.Spec.Egress)
		}
		return
	}
	t.Error("there is no policy for the database")
}

// A webhook reaches no pod of Cauri's, and of the database nothing but the port that the worker needs anyway.
func TestWebhooksReachNoPodOfOurs(t *testing.T) {
	t.Parallel()
	for name, values := range scenarios(t) {
		if name == "ci" { // has no policies
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rendered := objects(t, values)
			ours := map[string]labels.Set{}
			if name == "cloudnativepg" {
				ours["the database"] = labels.Set{"cnpg.io/cluster": "cauri-postgres"}
			}
			for _, pod := range pods(t, rendered) {
				ours[pod.of] = pod.Labels
			}
			for _, policy := range all[networkingv1.NetworkPolicy](t, rendered, "NetworkPolicy") {
				if policy.Name != "cauri-worker" {
					continue
				}
				for pod, set := range ours {
					for _, rule := range policy.Spec.Egress {
						if len(rule.Ports) == 0 && lets(t, rule.To, set) {
							t.Errorf("the worker reaches all ports of %s", pod)
						}
					}
				}
				webhooks := policy.Spec.Egress[len(policy.Spec.Egress)-1].To
				if !lets(t, webhooks, labels.Set{"app": "shop"}) {
					t.Error("webhooks reach no pod of the release's namespace")
				}
			}
		})
	}
}

// lets reports whether peers let a pod of the release's namespace in, by its labels.
func lets(t *testing.T, peers []networkingv1.NetworkPolicyPeer, pod labels.Set) bool {
	t.Helper()
	selects := func(selector *metav1.LabelSelector, set labels.Set) bool {
		parsed, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil {
			t.Fatal(err)
		}
		return parsed.Matches(set)
	}
	return slices.ContainsFunc(peers, func(peer networkingv1.NetworkPolicyPeer) bool {
		if peer.IPBlock != nil {
			return false // of addresses outside of the cluster
		}
		return (peer.NamespaceSelector == nil || selects(peer.NamespaceSelector, labels.Set{"kubernetes.io/metadata.name": namespace})) &&
			(peer.PodSelector == nil || selects(peer.PodSelector, pod))
	})
}

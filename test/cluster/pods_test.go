package cluster

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// pods lists the pods of the installation whose component is one of those named; of all without a name.
func (c *cluster) pods(t *testing.T, components ...string) []corev1.Pod {
	t.Helper()
	var list corev1.PodList
	selector := "app.kubernetes.io/instance=" + release
	if len(components) > 0 {
		selector += ",app.kubernetes.io/component in (" + strings.Join(components, ",") + ")"
	}
	c.resource(t, "/api/v1/namespaces/"+system+"/pods?labelSelector="+url.QueryEscape(selector), &list)
	return list.Items
}

// processes are the pods that run Cauri itself.
func (c *cluster) processes(t *testing.T) []corev1.Pod {
	t.Helper()
	return c.pods(t, "controller", "api", "worker")
}

func uids(pods []corev1.Pod) (all []string) {
	for _, pod := range pods {
		all = append(all, string(pod.UID))
	}
	return all
}

// restarts adds up how often the containers of pods were started again.
func restarts(pods []corev1.Pod) (sum int32) {
	for _, pod := range pods {
		for _, container := range pod.Status.ContainerStatuses {
			sum += container.RestartCount
		}
	}
	return sum
}

// gone waits until none of some pods is left, not even one that is about to end.
func (c *cluster) gone(t *testing.T, pods []corev1.Pod) {
	t.Helper()
	before := uids(pods)
	eventually(t, time.Minute, func() error {
		for _, pod := range c.pods(t) {
			if slices.Contains(before, string(pod.UID)) {
				return fmt.Errorf("the pod %s is still there", pod.Name)
			}
		}
		return nil
	})
}

// rolledOut waits until the Deployments of the installation are as they should be.
func (c *cluster) rolledOut(t *testing.T) {
	t.Helper()
	for _, component := range []string{"controller", "api", "worker"} {
		eventually(t, 90*time.Second, func() error { // a busy machine may interrupt the watch
			out, err := c.try(t.Context(), "", "kubectl", "rollout", "status", "--namespace", system, "--timeout=30s", "deployment/cauri-"+component)
			if err != nil {
				return fmt.Errorf("%s: %w: %s", component, err, out)
			}
			return nil
		})
	}
}

// crash ends all processes of a pod at once, as a crash of the machine does.
func (c *cluster) crash(t *testing.T, pod corev1.Pod) {
	t.Helper()
	if _, err := c.ask(t.Context(), "GET", "/api/v1/namespaces/"+tools, nil); err != nil {
		c.kubectl(t, "create", "namespace", tools)
		eventually(t, time.Minute, func() error {
			_, err := c.ask(t.Context(), "GET", "/api/v1/namespaces/"+tools+"/serviceaccounts/default", nil)
			return err
		})
	}
	user := int64(65532)
	for _, context := range []*int64{runAs(pod.Spec.SecurityContext), runAsContainer(pod.Spec.Containers[0].SecurityContext)} {
		if context != nil {
			user = *context
		}
	}
	name := "kill-" + pod.Name
	c.apply(t, killerYAML(name, pod.Spec.NodeName, pod.Name, int(user)))
	eventually(t, time.Minute, func() error {
		var killer corev1.Pod
		c.resource(t, "/api/v1/namespaces/"+tools+"/pods/"+name, &killer)
		if killer.Status.Phase == corev1.PodFailed {
			t.Fatalf("%s was not killed: %s", pod.Name, c.kubectl(t, "logs", "--namespace", tools, name))
		}
		if killer.Status.Phase != corev1.PodSucceeded {
			return fmt.Errorf("the pod %s is %s", name, killer.Status.Phase)
		}
		return nil
	})
	t.Log(c.kubectl(t, "logs", "--namespace", tools, name))
	c.kubectl(t, "delete", "pod", "--namespace", tools, name, "--wait=false", "--grace-period=1")
}

func runAs(context *corev1.PodSecurityContext) *int64 {
	if context == nil {
		return nil
	}
	return context.RunAsUser
}

func runAsContainer(context *corev1.SecurityContext) *int64 {
	if context == nil {
		return nil
	}
	return context.RunAsUser
}

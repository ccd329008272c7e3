package chart

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cauri-dev/cauri/test/system"
)

// program is Cauri, built at most once, into buildFolder.
var (
	program     = sync.OnceValues(func() (string, error) { return system.Build(context.Background(), buildFolder) })
	buildFolder string
)

func TestMain(m *testing.M) {
	var err error
	if buildFolder, err = os.MkdirTemp("", "cauri-chart-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(buildFolder)
	stopCluster()
	os.Exit(code)
}

// runsCauri tells Cauri's own containers from the database's.
func runsCauri(container corev1.Container) bool { return container.Name != "postgres" }

// The program reads the flags before it shows its help, and complains of those that it does not know or cannot read.
func TestProgramKnowsItsFlags(t *testing.T) {
	t.Parallel()
	cauri, err := program()
	if err != nil {
		t.Fatal(err)
	}
	everywhere(t, func(t *testing.T, objects []*unstructured.Unstructured) {
		for _, pod := range pods(t, objects) {
			for _, container := range pod.Containers {
				if !runsCauri(container) {
					continue
				}
				if out, err := exec.CommandContext(t.Context(), cauri, append(container.Args, "--help")...).CombinedOutput(); err != nil {
					t.Errorf("%s: cauri %s: %v\n%s", pod.of, strings.Join(container.Args, " "), err, out)
				}
			}
		}
	})
}

func TestPodsAreRestricted(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, objects []*unstructured.Unstructured) {
		for _, pod := range pods(t, objects) {
			security := pod.SecurityContext
			if security == nil || security.RunAsNonRoot == nil || !*security.RunAsNonRoot || security.SeccompProfile == nil ||
				security.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Errorf("%s: the pod's security context is %v", pod.of, security)
			}
			if pod.HostNetwork || pod.HostPID || pod.HostIPC || len(pod.InitContainers) > 0 {
				t.Errorf("%s shares something with its node, or has containers that are not looked at here", pod.of)
			}
			for _, volume := range pod.Volumes {
				if volume.Secret == nil && volume.EmptyDir == nil && volume.ConfigMap == nil {
					t.Errorf("%s: the volume %s is of the node, or of something else", pod.of, volume.Name)
				}
			}
			for _, container := range pod.Containers {
				s := container.SecurityContext
				if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.ReadOnlyRootFilesystem == nil ||
					!*s.ReadOnlyRootFilesystem || s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) ||
					len(s.Capabilities.Add) > 0 {
					t.Errorf("%s: the container's security context is %v", pod.of, s)
				}
				for _, port := range container.Ports {
					if port.HostPort != 0 {
						t.Errorf("%s has the port %d of its node", pod.of, port.HostPort)
					}
				}
			}
		}
	})
}

// Who does not talk to the Kubernetes API has no token for it, and nobody shares an account.
func TestTokensAreForThoseWhoNeedThem(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, objects []*unstructured.Unstructured) {
		accounts := map[string]string{}
		for _, pod := range pods(t, objects) {
			needs := slices.Contains([]string{"controller", "bootstrap"}, pod.component())
			if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken != needs {
				t.Errorf("%s: automountServiceAccountToken is %v", pod.of, pod.AutomountServiceAccountToken)
			}
			if pod.EnableServiceLinks == nil || *pod.EnableServiceLinks {
				t.Errorf("%s gets variables that may be taken for Cauri's", pod.of)
			}
			if pod.component() == "postgres" {
				continue
			}
			if other := accounts[pod.ServiceAccountName]; other != "" || pod.ServiceAccountName == "" {
				t.Errorf("%s has the account %q, as %s has", pod.of, pod.ServiceAccountName, other)
			}
			accounts[pod.ServiceAccountName] = pod.of
		}
		for _, account := range all[corev1.ServiceAccount](t, objects, "ServiceAccount") {
			if account.AutomountServiceAccountToken == nil || *account.AutomountServiceAccountToken {
				t.Errorf("the account %s gives its token to every pod", account.Name)
			}
			delete(accounts, account.Name)
		}
		delete(accounts, "shop-api") // is there already
		if len(accounts) > 0 {
			t.Errorf("these accounts are not made: %v", accounts)
		}
	})
}

var password = regexp.MustCompile(`(?i)password|secret|token|://[^/@]*:[^/@]*@`)

// Secrets are files or references, and never stand in what everybody may read who may read pods.
func TestNoSecretIsWrittenOut(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, objects []*unstructured.Unstructured) {
		for _, object := range objects {
			if object.GetKind() == "Secret" {
				t.Errorf("%s is in the manifests", nameOf(object))
			}
		}
		for _, pod := range pods(t, objects) {
			for _, container := range pod.Containers {
				for _, arg := range container.Args {
					name, _, _ := strings.Cut(arg, "=")
					if strings.Contains(arg, "$(") || password.MatchString(arg) && !slices.Contains(
						[]string{
							"--database-secret", "--encryption-secret", "--encryption-secret-key", "--pin-secret", "--pin-secret-key", "--credential-secret",
							"--credential-secret-key", "--user-passwords",
						}, name) {
						t.Errorf("%s: the argument %s", pod.of, arg)
					}
				}
				for _, variable := range container.Env {
					value := strings.ReplaceAll(variable.Value, "&password_file=/etc/cauri/database/login", "") // which has it
					if password.MatchString(value) && variable.Value != "/etc/cauri/password/owner-password" {
						t.Errorf("%s: the variable %s=%s", pod.of, variable.Name, variable.Value)
					}
				}
			}
		}
	})
}

// secretItem returns the key of a Secret that a volume has as a file.
func (p podTemplate) secretItem(volume, file string) string {
	for _, v := range p.Volumes {
		if v.Name != volume || v.Secret == nil {
			continue
		}
		for _, item := range v.Secret.Items {
			if item.Path == file {
				return item.Key
			}
		}
	}
	return ""
}

// Each process logs in as its own user, where the chart makes the users or the Secret tells them.
func TestProcessesLogInAsThemselves(t *testing.T) {
	t.Parallel()
	for _, values := range []string{"defaults", "platform", "cloudnativepg"} {
		logins := map[string]string{}
		for _, pod := range pods(t, objects(t, scenarios(t)[values])) {
			for _, container := range pod.Containers {
				var login string
				for _, variable := range container.Env {
					if variable.Name != "DATABASE_URL" && variable.Name != "PGPASSWORD" {
						continue
					}
					user := map[bool]string{true: "cauri", false: "cauri_" + pod.component() + "_user"}[pod.component() == "migrate"]
					if variable.Value == "file:/etc/cauri/database/login" {
						login += pod.secretItem("database", "login")
						continue
					}
					if variable.Value != "" && !strings.HasPrefix(variable.Value, "postgres://"+user+"@") {
						t.Errorf("%s: %s logs in to %s", values, pod.of, variable.Value)
					}
					login += variable.Value
					if variable.ValueFrom != nil {
						login += variable.ValueFrom.SecretKeyRef.Key
					}
				}
				if login == "" {
					continue
				}
				if other := logins[login]; other != "" {
					t.Errorf("%s: %s and %s log in as one", values, pod.of, other)
				}
				logins[login] = pod.of
			}
		}
		if len(logins) != 4 { // api, worker, controller, migrate
			t.Errorf("%s: %v", values, logins)
		}
	}
}

// Go collects its garbage before the container's limit is reached, at which the process is killed: it is told the limit, and takes less.
func TestProcessesKnowTheirMemory(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, objects []*unstructured.Unstructured) {
		for _, pod := range pods(t, objects) {
			if !slices.Contains([]string{"api", "worker", "controller"}, pod.component()) {
				continue
			}
			variables := map[string]corev1.EnvVar{}
			for _, variable := range pod.Containers[0].Env {
				variables[variable.Name] = variable
			}
			if _, found := variables["GOMEMLIMIT"]; found {
				t.Errorf("%s: GOMEMLIMIT is the user's", pod.of)
			}
			from := variables["CAURI_CONTAINER_MEMORY"].ValueFrom
			limited := !pod.Containers[0].Resources.Limits.Memory().IsZero()
			if limited != (from != nil) || limited && from.ResourceFieldRef.Resource != "limits.memory" {
				t.Errorf("%s: the container's limit is told as %v", pod.of, from)
			}
		}
	})
}

// A process is given the time that it may take, and requests are still taken while load balancers look away.
func TestUpgradesLoseNothing(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, objects []*unstructured.Unstructured) {
		const shutdown = 25 * time.Second // cmd/cauri/process.go
		deployments := all[appsv1.Deployment](t, objects, "Deployment")
		if len(deployments) != 3 {
			t.Fatalf("there are %d Deployments", len(deployments))
		}
		for _, d := range deployments {
			if rolling := d.Spec.Strategy.RollingUpdate; rolling == nil || rolling.MaxUnavailable.String() != "0" {
				t.Errorf("%s: replicas go before others come: %v", d.Name, rolling)
			}
			if grace := d.Spec.Template.Spec.TerminationGracePeriodSeconds; grace == nil || time.Duration(*grace)*time.Second <= shutdown {
				t.Errorf("%s is killed while it stops", d.Name)
			}
			if strings.HasSuffix(d.Name, "-api") && !slices.ContainsFunc(d.Spec.Template.Spec.Containers[0].Args, func(arg string) bool {
				delay, found := strings.CutPrefix(arg, "--shutdown-delay=")
				length, err := time.ParseDuration(delay)
				return found && err == nil && length >= 5*time.Second && length <= 15*time.Second
			}) {
				t.Errorf("%s stops to listen at once: %v", d.Name, d.Spec.Template.Spec.Containers[0].Args)
			}
		}
	})
}

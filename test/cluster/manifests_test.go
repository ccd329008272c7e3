package cluster

import (
	"fmt"
	"strings"
)

// merchantImage has the programs of test/cluster/merchant and examples/go-shop.
const merchantImage = "cauri.local/merchant:e2e"

const (
	alice = "+250788000001" // pays
	bob   = "+250788000002" // is paid
	carol = "+250788000003" // pays whatever a load asks for
	// unregistered is a number that no SIM has, for payments whose outcome is forced.
	unregistered = "+250791111111"
)

// namespaceYAML is a namespace in which nothing may run that is not restricted.
func namespaceYAML(name string) string {
	return fmt.Sprintf(`---
apiVersion: v1
kind: Namespace
metadata:
  name: %s
  labels: {pod-security.kubernetes.io/enforce: restricted}
`, name)
}

// sandboxYAML is a sandbox of a team whose events go to the merchant in the same namespace.
func sandboxYAML(namespace, name string, latencyPercent int) string {
	return fmt.Sprintf(`---
apiVersion: cauri.dev/v1alpha1
kind: SandboxEnvironment
metadata: {name: %[2]s, namespace: %[1]s}
spec:
  environments:
  - {operator: mtn, country: RW, commissionBps: 150}
  openingFloat: [{currency: RWF, amount: 1000000}]
  stores: [{slug: shop}]
  webhook:
    url: http://merchant.%[1]s.svc:8080/webhooks/%[2]s
    retryPolicy: {maxRetries: 20, initialDelay: 500ms, factor: 2, maxDelay: 5s}
  latencyPercent: %[3]d
`, namespace, name, latencyPercent)
}

// testClientYAML is a SIM of a sandbox.
func testClientYAML(namespace, sandbox, name, msisdn string, balance int) string {
	return fmt.Sprintf(`---
apiVersion: cauri.dev/v1alpha1
kind: TestClient
metadata: {name: %s, namespace: %s}
spec: {sandboxRef: {name: %s}, msisdn: "%s", balance: %d}
`, name, namespace, sandbox, msisdn, balance)
}

// merchantYAML is a merchant's backend with the Secrets of its sandboxes as volumes, as the Service Binding specification
// lays them out.
func merchantYAML(namespace string, sandboxes ...string) string {
	var mounts, volumes strings.Builder
	for _, name := range sandboxes {
		fmt.Fprintf(&mounts, "        - {name: %[1]s, mountPath: /bindings/%[1]s, readOnly: true}\n", name)
		fmt.Fprintf(&volumes, "      - {name: %[1]s, secret: {secretName: %[1]s-credentials}}\n", name)
	}
	return programYAML(namespace, "merchant", "{name: SERVICE_BINDING_ROOT, value: /bindings}") +
		fmt.Sprintf("        volumeMounts:\n%s      volumes:\n%s", &mounts, &volumes)
}

// shopYAML is the shop of examples/go-shop, which has the credentials of its sandbox in its environment.
func shopYAML(namespace, sandbox string) string {
	env := "{name: HOST, value: 0.0.0.0}, {name: PORT, value: '8080'}"
	for name, key := range map[string]string{"CAURI_URI": "uri", "CAURI_API_KEY": "api-key", "CAURI_WEBHOOK_SECRET": "webhook-signing-secret"} {
		env += fmt.Sprintf(", {name: %s, valueFrom: {secretKeyRef: {name: %s-credentials, key: %s}}}", name, sandbox, key)
	}
	return programYAML(namespace, "shop", env)
}

// programYAML is a Service and a Deployment of a program of the image. The container is the last of it.
func programYAML(namespace, name, env string) string {
	return fmt.Sprintf(`---
apiVersion: v1
kind: Service
metadata: {name: %[2]s, namespace: %[1]s}
spec:
  selector: {app: %[2]s}
  ports: [{port: 8080}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[2]s, namespace: %[1]s}
spec:
  selector: {matchLabels: {app: %[2]s}}
  template:
    metadata: {labels: {app: %[2]s}}
    spec:
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, seccompProfile: {type: RuntimeDefault}}
      containers:
      - name: %[2]s
        image: %[3]s
        imagePullPolicy: IfNotPresent
        command: [/%[2]s]
        env: [%[4]s]
        ports: [{containerPort: 8080}]
        readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}
        resources: {requests: {cpu: 50m, memory: 64Mi}}
        securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
`, namespace, name, merchantImage, env)
}

// killerYAML is a pod that ends the processes of another one, which has to be on the same node.
func killerYAML(name, node, pod string, user int) string {
	return fmt.Sprintf(`---
apiVersion: v1
kind: Pod
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  nodeName: %[3]s
  hostPID: true
  restartPolicy: Never
  automountServiceAccountToken: false
  securityContext: {runAsUser: %[5]d, runAsGroup: %[5]d}
  containers:
  - name: kill
    image: %[6]s
    imagePullPolicy: IfNotPresent
    args: [kill, %[4]s]
`, name, tools, node, pod, user, merchantImage)
}

// tools is a namespace of the tests' own, where pods may see the node's processes.
const tools = "e2e-tools"

package controllers_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
)

// TestSamples makes what config/samples has, in the order in which kubectl apply would.
func TestSamples(t *testing.T) {
	c := newCluster(t)
	c.start()
	objects, err := readFiles(filepath.Join("..", "config", "samples"))
	if err != nil {
		t.Fatal(err)
	}
	for _, obj := range objects {
		obj.SetNamespace(c.namespace)
		c.create(obj)
	}
	sandbox := &v1alpha1.SandboxEnvironment{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "checkout"}}
	c.sandboxConditions(sandbox, operatorConditions("True Ready")...)
	if sandbox.Status.EnvironmentsSummary != "4/4" {
		t.Errorf("the environments are %s", sandbox.Status.EnvironmentsSummary)
	}
	for name, want := range map[string]v1alpha1.TestClientStatus{
		"alice": {Operator: "mtn", Country: "RW", Currency: "RWF", Balance: new(int64(50000))},
		"bob":   {Operator: "mtn", Country: "RW", Currency: "RWF", Balance: new(int64(50000))},
		"poor":  {Operator: "mtn", Country: "RW", Currency: "RWF", Balance: new(int64(100))},
		"carol": {Operator: "airtel", Country: "RW", Currency: "RWF", Balance: new(int64(50000))},
		"dan":   {Operator: "orange", Country: "CI", Currency: "XOF", Balance: new(int64(50000))},
	} {
		testClient := &v1alpha1.TestClient{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name}}
		c.testClientReady(testClient)
		want.ObservedGeneration, want.Conditions = 1, testClient.Status.Conditions
		if diff := cmp.Diff(want, testClient.Status); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestLeaderElection elects the leader with no more rights than the controller has in a cluster.
func TestLeaderElection(t *testing.T) {
	c := newCluster(t)
	options := controllers.ManagerOptions(c.namespace)
	options.LeaderElection = true
	options.LeaderElectionID = controllers.LeaseName
	options.LeaderElectionNamespace = "cauri-system"
	options.LeaderElectionReleaseOnCancel = true
	c.startWith(options)
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)
}

package controllers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// withOperators names the Secret "airtel" for two stores.
func withOperators(s *v1alpha1.SandboxEnvironment) {
	s.Spec.Environments = append(s.Spec.Environments, v1alpha1.Environment{Operator: "airtel", Country: "RW"})
	credentials := []v1alpha1.OperatorCredentials{
		{Operator: "airtel", Country: "RW", SecretRef: v1alpha1.LocalSecretReference{Name: "airtel"}},
	}
	s.Spec.Stores = []v1alpha1.Store{{Slug: "shop", OperatorCredentials: credentials}, {Slug: "kiosk", OperatorCredentials: credentials}}
}

// operatorConditions are those of a sandbox that is ready, whatever its operators' credentials are.
func operatorConditions(operators string) []string {
	return []string{
		"SpecAccepted True Ready",
		"DatabaseReady True Ready",
		"CredentialsReady True Ready",
		"Ready True Ready",
		"OperatorCredentialsReady " + operators,
	}
}

// TestOperatorCredentials follows a Secret from before it is there to after it is gone.
func TestOperatorCredentials(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox(withOperators)
	c.create(sandbox)
	said := func(want string) {
		t.Helper()
		if diff := cmp.Diff(want, message(sandbox.Status.Conditions, v1alpha1.ConditionOperatorCredentialsReady)); diff != "" {
			t.Error(diff)
		}
	}
	stored := func(want int) {
		t.Helper()
		if got := c.count("select count(*) from operator_credentials where sealed is not null and base_url = ''"); got != want {
			t.Errorf("%d credentials are stored, want %d", got, want)
		}
	}

	c.sandboxConditions(sandbox, operatorConditions("False OperatorSecretNotFound")...)
	said(`The Secret "airtel" does not exist in this namespace: create it with the keys client_id and client_secret.`)
	stored(0)

	secret := c.newSecret("airtel", map[string]string{"client_id": "shop"})
	c.create(secret)
	c.until(func(context.Context) string {
		c.refresh(sandbox)
		return cmp.Diff(
			`The Secret "airtel" has no key "client_secret": add it.`,
			message(sandbox.Status.Conditions, v1alpha1.ConditionOperatorCredentialsReady),
		)
	})
	edit(c, secret, func(s *corev1.Secret) { s.Data["client_secret"] = []byte("hush\n") })
	c.sandboxConditions(sandbox, operatorConditions("False OperatorSecretInvalid")...)
	said(`The Secret "airtel" holds an invalid value: write 1 to 256 printable characters, without a line break, to its key "client_secret".`)
	stored(0)

	edit(c, secret, func(s *corev1.Secret) {
		s.Data["client_secret"], s.Data["merchant_key"] = []byte("hush"), []byte("a\n")
	})
	c.until(func(context.Context) string {
		c.refresh(sandbox)
		return cmp.Diff(
			`The Secret "airtel" holds an invalid value: write 1 to 256 printable characters, without a line break, to its key "merchant_key".`,
			message(sandbox.Status.Conditions, v1alpha1.ConditionOperatorCredentialsReady),
		)
	})
	edit(c, secret, func(s *corev1.Secret) { s.Data["merchant_key"] = []byte("key") })
	c.sandboxConditions(sandbox, operatorConditions("True Ready")...)
	stored(2)
	first := ""
	c.row("select string_agg(encode(sealed, 'hex'), ' ') from operator_credentials", nil, &first)

	edit(c, secret, func(s *corev1.Secret) { s.Data["client_secret"] = []byte("changed") })
	c.until(func(context.Context) string {
		if c.count("select count(*) from operator_credentials where strpos($1, encode(sealed, 'hex')) = 0", first) != 2 {
			return "the changed Secret did not take effect"
		}
		return ""
	})

	c.delete(secret)
	c.sandboxConditions(sandbox, operatorConditions("False OperatorSecretNotFound")...)
	stored(0)

	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.Stores[0].OperatorCredentials, s.Spec.Stores[1].OperatorCredentials = nil, nil
	})
	c.sandboxReady(sandbox)
	if got := c.count("select count(*) from operator_credentials"); got != 0 {
		t.Errorf("%d rows are left", got)
	}
}

// TestOperatorCredentialsStaySecret looks for them where they must not be.
func TestOperatorCredentialsStaySecret(t *testing.T) {
	c := newCluster(t)
	c.start()
	const id, secret = "the-client-id", "the-client-secret"
	c.create(c.newSecret("airtel", map[string]string{"client_id": id, "client_secret": secret}))
	sandbox := c.newSandbox(withOperators)
	c.create(sandbox)
	c.sandboxConditions(sandbox, operatorConditions("True Ready")...)

	var events corev1.EventList
	if err := c.List(t.Context(), &events); err != nil {
		t.Fatal(err)
	}
	row := ""
	c.row("select string_agg(o::text || encode(sealed, 'escape'), ' ') from operator_credentials o", nil, &row)
	for what, text := range map[string]string{
		"the status": fmt.Sprintf("%+v", sandbox.Status), "the events": events.String(), "the database": row,
	} {
		if strings.Contains(text, id) || strings.Contains(text, secret) {
			t.Errorf("%s shows credentials", what)
		}
	}
}

package controllers_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/payments"
)

// These tests ask a real API server, without storing anything, what the schema accepts, and look at exactly what it answers:
// a message is there to tell the user what to write.

// schemaCase is an object that the schema is asked about.
type schemaCase struct {
	name   string // of the object; default checkout
	spec   string // YAML
	refuse []string
}

// airtelOnly is the message about airtel in a country that it is not in.
var airtelOnly = func() string {
	in := payments.Airtel.Countries()
	return "airtel is available in " + payments.AllOf(in) + " only: write country: " + payments.OneOf(in) + ", or another operator"
}()

func (s schemaCase) object(t *testing.T, c *cluster, kind string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	spec := map[string]any{}
	if err := yaml.Unmarshal([]byte(s.spec), &spec); err != nil {
		t.Fatal(err)
	}
	obj.Object["spec"] = spec
	obj.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	obj.SetNamespace(c.namespace)
	obj.SetName("checkout")
	if s.name != "" {
		obj.SetName(s.name)
	}
	return obj
}

// offendingValue is the user's own text in front of a message.
var offendingValue = regexp.MustCompile(`^Invalid value: ("([^"\\]|\\.)*": |-?[0-9]+: )?`)

// refusals are the causes that an API server gives, as "field: message".
func refusals(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		t.Fatal(err)
	}
	var causes []string
	for _, cause := range status.Status().Details.Causes {
		if strings.Contains(cause.Message, "some validation rules were not checked") {
			continue // a remark, which comes with every value that is none of an enum
		}
		causes = append(causes, cause.Field+": "+offendingValue.ReplaceAllString(cause.Message, ""))
	}
	return causes
}

func testSchema(t *testing.T, kind string, cases map[string]schemaCase) {
	c := newCluster(t)
	strict := client.WithFieldValidation(c.Client, metav1.FieldValidationStrict) // as kubectl
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			obj := test.object(t, c, kind)
			err := strict.Create(t.Context(), obj.DeepCopy(), client.DryRunAll)
			sameInMemory(t, obj, err)
			if diff := cmp.Diff(test.refuse, refusals(t, err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSandboxEnvironmentSchema(t *testing.T) {
	const (
		environments = "environments: [{operator: mtn, country: RW}]\n"
		webhook      = environments + "webhook: {url: 'http://shop/', "
		hostForm     = "; its host is a name in ASCII, or an address without a zone"
		badURL       = "write an absolute http or https URL, for example http://shop.team-payments.svc/webhooks" + hostForm
		noPattern    = "a pattern matches names only: write each address as it is, such as 10.0.0.1, or * for every host"
		badDuration  = "write a duration in hours, minutes, seconds and milliseconds, such as 500ms, 1m30s or 24h; 7 days are 168h"

		baseURLField    = "spec.stores[0].operatorCredentials[0].baseURL: "
		badBaseURL      = baseURLField + "write an absolute http or https URL, for example https://gateway.example.com/airtel" + hostForm
		badBaseURLParts = baseURLField + "leave the user name, the query and the fragment out of the URL: requests are made to paths below it"
	)
	credentials := func(list string) string {
		return environments + "stores: [{slug: shop, operatorCredentials: [" + list + "]}]"
	}
	operatorAt := func(url string) string {
		return credentials("{operator: mtn, country: RW, secretRef: {name: s}, baseURL: '" + url + "'}")
	}
	url := func(url string) string { return environments + "webhook: {url: '" + url + "'}" }
	retry := func(policy string) string { return webhook + "retryPolicy: {" + policy + "}}" }
	testSchema(t, "SandboxEnvironment", map[string]schemaCase{
		"the least": {spec: environments},
		"everything": {spec: `
environments:
- {operator: mtn, country: RW, enabled: true, commissionBps: 150, merchantAbsorptionPct: 100, unknownMsisdnPolicy: reject,
   maxAmount: 2000000}
- {operator: mtn, country: CI, enabled: false, commissionBps: 10000, merchantAbsorptionPct: 0, unknownMsisdnPolicy: passthrough}
- {operator: airtel, country: RW}
openingFloat: [{currency: RWF, amount: 1000000000000}, {currency: XOF, amount: 0}]
stores:
- slug: shop
  operatorCredentials:
  - {operator: airtel, country: RW, secretRef: {name: airtel-credentials}}
  - {operator: mtn, country: RW, secretRef: {name: mtn.credentials}, baseURL: 'https://sandbox.momodeveloper.mtn.com:8443/below'}
  - {operator: mtn, country: CI, secretRef: {name: mtn.credentials}, baseURL: ''}
- slug: a_b-c1
webhook:
  url: https://shop.team-payments.svc:8443/webhooks?x=1
  signingSecretRef: {name: my-secret, key: whsec}
  retryPolicy: {maxRetries: 0, initialDelay: 100ms, factor: 1, maxDelay: 1h30m}
latencyPercent: 0
testNumbers: Standard
quota: {monthlyTransactions: 9000000000000000000}
rateLimit: {requestsPerMinute: 2147483647}
credentialsSecretName: somewhere.else
credentials:
  apiKeySecretRef: {name: my-key, key: api-key}
  secretTemplate: {labels: {team: payments, example.com/backup: ''}, annotations: {example.com/note: 'any text'}}
`},
		"an API key in the credentials Secret": {
			spec: environments + "credentials: {apiKeySecretRef: {name: creds, key: k}}\ncredentialsSecretName: creds",
			refuse: []string{
				"spec: spec.credentials.apiKeySecretRef must not name the Secret in spec.credentialsSecretName, which the controller writes: put " +
					"your API key into a Secret of its own",
			},
		},
		"an API key in the default credentials Secret": {
			spec: environments + "credentials: {apiKeySecretRef: {name: checkout-credentials, key: k}}",
			refuse: []string{
				"<nil>: spec.credentials.apiKeySecretRef must not name the sandbox's own credentials Secret, which the controller writes: put your " +
					"API key into a Secret of its own",
			},
		},
		"labels of the controller": {
			spec: environments + "credentials: {secretTemplate: {labels: {cauri.dev/sandbox-may-read: 'true'}}}",
			refuse: []string{
				"spec.credentials.secretTemplate.labels: leave out app.kubernetes.io/managed-by and the labels that begin with cauri.dev/: the " +
					"controller writes them",
			},
		},
		"the label of what manages it": {
			spec: environments + "credentials: {secretTemplate: {labels: {app.kubernetes.io/managed-by: Helm}}}",
			refuse: []string{
				"spec.credentials.secretTemplate.labels: leave out app.kubernetes.io/managed-by and the labels that begin with cauri.dev/: the " +
					"controller writes them",
			},
		},
		"annotations of the controller": {
			spec: environments + "credentials: {secretTemplate: {annotations: {cauri.dev/key-rotation: '1'}}}",
			refuse: []string{
				"spec.credentials.secretTemplate.annotations: leave out kubectl.kubernetes.io/last-applied-configuration and the annotations that begin " +
					"with cauri.dev/: kubectl and the controller write them",
			},
		},
		"a label with a value that is none": {
			spec: environments + "credentials: {secretTemplate: {labels: {team: 'a b'}}}",
			refuse: []string{
				"spec.credentials.secretTemplate.labels[team]: write a label's value: at most 63 letters, digits, -, _ and ., starting and ending with " +
					"a letter or digit",
			},
		},
		"a name of 63 characters": {name: strings.Repeat("a", 63), spec: environments},
		"a name too long": {name: strings.Repeat("a", 64), spec: environments, refuse: []string{
			"<nil>: the name is part of URLs and the name of the default store: write a DNS label, at most 63 of a-z, 0-9 and - without a dot"}},
		"a name with a dot": {name: "check.out", spec: environments, refuse: []string{
			"<nil>: the name is part of URLs and the name of the default store: write a DNS label, at most 63 of a-z, 0-9 and - without a dot"}},

		"no environments": {
			spec:   "environments: []",
			refuse: []string{"spec.environments: spec.environments in body should have at least 1 items"},
		},
		"airtel elsewhere": {
			spec:   "environments: [{operator: airtel, country: CI}]",
			refuse: []string{"spec.environments[0]: " + airtelOnly},
		},
		"an environment twice": {spec: "environments: [{operator: mtn, country: RW}, {operator: mtn, country: RW}]", refuse: []string{
			`spec.environments[1]: Duplicate value: {"country":"RW","operator":"mtn"}`}},
		"an unknown operator": {spec: "environments: [{operator: nosuch, country: CI}]", refuse: []string{
			`spec.environments[0].operator: Unsupported value: "nosuch": supported values: "` +
				strings.Join(payments.Texts(payments.Operators), `", "`) + `"`}},
		"too much commission": {
			spec:   "environments: [{operator: mtn, country: RW, commissionBps: 10001}]",
			refuse: []string{"spec.environments[0].commissionBps: spec.environments[0].commissionBps in body should be less than or equal to 10000"},
		},
		"a negative float": {
			spec:   environments + "openingFloat: [{currency: RWF, amount: -1}]",
			refuse: []string{"spec.openingFloat[0].amount: spec.openingFloat[0].amount in body should be greater than or equal to 0"},
		},
		"a float too large": {
			spec:   environments + "openingFloat: [{currency: RWF, amount: 1000000000001}]",
			refuse: []string{"spec.openingFloat[0].amount: spec.openingFloat[0].amount in body should be less than or equal to 1000000000000"},
		},
		"a bad slug": {spec: environments + "stores: [{slug: Shop-}]", refuse: []string{
			"spec.stores[0].slug: write a slug of a-z, 0-9, - and _, starting and ending with a letter or digit, for example shop"}},
		"pending timeout too short": {
			spec:   environments + "pendingTimeout: 999ms",
			refuse: []string{"spec.pendingTimeout: write a pendingTimeout from 1s to 24h"},
		},
		"pending timeout too long": {
			spec:   environments + "pendingTimeout: 24h1s",
			refuse: []string{"spec.pendingTimeout: write a pendingTimeout from 1s to 24h"},
		},
		"pending timeout is no time": {
			spec: environments + "pendingTimeout: 7d",
			refuse: []string{
				"spec.pendingTimeout: write a duration in hours, minutes, seconds and milliseconds, such as 500ms, 1m30s or 24h; 7 days are 168h",
			},
		},
		"grace too long": {
			spec:   environments + "keyRotationGrace: 721h",
			refuse: []string{"spec.keyRotationGrace: write a keyRotationGrace of at most 720h"},
		},
		"no grace":      {spec: environments + "keyRotationGrace: 0s"},
		"ttl too short": {spec: environments + "ttl: 59s", refuse: []string{"spec.ttl: write a ttl from 1m to 8760h"}},
		"ttl too long":  {spec: environments + "ttl: 8761h", refuse: []string{"spec.ttl: write a ttl from 1m to 8760h"}},
		"ttl":           {spec: environments + "ttl: 2h"},
		"too much latency": {
			spec:   environments + "latencyPercent: 1001",
			refuse: []string{"spec.latencyPercent: spec.latencyPercent in body should be less than or equal to 1000"},
		},
		"unknown test numbers": {
			spec:   environments + "testNumbers: standard",
			refuse: []string{`spec.testNumbers: Unsupported value: "standard": supported values: "None", "Standard"`},
		},

		"credentials of an operator twice": {
			spec: credentials("{operator: mtn, country: RW, secretRef: {name: s}}, {operator: mtn, country: RW, secretRef: {name: t}}"),
			refuse: []string{
				`spec.stores[0].operatorCredentials[1]: Duplicate value: {"country":"RW","operator":"mtn"}`},
		},
		"credentials of airtel elsewhere": {spec: credentials("{operator: airtel, country: CI, secretRef: {name: s}}"), refuse: []string{
			"spec.stores[0].operatorCredentials[0]: " + airtelOnly}},
		"credentials without a Secret": {spec: credentials("{operator: mtn, country: RW}"), refuse: []string{
			"spec.stores[0].operatorCredentials[0].secretRef: Required value"}},
		"credentials in another namespace": {spec: credentials("{operator: mtn, country: RW, secretRef: {name: other/s}}"), refuse: []string{
			"spec.stores[0].operatorCredentials[0].secretRef.name: write the name of a Secret of this namespace: a-z, 0-9, - and ., starting " +
				"and ending with a letter or digit",
		}},
		"an operator at no URL":               {spec: operatorAt("mtn.example"), refuse: []string{badBaseURL}},
		"an operator at another scheme":       {spec: operatorAt("ftp://mtn.example"), refuse: []string{badBaseURL}},
		"an operator at a zone":               {spec: operatorAt("https://[::1%25mtn.example]/"), refuse: []string{badBaseURL}},
		"an operator at a port too large":     {spec: operatorAt("https://mtn.example:65536"), refuse: []string{badBaseURL}},
		"an operator at a URL with a query":   {spec: operatorAt("https://mtn.example/?a=b"), refuse: []string{badBaseURLParts}},
		"an operator at a URL with a user":    {spec: operatorAt("https://user@mtn.example"), refuse: []string{badBaseURLParts}},
		"an operator at a URL and a fragment": {spec: operatorAt("https://mtn.example/#a"), refuse: []string{badBaseURLParts}},

		"limits without a number": {spec: environments + "quota: {}\nrateLimit: {}"},
		"a quota of nothing": {spec: environments + "quota: {monthlyTransactions: 0}", refuse: []string{
			"spec.quota.monthlyTransactions: spec.quota.monthlyTransactions in body should be greater than or equal to 1"}},
		"a rate limit of nothing": {spec: environments + "rateLimit: {requestsPerMinute: 0}", refuse: []string{
			"spec.rateLimit.requestsPerMinute: spec.rateLimit.requestsPerMinute in body should be greater than or equal to 1"}},

		"a relative URL":       {spec: url("/webhooks"), refuse: []string{"spec.webhook.url: " + badURL}},
		"no URL":               {spec: url("shop"), refuse: []string{"spec.webhook.url: " + badURL}},
		"another scheme":       {spec: url("ftp://shop/"), refuse: []string{"spec.webhook.url: " + badURL}},
		"a URL without a host": {spec: url("http:///webhooks"), refuse: []string{"spec.webhook.url: " + badURL}},
		"a port too large":     {spec: url("http://shop:65536/"), refuse: []string{"spec.webhook.url: " + badURL}},
		"the largest port":     {spec: url("http://shop:65535/")},
		"an IPv6 address":      {spec: url("http://[::1]:9000/")},
		"a URL with a zone":    {spec: url("http://[::1%25x.team-a.svc]:9000/"), refuse: []string{"spec.webhook.url: " + badURL}},
		"a host not in ASCII":  {spec: url("http://１２７.0.0.1/"), refuse: []string{"spec.webhook.url: " + badURL}},
		"a host with %":        {spec: url("http://sh%C3%B6p.example/"), refuse: []string{"spec.webhook.url: " + badURL}},
		"a path with %":        {spec: url("http://shop_1.example/a%20b")},
		"a URL with credentials": {
			spec:   url("http://user:pass@shop/"),
			refuse: []string{"spec.webhook.url: leave the user name and password out of the URL: deliveries are authenticated by their signature"},
		},
		"an @ in the path":   {spec: url("http://shop/@me")},
		"a URL of callbacks": {spec: "environments: [{operator: mtn, country: RW, callbackHash: true, callbackURL: 'http://shop.team.svc:8080/a?b=c'}]\n"},
		"a URL of callbacks with a user": {spec: "environments: [{operator: mtn, country: RW, callbackURL: 'http://a@shop.example/'}]\n",
			refuse: []string{"spec.environments[0].callbackURL: write an absolute http or https URL without a user, for example https://shop.example/callbacks; " +
				"its host is a name in ASCII, or an address without a zone"}},
		"a URL of callbacks with port 0": {spec: "environments: [{operator: mtn, country: RW, callbackURL: 'http://shop.example:0/'}]\n",
			refuse: []string{"spec.environments[0].callbackURL: write an absolute http or https URL without a user, for example https://shop.example/callbacks; " +
				"its host is a name in ASCII, or an address without a zone"}},
		"hosts of callbacks": {spec: environments + "callbackHosts: [shop.example, '*.shop.example', '*', 10.0.0.1, '::1', 'fd00::1', '1*.example']"},
		"a pattern of addresses": {spec: environments + "callbackHosts: ['10.*.0.1', '*:1']", refuse: []string{
			"spec.callbackHosts[0]: " + noPattern, "spec.callbackHosts[1]: " + noPattern}},
		"a host of callbacks with a zone": {spec: environments + "callbackHosts: ['::1%25x.shop.example']", refuse: []string{
			"spec.callbackHosts[0]: write a host without scheme and port, such as shop.example, or a pattern, such as *.shop.example"}},
		"a URL with a fragment": {
			spec:   url("http://shop/#here"),
			refuse: []string{"spec.webhook.url: leave the fragment out of the URL: nothing after # is ever sent"},
		},

		"a number for a duration": {
			spec:   retry("initialDelay: '5'"),
			refuse: []string{"spec.webhook.retryPolicy.initialDelay: " + badDuration},
		},
		"a unit that Go has not": {
			spec:   retry("initialDelay: 1d"),
			refuse: []string{"spec.webhook.retryPolicy.initialDelay: " + badDuration},
		},
		"a duration that overflows": {
			spec:   retry("maxDelay: 9999999999h"),
			refuse: []string{"spec.webhook.retryPolicy.maxDelay: " + badDuration},
		},
		"a fraction": {spec: retry("initialDelay: 1.5s")},
		"initialDelay of zero": {
			spec:   retry("initialDelay: 0s"),
			refuse: []string{"spec.webhook.retryPolicy.initialDelay: write an initialDelay from 100ms to 24h"},
		},
		"maxDelay below initialDelay": {
			spec:   retry("initialDelay: 10s, maxDelay: 5s"),
			refuse: []string{"spec.webhook.retryPolicy.maxDelay: write a maxDelay that is not below initialDelay"},
		},
		"maxDelay too long": {
			spec:   retry("maxDelay: 25h"),
			refuse: []string{"spec.webhook.retryPolicy.maxDelay: write a maxDelay of at most 24h"},
		},
		"a factor below one": {
			spec:   retry("factor: 0"),
			refuse: []string{"spec.webhook.retryPolicy.factor: spec.webhook.retryPolicy.factor in body should be greater than or equal to 1"},
		},

		"a signing secret in the credentials Secret": {
			spec: webhook + "signingSecretRef: {name: creds, key: k}}\ncredentialsSecretName: creds",
			refuse: []string{
				"spec: spec.webhook.signingSecretRef must not name the Secret in spec.credentialsSecretName, which the controller writes: put " +
					"your signing secret into a Secret of its own",
			},
		},
		"a signing secret in the default credentials Secret": {
			spec: webhook + "signingSecretRef: {name: checkout-credentials, key: k}}",
			refuse: []string{
				"<nil>: spec.webhook.signingSecretRef must not name the sandbox's own credentials Secret, which the controller writes: put your " +
					"signing secret into a Secret of its own",
			},
		},
		"a signing secret of another namespace": {spec: webhook + "signingSecretRef: {name: other/secret, key: k}}", refuse: []string{
			"spec.webhook.signingSecretRef.name: write the name of a Secret of this namespace: a-z, 0-9, - and ., starting and ending with a " +
				"letter or digit",
		}},
		"a bad Secret name": {spec: environments + "credentialsSecretName: Creds", refuse: []string{
			"spec.credentialsSecretName: write a Secret's name: a-z, 0-9, - and ., starting and ending with a letter or digit"}},
		"a Secret name with an empty label": {spec: environments + "credentialsSecretName: a..b", refuse: []string{
			"spec.credentialsSecretName: write a Secret's name: a-z, 0-9, - and ., starting and ending with a letter or digit"}},
		"a Secret name with a label that ends in a dash": {spec: environments + "credentialsSecretName: a-.b", refuse: []string{
			"spec.credentialsSecretName: write a Secret's name: a-z, 0-9, - and ., starting and ending with a letter or digit"}},
	})
}

func TestTestClientSchema(t *testing.T) {
	const (
		ref       = "sandboxRef: {name: checkout}\n"
		least     = ref + "msisdn: '+250788123456'\n"
		badMSISDN = "spec.msisdn: write the number with + and its country code, digits only"
	)
	testSchema(t, "TestClient", map[string]schemaCase{
		"the least":  {spec: least},
		"everything": {spec: least + "operator: mtn\ncountry: RW\nstate: Blocked\nbalance: 1000000000000\nbehavior: Manual"},

		"no plus sign": {spec: ref + "msisdn: '250788123456'", refuse: []string{badMSISDN}},
		"blanks":       {spec: ref + "msisdn: '+250 788 123456'", refuse: []string{badMSISDN}},
		"too short":    {spec: ref + "msisdn: '+123456'", refuse: []string{badMSISDN}},
		"too long":     {spec: ref + "msisdn: '+1234567890123456'", refuse: []string{badMSISDN}},
		"Benin before 2024": {
			spec:   ref + "msisdn: '+22997000001'\noperator: mtn\ncountry: BJ",
			refuse: []string{"spec.msisdn: numbers of BJ have 10 digits since 30 November 2024: write +2290197000001"},
		},
		"Benin since 2024": {spec: ref + "msisdn: '+2290197000001'"},
		"airtel elsewhere": {
			spec:   least + "operator: airtel\ncountry: CI",
			refuse: []string{"spec: " + airtelOnly},
		},
		"airtel alone": {spec: least + "operator: airtel"},
		"an unknown behavior": {
			spec:   least + "behavior: Refuse",
			refuse: []string{`spec.behavior: Unsupported value: "Refuse": supported values: "Approve", "Cancel", "WrongPin", "Ignore", "Manual"`},
		},
		"a negative balance": {
			spec:   least + "balance: -1",
			refuse: []string{"spec.balance: spec.balance in body should be greater than or equal to 0"},
		},
	})
}

// Clients that ask for strict validation, as kubectl does, are told about a field that has another name here.
func TestAnUnknownFieldIsRefused(t *testing.T) {
	c := newCluster(t)
	object := schemaCase{spec: "sandboxRef: {name: checkout}\nmsisdn: '+250788123456'\nbehaviour: Cancel"}.object(t, c, "TestClient")
	err := client.WithFieldValidation(c.Client, metav1.FieldValidationStrict).Create(t.Context(), object.DeepCopy(), client.DryRunAll)
	sameInMemory(t, object, err)
	if err == nil || !strings.Contains(err.Error(), `unknown field "spec.behaviour"`) {
		t.Errorf("the answer is %v", err)
	}
}

func TestImmutableFields(t *testing.T) {
	c := newCluster(t)
	const (
		fixedOperator = "spec.operator: operator cannot be changed: delete the TestClient and create it again"
		fixedCountry  = "spec.country: country cannot be changed: delete the TestClient and create it again"
	)
	airtelElsewhere := "spec: " + airtelOnly
	conditions := []metav1.Condition{
		{Type: "Ready", Status: metav1.ConditionFalse, Reason: "OperatorUnknown", LastTransitionTime: metav1.Now()},
	}
	registered := &v1alpha1.TestClientStatus{ObservedGeneration: 1, Conditions: conditions, Operator: "mtn", Country: "RW", Currency: "RWF"}
	stalled := &v1alpha1.TestClientStatus{ObservedGeneration: 1, Conditions: conditions}
	written := func(tc *v1alpha1.TestClient) { tc.Spec.Operator, tc.Spec.Country = "mtn", "RW" }
	for name, test := range map[string]struct {
		spec   func(*v1alpha1.TestClient)
		status *v1alpha1.TestClientStatus
		change func(*v1alpha1.TestClient)
		refuse []string
	}{
		"sandboxRef": {
			change: func(tc *v1alpha1.TestClient) { tc.Spec.SandboxRef.Name = "elsewhere" },
			refuse: []string{"spec.sandboxRef: sandboxRef cannot be changed: delete the TestClient and create it again"},
		},
		"msisdn": {
			change: func(tc *v1alpha1.TestClient) { tc.Spec.MSISDN = "+250788000002" },
			refuse: []string{"spec.msisdn: msisdn cannot be changed: delete the TestClient and create it again"},
		},
		"everything else can be changed": {
			change: func(tc *v1alpha1.TestClient) {
				tc.Spec.Balance, tc.Spec.State, tc.Spec.Behavior = 1, "Blocked", "Ignore"
			},
		},
		"what the number gave, before it is known": {
			change: func(tc *v1alpha1.TestClient) { tc.Spec.Operator, tc.Spec.Country = "mtn", "CI" },
			refuse: []string{fixedOperator, fixedCountry},
		},
		"another one than the number gave": {
			status: registered,
			change: func(tc *v1alpha1.TestClient) { tc.Spec.Operator, tc.Spec.Country = "airtel", "CI" },
			refuse: []string{fixedOperator, fixedCountry, airtelElsewhere},
		},
		"the one that the number gave": {
			status: registered,
			change: func(tc *v1alpha1.TestClient) { tc.Spec.Operator, tc.Spec.Country = "mtn", "RW" },
		},
		"another one than was written": {
			spec: written, status: registered,
			change: func(tc *v1alpha1.TestClient) { tc.Spec.Operator, tc.Spec.Country = "orange", "BJ" },
			refuse: []string{fixedOperator, fixedCountry},
		},
		"one that was written is taken away": {
			spec: written, status: registered,
			change: func(tc *v1alpha1.TestClient) { tc.Spec.Operator, tc.Spec.Country = "", "" },
			refuse: []string{fixedOperator, fixedCountry},
		},
		"one that does not follow from the number": {
			status: stalled,
			change: func(tc *v1alpha1.TestClient) { tc.Spec.Operator, tc.Spec.Country = "moov", "TG" },
		},
		"one that cannot be": {
			spec: func(tc *v1alpha1.TestClient) { tc.Spec.Operator = "airtel" }, status: stalled,
			change: func(tc *v1alpha1.TestClient) { tc.Spec.Operator = "moov" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			alice := c.newTestClient("alice-"+strings.ReplaceAll(strings.ToLower(name), " ", "-"), "+250788000001")
			alice.Name = strings.ReplaceAll(alice.Name, ",", "")
			if test.spec != nil {
				test.spec(alice)
			}
			c.create(alice)
			if test.status != nil {
				alice.Status = *test.status
				if err := c.Status().Update(t.Context(), alice); err != nil {
					t.Fatal(err)
				}
			}
			former := alice.DeepCopy()
			test.change(alice)
			err := c.Patch(t.Context(), alice.DeepCopy(), client.MergeFrom(former), client.DryRunAll)
			sameChangeInMemory(t, former, alice, err)
			if diff := cmp.Diff(test.refuse, refusals(t, err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSchemaDefaults(t *testing.T) {
	c := newCluster(t)
	sandbox := schemaCase{
		spec: "environments: [{operator: mtn, country: RW}]\nwebhook: {url: 'http://shop/'}",
	}.object(
		t, c, "SandboxEnvironment",
	)
	testClient := schemaCase{spec: "sandboxRef: {name: checkout}\nmsisdn: '+250788123456'"}.object(t, c, "TestClient")
	for _, test := range []struct {
		obj  *unstructured.Unstructured
		want string
	}{
		{sandbox, `
environments: [{operator: mtn, country: RW, enabled: true, commissionBps: 0, merchantAbsorptionPct: 100, unknownMsisdnPolicy: reject, fidelity: Observed}]
webhook: {url: 'http://shop/', retryPolicy: {maxRetries: 5, initialDelay: 5s, factor: 5, maxDelay: 1h}}
latencyPercent: 100
pendingTimeout: 60m
testNumbers: None
keyRotationGrace: 24h
deletionPolicy: Delete`},
		{testClient, `{sandboxRef: {name: checkout}, msisdn: "+250788123456", state: Active, balance: 0, behavior: Approve}`},
	} {
		if err := c.Create(t.Context(), test.obj, client.DryRunAll); err != nil {
			t.Fatal(err)
		}
		got, err := yaml.Marshal(test.obj.Object["spec"])
		if err != nil {
			t.Fatal(err)
		}
		var wanted any
		if err := yaml.Unmarshal([]byte(test.want), &wanted); err != nil {
			t.Fatal(err)
		}
		want, err := yaml.Marshal(wanted)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Error(diff)
		}
	}
}

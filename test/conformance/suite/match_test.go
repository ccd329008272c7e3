package suite

import (
	"net/http"
	"testing"
)

func TestCompare(t *testing.T) {
	got, err := Answer{Body: []byte(`{"n": 5, "float": 5.0, "s": "x", "null": null, "o": {"b": true}, "at": "2026-05-31T10:00:00Z"}`)}.Object()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		want Object
		ok   bool
	}{
		"equal":               {Object{"n": 5, "s": "x", "null": nil, "o": Object{"b": true}}, true},
		"another integer":     {Object{"n": 6}, false},
		"a float":             {Object{"float": 5}, false},
		"a text for a number": {Object{"n": "5"}, false},
		"null for absent":     {Object{"missing": nil}, false},
		"absent":              {Object{"missing": Absent}, true},
		"present":             {Object{"s": Absent}, false},
		"within an object":    {Object{"o": Object{"b": false}}, false},
		"no object":           {Object{"s": Object{}}, false},
		"matchers":            {Object{"n": Between(5, 5), "s": Matching("^x$"), "null": NullOr(AnyText), "at": Timestamp, "o": AnyObject}, true},
		"out of bounds":       {Object{"n": Between(6, 9)}, false},
		"no integer":          {Object{"float": AnyInteger}, false},
		"no time":             {Object{"s": Timestamp}, false},
		"null is no text":     {Object{"null": AnyText}, false},
		"absent or a text":    {Object{"missing": AbsentOr(AnyText), "s": AbsentOr(AnyText)}, true},
		"another text":        {Object{"s": OtherThan("y")}, true},
		"the same text":       {Object{"s": OtherThan("x")}, false},
		"none of the texts":   {Object{"s": OneOf("a", "b")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if problems := Compare("", got, test.want); (len(problems) == 0) != test.ok {
				t.Errorf("the problems are %q", problems)
			}
		})
	}
}

func TestAnswersThatAreNoObject(t *testing.T) {
	for _, body := range []string{"", "null", "[]", "{}{}", "{", `"x"`} {
		if o, err := (Answer{Body: []byte(body)}).Object(); err == nil {
			t.Errorf("%q was taken for %v", body, o)
		}
	}
}

func TestSignatures(t *testing.T) {
	// The example of the Standard Webhooks libraries.
	got := standardSignature(
		"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
		"msg_p5jXN8AQM9LWM0D4loKWxJek",
		"1614265330",
		[]byte(`{"test": 2432232314}`),
	)
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("the signature is %s, want %s", got, want)
	}
	// RFC 4231, test case 2.
	header := http.Header{"X-Service-Signature": {"sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"}}
	if problem := SignatureProblem("Jefe", header, []byte("what do ya want for nothing?")); problem != "" {
		t.Error(problem)
	}
	if SignatureProblem("Jefe", http.Header{}, nil) == "" {
		t.Error("a body without a signature was taken")
	}
}

package httpapi_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"sync"
	"testing"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/fronts/frontstest"
	"github.com/cauri-dev/cauri/server/httpserver"
	serversecrets "github.com/cauri-dev/cauri/server/secrets"
)

// credentialKey is the key of the certificate of the served installation.
var credentialKey = sync.OnceValue(func() *serversecrets.CredentialKey {
	text, err := serversecrets.NewRSAKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	key, err := serversecrets.ParseCredentialKey(text)
	if err != nil {
		panic(err)
	}
	return key
})

// Anybody may read the certificate of an installation. Only the API can read what is encrypted for it, by a key that is not
// the one for PINs. Without a key, the operator says that it is not available.
func TestCertificateOfAnInstallation(t *testing.T) {
	k := newKiosk(t)
	for _, base := range []string{"", "/sandboxes/team/checkout"} {
		status, text := k.get(k.url + base + "/operators/mtn/certificate")
		block, _ := pem.Decode([]byte(text))
		if status != http.StatusOK || block == nil {
			t.Fatalf("the certificate below %q is %d %s", base, status, text)
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		public, isRSA := certificate.PublicKey.(*rsa.PublicKey)
		if !isRSA || public.Equal(&pinKey().PublicKey) {
			t.Fatalf("it has the key %v", certificate.PublicKey)
		}
		//lint:ignore SA1019 clients of operators use this padding
		sealed, err := rsa.EncryptPKCS1v15(rand.Reader, public, []byte("initiator's password"))
		if err != nil {
			t.Fatal(err)
		}
		k.ask("/open", sealed)
	}

	o := frontstest.Options(k.store)
	url := listen(t, fronts.New(o), httpserver.Default)
	if status, text := k.get(url + "/operators/mtn/certificate"); status != http.StatusBadRequest || text != `"no_encryption_key"` {
		t.Errorf("without a key, it is %d %s", status, text)
	}
}

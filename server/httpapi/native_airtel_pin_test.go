package httpapi_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// sealedAs encrypts a PIN as clients do it.
func sealedAs(t *testing.T, key *rsa.PublicKey, pin string, o *rsa.OAEPOptions) string {
	t.Helper()
	var text []byte
	var err error
	if o == nil {
		//lint:ignore SA1019 clients of Airtel use this padding
		text, err = rsa.EncryptPKCS1v15(rand.Reader, key, []byte(pin))
	} else {
		text, err = rsa.EncryptOAEPWithOptions(rand.Reader, key, []byte(pin), o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(text)
}

// The paddings of clients are taken. What only the private key tells is answered alike: nobody learns how a text is padded.
func TestAirtelPINs(t *testing.T) {
	f, a := withAirtel(t)
	f.client("alice", alice, 0)
	pin, key := a.Secret["airtel-pin"], &pinKey().PublicKey
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	const paid, one = "DP00900001001", "ROUTER115"
	paddings := map[string]*rsa.OAEPOptions{
		"OAEP by SHA-256":                    {Hash: crypto.SHA256},
		"OAEP by SHA-256 with MGF1 by SHA-1": {Hash: crypto.SHA256, MGFHash: crypto.SHA1},
		"OAEP by SHA-1":                      {Hash: crypto.SHA1},
		"PKCS#1 v1.5":                        nil,
	}
	sent := map[string][2]string{
		"no base64": {"x", "ROUTER116"}, "plain text": {pin, "ROUTER116"}, "128 bytes": {sealedAs(t, &smallKey().PublicKey, pin, nil), "ROUTER116"},
		"no padding":  {base64.StdEncoding.EncodeToString(make([]byte, 256)), one},
		"above it":    {base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\xff", 256))), one},
		"another key": {sealedAs(t, &other.PublicKey, pin, nil), one},
		"a label":     {sealedAs(t, key, pin, &rsa.OAEPOptions{Hash: crypto.SHA256, Label: []byte("x")}), one},
		"SHA-512":     {sealedAs(t, key, pin, &rsa.OAEPOptions{Hash: crypto.SHA512}), one},
	}
	for name, o := range paddings {
		sent[name] = [2]string{sealedAs(t, key, pin, o), paid}
		for _, wrong := range []string{"", "12", pin + " ", "x" + pin, strings.Repeat("1", 100)} {
			sent[fmt.Sprintf("%s of %q", name, wrong)] = [2]string{sealedAs(t, key, wrong, o), one}
		}
	}
	refused := map[string]bool{}
	for name, c := range sent {
		got := a.call("POST", "/standard/v1/disbursements/", airtelPayout("d-"+newReference(), alice, c[0], 1))
		if !strings.Contains(got.raw, c[1]) {
			t.Errorf("%s is answered %d %s, want %s", name, got.status, got.raw, c[1])
		}
		switch reason := got.header.Get("X-Cauri-Reason"); {
		case c[1] == one:
			refused[got.raw+reason] = true
		case name == "128 bytes" && reason != "unreadable_pin: pin: expected 2048 bits, which the key of encryption-keys has, and got 1024, "+
			"as from the fixed key in Airtel's documents":
			t.Errorf("the reason for a text of 128 bytes is %q", reason)
		}
	}
	for told := range refused {
		if len(refused) != 1 || !strings.Contains(told, "SHA-256 or SHA-1") || !strings.Contains(told, "PKCS#1 v1.5") {
			t.Errorf("one of %d answers is %s", len(refused), told)
		}
	}
}

// Whoever sends many PINs makes one sandbox wait, and gets an answer for each.
func TestAirtelPINsWaitTheirTurn(t *testing.T) {
	f, a := withAirtel(t)
	f.client("alice", alice, 0)
	a.bearer = a.token()
	wrong := a.sealed("no")
	statuses := make(chan int)
	const n = 20
	for i := range n {
		go func() {
			got := a.call("POST", "/standard/v1/disbursements/", airtelPayout(fmt.Sprint("d-", i), alice, wrong, 1))
			statuses <- got.status
		}()
	}
	for range n {
		if status := <-statuses; status != http.StatusBadRequest && status != http.StatusServiceUnavailable {
			t.Errorf("a PIN is answered %d", status)
		}
	}
}

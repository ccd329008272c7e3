package kube

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"slices"
	"time"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

const (
	certificateLife = 365 * 24 * time.Hour
	// renewBefore is the minimum remaining lifetime of a certificate at the start of a process. It is longer than a
	// local cluster runs without another up.
	renewBefore = 30 * 24 * time.Hour
)

// Names of the authorities. A client of etcd has full access. etcd therefore trusts its own authority, which signs only
// for the API server. A user of the API server thus has no access to etcd.
const (
	ClusterAuthority = "ca"
	etcdAuthority    = "etcd-ca"
)

// Identity is the subject of a certificate.
type Identity struct {
	File      string // base name of the files
	Authority string // the authority that signs it
	Name      string
	Groups    []string
	Usage     []x509.ExtKeyUsage
}

var (
	asServer = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	AsClient = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	AsBoth   = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
)

// controlPlaneIdentities are the identities of every control plane.
var controlPlaneIdentities = []Identity{
	// etcd uses this certificate as a server and, for its peer and gateway connections, as a client.
	{File: "etcd", Authority: etcdAuthority, Name: "etcd", Usage: AsBoth},
	{File: "apiserver", Authority: ClusterAuthority, Name: "kube-apiserver", Usage: asServer},
	{File: "apiserver-etcd-client", Authority: etcdAuthority, Name: "kube-apiserver", Usage: AsClient},
	{File: "controller-manager", Authority: ClusterAuthority, Name: "system:kube-controller-manager", Usage: AsBoth},
	{File: "admin", Authority: ClusterAuthority, Name: "admin", Groups: []string{"system:masters"}, Usage: AsClient},
}

// PKI is the folder of certificates.
type PKI struct {
	State process.StateDir
	// Identities of the node, in addition to those of the control plane.
	More      []Identity
	Addresses []net.IP // addresses of the certificate holders
}

func (p PKI) identities() []Identity { return slices.Concat(controlPlaneIdentities, p.More) }

func (p PKI) Certificate(name string) string { return p.State.File("pki", name+".crt") }
func (p PKI) Key(name string) string         { return p.State.File("pki", name+".key") }

// serviceAccountKey signs the tokens of service accounts, and serviceAccountPublicKey verifies them. They are kept when
// certificates are renewed, so that issued tokens stay valid.
func (p PKI) serviceAccountKey() string       { return p.Key("service-accounts") }
func (p PKI) serviceAccountPublicKey() string { return p.State.File("pki", "service-accounts.pub") }

// Ensure creates missing certificates. It always creates a whole set, because old and new certificates do not match.
func (p PKI) Ensure(now time.Time) error {
	if _, err := os.Stat(p.serviceAccountPublicKey()); err != nil {
		if err := p.makeServiceAccountKey(); err != nil {
			return err
		}
	}
	if p.Complete(now) {
		return nil
	}
	signers := map[string]*signer{}
	for _, name := range []string{ClusterAuthority, etcdAuthority} {
		made, err := p.makeAuthority(name, now)
		if err != nil {
			return err
		}
		signers[name] = made
	}
	for _, who := range p.identities() {
		if err := p.issue(who, signers[who.Authority], now); err != nil {
			return err
		}
	}
	return nil
}

// Complete reports whether every certificate exists, matches its key, comes from the current authority and is valid
// long enough.
func (p PKI) Complete(now time.Time) bool {
	for _, who := range p.identities() {
		pool, err := p.pool(who.Authority)
		if err != nil {
			return false
		}
		pair, err := tls.LoadX509KeyPair(p.Certificate(who.File), p.Key(who.File))
		if err != nil {
			return false
		}
		options := x509.VerifyOptions{Roots: pool, CurrentTime: now.Add(renewBefore), KeyUsages: who.Usage}
		if _, err := pair.Leaf.Verify(options); err != nil {
			return false
		}
	}
	return true
}

// pool returns a certificate pool with one authority.
func (p PKI) pool(authority string) (*x509.CertPool, error) {
	content, err := os.ReadFile(p.Certificate(authority))
	if err != nil {
		return nil, fmt.Errorf("reading the certificate of an authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("no certificate in %s", p.Certificate(authority))
	}
	return pool, nil
}

// Client returns the TLS configuration of a client that trusts an authority and presents a certificate.
func (p PKI) Client(authority, certificate string) (*tls.Config, error) {
	pool, err := p.pool(authority)
	if err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(p.Certificate(certificate), p.Key(certificate))
	if err != nil {
		return nil, fmt.Errorf("reading a client certificate: %w", err)
	}
	return &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// signer is an authority with its key.
type signer struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

func (p PKI) makeAuthority(name string, now time.Time) (*signer, error) {
	template := &x509.Certificate{
		// Every authority gets a new name, because a client may remember an old authority of the same name.
		Subject:               pkix.Name{CommonName: fmt.Sprintf("localcluster %s %d", name, now.Unix())},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(certificateLife + 24*time.Hour), // longer than the signed certificates
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	if err := p.sign(name, template, key, &signer{certificate: template, key: key}); err != nil {
		return nil, err
	}
	return &signer{certificate: template, key: key}, nil
}

func (p PKI) issue(who Identity, by *signer, now time.Time) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: who.Name, Organization: who.Groups},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(certificateLife),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           who.Usage,
		BasicConstraintsValid: true,
		DNSNames: []string{
			"localhost",
			"kubernetes",
			"kubernetes.default",
			"kubernetes.default.svc",
			"kubernetes.default.svc.cluster.local",
		},
		IPAddresses: append([]net.IP{net.IPv4(127, 0, 0, 1), kubernetesServiceIP}, p.Addresses...),
	}
	return p.sign(who.File, template, key, by)
}

// sign writes a certificate and its key.
func (p PKI) sign(name string, template *x509.Certificate, key crypto.Signer, by *signer) error {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return fmt.Errorf("generating a serial number: %w", err)
	}
	template.SerialNumber = serial
	certificate, err := x509.CreateCertificate(rand.Reader, template, by.certificate, key.Public(), by.key)
	if err != nil {
		return fmt.Errorf("creating the certificate %s: %w", name, err)
	}
	return errors.Join(
		p.writeKey(p.Key(name), key),
		writePEM(p.Certificate(name), "CERTIFICATE", certificate),
	)
}

func (p PKI) makeServiceAccountKey() error {
	key, err := newKey()
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("encoding the key of service accounts: %w", err)
	}
	// The public half is written last, so that its presence means that both exist.
	if err := p.writeKey(p.serviceAccountKey(), key); err != nil {
		return err
	}
	return writePEM(p.serviceAccountPublicKey(), "PUBLIC KEY", public)
}

func (p PKI) writeKey(path string, key crypto.Signer) error {
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("encoding a key: %w", err)
	}
	return writePEM(path, "PRIVATE KEY", encoded)
}

func newKey() (crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("creating a key: %w", err)
	}
	return key, nil
}

func writePEM(path, kind string, content []byte) error {
	return host.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}))
}

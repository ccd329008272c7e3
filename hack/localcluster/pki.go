package main

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
)

const (
	certificateLife = 365 * 24 * time.Hour
	// renewBefore is how much life must be left when something is started with a certificate: nobody keeps a local cluster
	// running for longer without an up.
	renewBefore = 30 * 24 * time.Hour
)

// Names of the authorities. Clients of etcd may do everything, whoever they are. It therefore trusts an authority of its own,
// which has signed nobody but the API server, so that a user of the API server is not also a user of its store.
const (
	clusterAuthority = "ca"
	etcdAuthority    = "etcd-ca"
)

// identity is what a certificate says of its holder.
type identity struct {
	file      string // name of the files, without ending
	authority string // who signs it
	name      string
	groups    []string
	usage     []x509.ExtKeyUsage
}

var (
	asServer = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	asClient = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	asBoth   = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
)

// controlPlaneIdentities are those that every control plane has.
var controlPlaneIdentities = []identity{
	// etcd serves with this certificate and, as its own peer and gateway, is a client with it.
	{file: "etcd", authority: etcdAuthority, name: "etcd", usage: asBoth},
	{file: "apiserver", authority: clusterAuthority, name: "kube-apiserver", usage: asServer},
	{file: "apiserver-etcd-client", authority: etcdAuthority, name: "kube-apiserver", usage: asClient},
	{file: "controller-manager", authority: clusterAuthority, name: "system:kube-controller-manager", usage: asBoth},
	{file: "admin", authority: clusterAuthority, name: "admin", groups: []string{"system:masters"}, usage: asClient},
}

// pki is the folder of certificates.
type pki struct {
	state stateDir
	// What a node has beside the control plane.
	more      []identity
	addresses []net.IP // at which the holders of certificates are reached
}

func (p pki) identities() []identity { return slices.Concat(controlPlaneIdentities, p.more) }

func (p pki) certificate(name string) string { return p.state.file("pki", name+".crt") }
func (p pki) key(name string) string         { return p.state.file("pki", name+".key") }

// serviceAccountKey signs the tokens of service accounts and serviceAccountPublicKey checks them. They outlive the
// certificates, since tokens that were given out do.
func (p pki) serviceAccountKey() string       { return p.key("service-accounts") }
func (p pki) serviceAccountPublicKey() string { return p.state.file("pki", "service-accounts.pub") }

// ensure makes what is missing. Certificates are made anew all together: half of an old set is of no use to anyone.
func (p pki) ensure(now time.Time) error {
	if _, err := os.Stat(p.serviceAccountPublicKey()); err != nil {
		if err := p.makeServiceAccountKey(); err != nil {
			return err
		}
	}
	if p.complete(now) {
		return nil
	}
	signers := map[string]*signer{}
	for _, name := range []string{clusterAuthority, etcdAuthority} {
		made, err := p.makeAuthority(name, now)
		if err != nil {
			return err
		}
		signers[name] = made
	}
	for _, who := range p.identities() {
		if err := p.issue(who, signers[who.authority], now); err != nil {
			return err
		}
	}
	return nil
}

// complete tells whether every certificate is there, fits its key, was signed by the present authority and lives on.
func (p pki) complete(now time.Time) bool {
	for _, who := range p.identities() {
		pool, err := p.pool(who.authority)
		if err != nil {
			return false
		}
		pair, err := tls.LoadX509KeyPair(p.certificate(who.file), p.key(who.file))
		if err != nil {
			return false
		}
		options := x509.VerifyOptions{Roots: pool, CurrentTime: now.Add(renewBefore), KeyUsages: who.usage}
		if _, err := pair.Leaf.Verify(options); err != nil {
			return false
		}
	}
	return true
}

// pool is the set of authorities that holds one of ours alone.
func (p pki) pool(authority string) (*x509.CertPool, error) {
	content, err := os.ReadFile(p.certificate(authority))
	if err != nil {
		return nil, fmt.Errorf("reading the certificate of an authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("no certificate in %s", p.certificate(authority))
	}
	return pool, nil
}

// client is the TLS side of a client that trusts an authority and shows a certificate.
func (p pki) client(authority, certificate string) (*tls.Config, error) {
	pool, err := p.pool(authority)
	if err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(p.certificate(certificate), p.key(certificate))
	if err != nil {
		return nil, fmt.Errorf("reading a client certificate: %w", err)
	}
	return &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// signer is an authority that is being used.
type signer struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

func (p pki) makeAuthority(name string, now time.Time) (*signer, error) {
	template := &x509.Certificate{
		// Every authority has another name: a client that remembers an old one of the same name would try to use it.
		Subject:               pkix.Name{CommonName: fmt.Sprintf("localcluster %s %d", name, now.Unix())},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(certificateLife + 24*time.Hour), // it outlives what it signs
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

func (p pki) issue(who identity, by *signer, now time.Time) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: who.name, Organization: who.groups},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(certificateLife),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           who.usage,
		BasicConstraintsValid: true,
		DNSNames:              []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"},
		IPAddresses:           append([]net.IP{net.IPv4(127, 0, 0, 1), kubernetesServiceIP}, p.addresses...),
	}
	return p.sign(who.file, template, key, by)
}

// sign writes a certificate and its key.
func (p pki) sign(name string, template *x509.Certificate, key crypto.Signer, by *signer) error {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return fmt.Errorf("drawing a serial number: %w", err)
	}
	template.SerialNumber = serial
	certificate, err := x509.CreateCertificate(rand.Reader, template, by.certificate, key.Public(), by.key)
	if err != nil {
		return fmt.Errorf("making the certificate %s: %w", name, err)
	}
	return errors.Join(
		p.writeKey(p.key(name), key),
		writePEM(p.certificate(name), "CERTIFICATE", certificate),
	)
}

func (p pki) makeServiceAccountKey() error {
	key, err := newKey()
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("encoding the key of service accounts: %w", err)
	}
	// The public half last: its presence says that both are there.
	if err := p.writeKey(p.serviceAccountKey(), key); err != nil {
		return err
	}
	return writePEM(p.serviceAccountPublicKey(), "PUBLIC KEY", public)
}

func (p pki) writeKey(path string, key crypto.Signer) error {
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("encoding a key: %w", err)
	}
	return writePEM(path, "PRIVATE KEY", encoded)
}

func newKey() (crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	return key, nil
}

func writePEM(path, kind string, content []byte) error {
	return writeFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}))
}

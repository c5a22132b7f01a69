package redisstore

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
)

// certificate writes a certificate and its key for name, signed by itself.
func certificate(t *testing.T, name string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// TestRedis_TLS: both sides show a certificate. A side with another certificate, another
// name or none is rejected.
func TestRedis_TLS(t *testing.T) {
	cert, key := certificate(t, "redis.example")
	own, ownKey := certificate(t, "gateway.example")
	other, _ := certificate(t, "redis.example")
	addr := machine.FreeAddress(t)
	redisrun.Start(t, "--tls-port", machine.Port(addr), "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", own)
	for name, test := range map[string]struct {
		tls  *TLS
		good bool
	}{
		"right":              {&TLS{CA: []string{cert}, ServerName: "redis.example", Certificate: own, Key: ownKey}, true},
		"one of two":         {&TLS{CA: []string{other, cert}, ServerName: "redis.example", Certificate: own, Key: ownKey}, true},
		"another authority":  {&TLS{CA: []string{other}, ServerName: "redis.example", Certificate: own, Key: ownKey}, false},
		"system authorities": {&TLS{ServerName: "redis.example", Certificate: own, Key: ownKey}, false},
		"another name":       {&TLS{CA: []string{cert}, ServerName: "other.example", Certificate: own, Key: ownKey}, false},
		"the address":        {&TLS{CA: []string{cert}, Certificate: own, Key: ownKey}, false},
		"no certificate":     {&TLS{CA: []string{cert}, ServerName: "redis.example"}, false},
		"plain":              {nil, false},
	} {
		s := openRedis(t, Options{Addresses: []string{addr}, TLS: test.tls})
		if err := s.Set(t.Context(), "k", "v", time.Hour); (err == nil) != test.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

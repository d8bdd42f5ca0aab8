package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"math/big"
	"sync"
	"time"
)

const (
	// certificateLife is the validity of an own certificate. Browsers that know a certificate by its hash accept at most 14
	// days, of a key on the curve P-256 (W3C WebTransport, "custom certificate requirements").
	certificateLife = 13 * 24 * time.Hour

	// certificateUse is when the next one is made.
	certificateUse = 6 * 24 * time.Hour

	// clockError is by how much the clock of a client may be slow.
	clockError = 24 * time.Hour
)

// An ownCertificate is made by the server, which tells its clients the hash, and is made again in time.
type ownCertificate struct {
	mu   sync.Mutex
	cert *tls.Certificate
	made time.Time
}

// current returns the certificate for new connections.
func (o *ownCertificate) current(now time.Time) (*tls.Certificate, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cert != nil && now.Sub(o.made) < certificateUse {
		return o.cert, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, err
	}
	from := now.Add(-clockError)
	form := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "samestep"},
		NotBefore: from, NotAfter: from.Add(certificateLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	o.cert, o.made = &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, now
	return o.cert, nil
}

// hash returns the SHA-256 of the current certificate, in hexadecimal.
func (o *ownCertificate) hash(now time.Time) string {
	cert, err := o.current(now)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(cert.Certificate[0])
	return hex.EncodeToString(sum[:])
}

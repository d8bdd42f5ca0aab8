package measure

import (
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"testing"
	"time"
)

// A chain lasts as long as the certificate in it that expires first.
func TestLeft(t *testing.T) {
	t.Parallel()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	now := time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)
	var pair tls.Certificate
	for i, life := range []time.Duration{9 * time.Hour, 5 * time.Hour, 7 * time.Hour} {
		form := &x509.Certificate{SerialNumber: big.NewInt(int64(i + 1)), NotAfter: now.Add(life)}
		der, err := x509.CreateCertificate(nil, form, form, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		pair.Certificate = append(pair.Certificate, der)
	}
	if got := left(&pair, now); got != 5*time.Hour {
		t.Errorf("got %v, want 5h", got)
	}
}

//go:build !js

package engine

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// The files of a server's certificate and its key, in a side's directory.
const (
	wireCert = "cert.pem"
	wireKey  = "key.pem"
)

// writeCertificate makes a certificate and writes it. A comparison is of encrypted connections: datagrams always are, and WebSockets on
// the Internet.
func writeCertificate(dir string) error {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, form, form, public, private)
	if err != nil {
		return err
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	for name, block := range map[string]*pem.Block{wireCert: {Type: "CERTIFICATE", Bytes: cert}, wireKey: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// wireHTTP trusts the certificate of every server: the comparison has made them all.
var wireHTTP = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

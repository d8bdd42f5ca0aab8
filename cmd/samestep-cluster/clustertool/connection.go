//go:build !js

package clustertool

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/lockstep/cluster/storage"
)

// connectionFlags say how to reach the storage of the cluster.
var connectionFlags = []cli.Flag{
	&cli.StringFlag{Name: "nats", Usage: "`URL` of the cluster's storage, a NATS server with JetStream, such as nats://10.0.0.1:4222"},
	&cli.StringFlag{Name: "nats-creds", Usage: "`FILE` with credentials for it"},
	&cli.StringFlag{Name: "nats-nkey", Usage: "`FILE` with the seed of an nkey for it"},
	&cli.StringFlag{Name: "nats-ca", Usage: "`FILE` with the certificates that its certificate may be signed by"},
	&cli.StringFlag{Name: "nats-cert", Usage: "`FILE` with a certificate of this program for it"},
	&cli.StringFlag{Name: "nats-key", Usage: "`FILE` with its key"},
}

// dial connects to the storage as the flags say.
func dial(c *cli.Context, url, name string) (*storage.Conn, error) {
	o := storage.DialOptions{Name: name, Credentials: c.String("nats-creds"), Seed: c.String("nats-nkey")}
	cert, key, ca := c.String("nats-cert"), c.String("nats-key"), c.String("nats-ca")
	if (cert == "") != (key == "") {
		return nil, tool.Usagef("--nats-cert and --nats-key go together")
	}
	if cert != "" || ca != "" {
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("--nats-cert: %w", err)
		}
		o.TLS.Certificates = []tls.Certificate{pair}
	}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("--nats-ca: %w", err)
		}
		o.TLS.RootCAs = x509.NewCertPool()
		if !o.TLS.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("--nats-ca: the file has no certificate")
		}
	}
	return storage.Dial(url, o)
}

//go:build !js

package clustertool

import (
	"crypto/tls"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/internal/measure"
	"github.com/seed-49bee653/samestep/server"
)

// localStorage is where a verb finds the storage unless its flags say otherwise.
const localStorage = "nats://127.0.0.1:4222"

// connectionFlags say where the storage is, at usual by default, and who connects. A variable of the environment sets
// each of them.
func connectionFlags(usual string) []cli.Flag {
	return tool.FromEnvironment([]cli.Flag{
		&cli.StringFlag{Name: "nats", Value: usual, Usage: "address of the cluster's storage: `URL`s, separated by commas"},
		&cli.StringFlag{Name: "nats-creds", Usage: "connect with the credentials in `FILE`"},
		&cli.StringFlag{Name: "nats-nkey", Usage: "connect with the nkey whose seed is in `FILE`"},
		&cli.StringFlag{Name: "nats-ca", Usage: "trust the certificates in `FILE` (PEM) instead of those of the system, and require TLS"},
		&cli.StringFlag{Name: "nats-cert", Usage: "show the certificate in `FILE` (PEM) to the storage, and require TLS"},
		&cli.StringFlag{Name: "nats-key", Usage: "the certificate's key is in `FILE` (PEM)"},
	})
}

// dialWith connects to the storage at a URL. The flags fill in who connects, and TLS unless there is a configuration.
func dialWith(c *cli.Context, url string, o storage.DialOptions) (*storage.Conn, error) {
	o, err := dialOptions(c, o)
	if err != nil {
		return nil, err
	}
	return storage.Dial(url, o)
}

// dialAny connects to the first address of --nats from which the storage can be used, and logs why it leaves others out.
func dialAny(c *cli.Context, o storage.DialOptions) (*storage.Conn, error) {
	o, err := dialOptions(c, o)
	if err != nil {
		return nil, err
	}
	conn, unused, err := storage.DialAny(c.Context, c.String("nats"), o)
	for _, why := range unused {
		if c.Context.Err() != nil {
			break // the key is refused, which is told
		}
		o.Log.Warn("an address of the storage is of no use", "err", why)
	}
	return conn, err
}

// dialOptions fills in what the flags say.
func dialOptions(c *cli.Context, o storage.DialOptions) (_ storage.DialOptions, err error) {
	if c.IsSet("nats-creds") && c.IsSet("nats-nkey") {
		return o, tool.Usagef("--nats-creds and --nats-nkey: want one of them")
	}
	if o.TLS == nil {
		if o.TLS, err = tlsConfig(c); err != nil {
			return o, err
		}
	}
	o.Name, o.Credentials, o.Seed = c.Command.HelpName, c.String("nats-creds"), c.String("nats-nkey")
	return o, nil
}

// tlsConfig returns nil without flags for TLS: then the address decides.
func tlsConfig(c *cli.Context) (*tls.Config, error) {
	ca, cert, key := c.String("nats-ca"), c.String("nats-cert"), c.String("nats-key")
	if (cert == "") != (key == "") {
		return nil, tool.Usagef("--nats-cert and --nats-key: want both")
	}
	if ca == "" && cert == "" {
		return nil, nil
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		var err error
		if t.RootCAs, err = readPool(ca); err != nil {
			return nil, err
		}
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", cert, err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

// measureCertificate adds the metric of the certificate of --nats-cert, if t has it, to those of a server or a mirror.
func measureCertificate(t *tls.Config, o *server.Options) {
	if t != nil && len(t.Certificates) > 0 {
		o.Metrics = append(o.Metrics, measure.Certificate("nats-cert", func() *tls.Certificate { return &t.Certificates[0] }))
	}
}

//go:build !js

package clustertool

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
)

// nodeFlags say who may connect to an embedded storage node, and how.
func nodeFlags() []cli.Flag {
	return tool.FromEnvironment([]cli.Flag{
		&cli.StringFlag{Name: "node-users", Usage: "only those in `FILE` may use the embedded storage node, see the verb keys; without it the node is on loopback only"},
		&cli.StringFlag{Name: "node-cert", Usage: "the embedded node has the certificate in `FILE` (PEM), and requires TLS"},
		&cli.StringFlag{Name: "node-key", Usage: "the certificate's key is in `FILE` (PEM)"},
		&cli.StringFlag{Name: "node-ca", Usage: "other nodes must have certificates that those in `FILE` (PEM) have signed"},
	})
}

// startNode starts an embedded node. listen and cluster are the names of the flags that have its addresses.
func startNode(c *cli.Context, o storage.NodeOptions, listen, cluster string) (*storage.Node, error) {
	if err := checkNode(c, &o, listen, cluster); err != nil {
		return nil, err
	}
	if path := c.String("node-users"); path != "" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if o.Users, err = storage.ReadUsers(f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if c.String("node-cert") == "" {
		return storage.StartNode(o)
	}
	pair, err := tls.LoadX509KeyPair(c.String("node-cert"), c.String("node-key"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.String("node-cert"), err)
	}
	o.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	if ca := c.String("node-ca"); ca != "" {
		pool, err := readPool(ca)
		if err != nil {
			return nil, err
		}
		o.ClusterTLS = &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
		}
	}
	return storage.StartNode(o)
}

// checkNode refuses a node that strangers could use.
func checkNode(c *cli.Context, o *storage.NodeOptions, listen, cluster string) error {
	cert, key, ca := c.String("node-cert"), c.String("node-key"), c.String("node-ca")
	switch {
	case (cert == "") != (key == ""):
		return tool.Usagef("--node-cert and --node-key: want both")
	case ca != "" && cert == "":
		return tool.Usagef("--node-ca needs --node-cert and --node-key, which the other nodes ask for")
	case isExposed(o.Listen) && c.String("node-users") == "":
		return tool.Usagef("--%s: got %s, which other machines reach, without --node-users FILE: anybody could write there. \"keys new\" makes the file", listen, o.Listen)
	case isExposed(o.Cluster) && ca == "":
		return tool.Usagef("--%s: got %s, which other machines reach, without --node-cert, --node-key and --node-ca: anybody could join as a node", cluster, o.Cluster)
	}
	return nil
}

// isExposed reports whether other machines may reach an address. A name counts as one that they reach.
func isExposed(address string) bool {
	if address == "" {
		return false // any free port on loopback, or nothing
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	if host == "localhost" {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err != nil || !ip.Unmap().IsLoopback()
}

// ownNode returns how this program connects to the node in its own process: that is reached by address, which its certificate
// need not have.
func ownNode(c *cli.Context, t *tls.Config) (*tls.Config, error) {
	if c.String("node-cert") == "" {
		return t, nil
	}
	if t == nil {
		t = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if ca := c.String("node-ca"); ca != "" && t.RootCAs == nil {
		pool, err := readPool(ca)
		if err != nil {
			return nil, err
		}
		t.RootCAs = pool
	}
	pair, err := tls.LoadX509KeyPair(c.String("node-cert"), c.String("node-key"))
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", c.String("node-cert"), err)
	case len(leaf.DNSNames) > 0:
		t.ServerName = leaf.DNSNames[0]
	case len(leaf.IPAddresses) > 0:
		t.ServerName = leaf.IPAddresses[0].String()
	}
	return t, nil
}

// readPool reads the certificates of authorities.
func readPool(path string) (*x509.CertPool, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(b) {
		return nil, fmt.Errorf("%s: no certificate in PEM", path)
	}
	return pool, nil
}

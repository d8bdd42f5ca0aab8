//go:build !js

package clustertool

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/objects"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/internal/measure"
	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/archive"
)

// localStorage is where a verb finds the storage unless its flags say otherwise.
const localStorage = "nats://127.0.0.1:4222"

// connectionFlags say where the storage is, at usual by default, and who connects. Each is also a variable of the environment.
func connectionFlags(usual string) []cli.Flag {
	return tool.FromEnvironment([]cli.Flag{
		&cli.StringFlag{Name: "nats", Value: usual, Usage: "address of the cluster's storage: `URL`s, separated by commas"},
		&cli.StringFlag{Name: "nats-creds", Usage: "connect with the credentials in `FILE`"},
		&cli.StringFlag{Name: "nats-nkey", Usage: "connect with the nkey seed in `FILE`"},
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
		o.Log.Warn("storage address skipped", "err", why)
	}
	return conn, err
}

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

// A roleError is what the storage has refused because of the role of the key.
type roleError struct {
	want    storage.Role
	refused error
}

func (e *roleError) Error() string {
	_, what, _ := strings.Cut(e.refused.Error(), "Permissions Violation for ")
	return fmt.Sprintf("this key's role may not do this; it needs a key of role %s: the storage refused: %s", e.want, what)
}

func (e *roleError) Unwrap() error { return e.refused }

// refusal returns a context for the start of a program that uses the storage. It ends with a [roleError] when the storage refuses
// something: the program would wait for an answer that does not come. What is refused after started is logged.
func refusal(ctx context.Context, role storage.Role, log *slog.Logger) (starting context.Context, refused func(error), started func()) {
	starting, cancel := context.WithCancelCause(ctx)
	return starting, func(err error) {
		if starting.Err() == nil {
			cancel(&roleError{role, err})
		} else if refusedIn(starting) == nil {
			log.Error("storage", "err", &roleError{role, err})
		}
	}, func() { cancel(nil) }
}

// refusedIn returns what has ended a context of [refusal], or nil.
func refusedIn(starting context.Context) error {
	if refused, ok := context.Cause(starting).(*roleError); ok {
		return refused
	}
	return nil
}

// connected calls act with a connection of a role. The first refusal of the storage ends the verb.
func connected(c *cli.Context, role storage.Role, act func(*storage.Conn) error) error {
	log := plainLog(c)
	ctx, refused, done := refusal(c.Context, role, log)
	defer done()
	c.Context = ctx
	conn, err := dialAny(c, storage.DialOptions{Role: role, Log: log, Refused: refused})
	if err != nil {
		return err
	}
	defer conn.Close()
	err = act(conn)
	return cmp.Or(refusedIn(ctx), err)
}

// plainLog returns the log of a verb that has no flags for it.
func plainLog(c *cli.Context) *slog.Logger {
	return slog.New(slog.NewTextHandler(c.App.ErrWriter, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// storageArchive is the place of an archive in the cluster's storage, for the archive of serve.
const storageArchive = "nats:"

func openStore(c *cli.Context, place string) (archive.Store, error) {
	if place != storageArchive {
		return nil, nil
	}
	if c.String("nats") == "" { // only serve has no default
		return nil, tool.Usagef("archive %s needs --nats, the storage with the archive", storageArchive)
	}
	log, err := tool.NewLog(c)
	if err != nil { // replay index has no flags for it
		log = plainLog(c)
	}
	role := storage.OperatorRole // a server's key serves for it, too
	if c.Command.Name == "serve" {
		role = storage.ServerRole
	}
	conn, err := dialWith(c, c.String("nats"), storage.DialOptions{Role: role, Log: log})
	if err != nil {
		return nil, err
	}
	return &ownStore{objects.New(conn), conn}, nil
}

// An ownStore is a store with a connection of its own.
type ownStore struct {
	*objects.Store
	conn *storage.Conn
}

// Close closes the connection.
func (s *ownStore) Close() { s.conn.Close() }

// nodeFlags say who may connect to an embedded storage node, and how.
func nodeFlags() []cli.Flag {
	return tool.FromEnvironment([]cli.Flag{
		&cli.StringFlag{Name: "node-users", Usage: "only the users in `FILE` may use the embedded storage node, see the verb keys; without it the node is on loopback only"},
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
		var err error
		if o.Users, err = readUsers(path); err != nil {
			return nil, err
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
		return tool.Wrongf(c, listen, "got %s, which other machines reach, without --node-users FILE: anybody could write there. \"keys new\" makes the file", o.Listen)
	case isExposed(o.Cluster) && ca == "":
		return tool.Wrongf(c, cluster, "got %s, which other machines reach, without --node-cert, --node-key and --node-ca: anybody could join as a node", o.Cluster)
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

// ownNode returns how to connect to the node in this process, by an address that its certificate need not have.
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

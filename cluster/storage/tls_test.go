package storage_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep"
)

// An authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.cert, a.key = a.sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	a.pool = x509.NewCertPool()
	a.pool.AddCert(a.cert)
	return a
}

// sign makes a certificate. The authority's own is signed by itself.
func (a *authority) sign(t *testing.T, c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// node returns the configurations of TLS of a node on loopback: for clients, and for other nodes.
func (a *authority) node(t *testing.T) (clients, nodes *tls.Config) {
	t.Helper()
	cert, key := a.sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "node"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	pair := tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key}
	return &tls.Config{Certificates: []tls.Certificate{pair}}, &tls.Config{
		Certificates: []tls.Certificate{pair}, RootCAs: a.pool, ClientCAs: a.pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}
}

// Clients of a node with TLS must trust its certificate, and cannot do without TLS.
func TestTLS(t *testing.T) {
	t.Parallel()
	ours, other := newAuthority(t), newAuthority(t)
	clients, _ := ours.node(t)
	node, err := storage.StartNode(storage.NodeOptions{Name: "a", Dir: t.TempDir(), TLS: clients})
	if err != nil {
		t.Fatal(err)
	}
	defer node.Stop()
	for _, row := range []struct {
		name string
		tls  *tls.Config
		ok   bool
	}{
		{"our authority", &tls.Config{RootCAs: ours.pool}, true},
		{"another authority", &tls.Config{RootCAs: other.pool}, false},
		{"the system's authorities", &tls.Config{}, false},
		{"as the address says", nil, false},
		{"another name", &tls.Config{RootCAs: ours.pool, ServerName: "other.example"}, false},
	} {
		conn, err := storage.Dial(node.URL(), storage.DialOptions{Name: "test", TLS: row.tls})
		if (err == nil) != row.ok {
			t.Errorf("%s: got %v", row.name, err)
		}
		if conn != nil {
			conn.Close()
		}
	}
}

// Three nodes with certificates and users are one storage, at each of which a mirror reads. A stranger is no node of it.
func TestThreeSecuredNodes(t *testing.T) {
	t.Parallel()
	ours, other := newAuthority(t), newAuthority(t)
	var users []storage.User
	seeds := map[storage.Role]string{}
	for _, r := range []storage.Role{storage.ServerRole, storage.MirrorRole, storage.OperatorRole} {
		u, seed, err := storage.NewUser(r)
		if err != nil {
			t.Fatal(err)
		}
		users, seeds[r] = append(users, u), filepath.Join(t.TempDir(), "seed")
		if err := os.WriteFile(seeds[r], seed, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	routes := freeAddresses(t, 5)
	start := func(i int, a *authority) *storage.Node {
		clients, nodes := a.node(t)
		n, err := storage.StartNode(storage.NodeOptions{
			Name: fmt.Sprint("n", i), Dir: t.TempDir(), Cluster: routes[i], Routes: routes[:3], Users: users, TLS: clients, ClusterTLS: nodes,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Stop)
		return n
	}
	nodes := []*storage.Node{start(0, ours), start(1, ours), start(2, ours)}
	dial := func(n *storage.Node, r storage.Role, a *authority) *storage.Conn {
		conn, err := storage.Dial(n.URL(), storage.DialOptions{Name: string(r), Role: r, Seed: seeds[r], TLS: &tls.Config{RootCAs: a.pool}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		return conn
	}
	ctx := within(t, 60*time.Second)
	server := dial(nodes[0], storage.ServerRole, ours)
	if err := server.Setup(ctx, storage.Layout{Replicas: 3, Streams: 2}); err != nil {
		t.Fatal(err)
	}
	id := lockstep.MatchID{3}
	_, subject := server.LogOf(id)
	const messages = 300 // more than a batch
	for i := range messages {
		if _, err := server.JS.Publish(ctx, subject, fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
	extra := start(3, ours)
	operator := dial(nodes[1], storage.OperatorRole, ours) // of any node: each passes requests on
	if err := operator.ReplaceNode(ctx, "n2", "n3", quiet); err != nil {
		t.Fatal(err)
	}
	nodes[2] = extra
	if s, err := operator.Status(ctx); err != nil || len(s.Nodes) < 3 || s.Streams[0].Missing() != 0 {
		t.Fatalf("got %+v, %v", s, err)
	}
	for i, n := range nodes {
		mirror := dial(n, storage.MirrorRole, ours)
		if err := mirror.Learn(ctx); err != nil {
			t.Fatal(err)
		}
		tail := mirror.Tail(id, 0)
		defer tail.Close()
		for read := 0; read < messages; {
			_, message, err := tail.Next(ctx)
			if err == io.EOF && ctx.Err() == nil { // a copy is late
				continue
			}
			if err != nil || string(message) != fmt.Sprint(read) {
				t.Fatalf("node %d: message %d: got %q, %v", i, read, message, err)
			}
			read++
		}
		if tail.Pending() != 0 {
			t.Errorf("node %d: %d messages are pending at the end", i, tail.Pending())
		}
	}
	stranger := dial(start(4, other), storage.ServerRole, other)
	short := within(t, 2*time.Second)
	if err := stranger.Learn(short); err == nil {
		t.Error("a node with another certificate reads our logs")
	}
}

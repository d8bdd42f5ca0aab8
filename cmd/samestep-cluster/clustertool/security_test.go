//go:build unix

package clustertool_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/internal/games"
	"github.com/seed-49bee653/samestep/cmd/samestep-cluster/clustertool"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
)

// A node that other machines reach is refused unless it knows who may use it.
func TestOpenNode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	command(t, 0, "keys new --dir "+dir+"/keys", "server.nk", "operator.nk", "mirror.nk", "worker.nk", "users.txt")
	users := " --set node-users=" + dir + "/keys/users.txt"
	tokens(t, dir)
	serve := "serve --durability replicated --game minimal --matches 0 --set web=false --listen 127.0.0.1:0 --tokens " + dir + "/tokens.txt --dir " + dir
	for _, row := range []struct{ line, want string }{
		{"storage --name a --dir " + dir + " --listen 0.0.0.0:0", "--listen: got 0.0.0.0:0, which other machines reach, without --node-users FILE"},
		{"storage --name a --dir " + dir + " --listen :0", "--listen: got :0"},
		{"storage --name a --dir " + dir + " --listen [::]:0", "--listen: got [::]:0"},
		{"storage --name a --dir " + dir + " --listen game.example:4222", "--listen: got game.example:4222"},
		{"storage --name a --dir " + dir + " --listen 10.0.0.1:4222 --cluster 10.0.0.1:6222 --node-users " + dir + "/keys/users.txt", "--cluster: got 10.0.0.1:6222, which other machines reach, without --node-cert, --node-key and --node-ca"},
		{"storage --name a --dir " + dir + " --listen 127.0.0.1:0 --cluster-advertise 10.0.0.1:6222", "--cluster-advertise needs --cluster"},
		{"storage --name a --dir " + dir + " --listen 127.0.0.1:0 --node-cert x", "--node-cert and --node-key: want both"},
		{"storage --name a --dir " + dir + " --listen 127.0.0.1:0 --node-ca x", "--node-ca needs --node-cert and --node-key"},
		{serve + " --set node-listen=10.0.0.1:4222", "node-listen: got 10.0.0.1:4222"},
		{serve + " --set node-cluster=10.0.0.1:6222", "node-cluster: got 10.0.0.1:6222"},
		{serve + users, "node-users needs nats-nkey"},
		{serve + users + " --nats nats://127.0.0.1:1", "node-users and node-cert cannot be used with --nats nats://127.0.0.1:1: they are for an embedded node"},
		{"storage --name a --dir " + dir + " --listen foo", `--listen: got "foo", want HOST:PORT with a port of 0 to 65535`},
		{"storage --name a --dir " + dir + " --metrics :99999", `--metrics: got ":99999", want HOST:PORT`},
		{"storage --name a --dir " + dir + " --cluster 127.0.0.1:0 --route 127.0.0.1:1 --route b", `--route: got "b", want HOST:PORT`},
		{serve + " --set node-listen=foo", `--set node-listen: got "foo", want HOST:PORT`},
		{serve + " --set node-route=127.0.0.1:1 --set node-route=nats://b:6222", `--set node-route: got "nats://b:6222", want HOST:PORT`},
		{serve + " --set replicas=2", "--set replicas: got 2, want 1, 3 or 5"},
		{serve + " --set address=here", "--set address: cluster: "},
		{serve + " --name a.b", `--name: cluster: got the name "a.b"`},
		{"farm submit --archive --replicas 4", "--replicas: got 4, want 1, 3 or 5"},
		{"mirror --upstream http://game.example --listen foo", `--listen: got "foo", want HOST:PORT`},
		{"mirror --upstream http://game.example --batch=-1s", "--batch: got -1s, want at least 0s"},
		{"mirror --upstream http://game.example --allowed-host a/b", `--allowed-host: server: allowed host: got "a/b"`},
		{"keys new --dir " + dir + "/more --role admin", `--role: got "admin"`},
		{"permissions --role admin", `--role: got "admin"`},
		{"permissions --role mirror --users " + dir + "/keys/users.txt", "--role and --users: want at most one"},
	} {
		command(t, 2, row.line, row.want)
	}
}

// Keys are private, and never overwritten. The permissions have the public ones.
func TestKeys(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	command(t, 0, "keys new --dir "+dir)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(storage.Roles)+1 {
		t.Fatal(entries, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got the mode %v, %v; want 0600", e.Name(), info.Mode(), err)
		}
	}
	before, err := os.ReadFile(filepath.Join(dir, "server.nk"))
	if err != nil {
		t.Fatal(err)
	}
	command(t, 1, "keys new --dir "+dir, "want a folder without keys")
	os.Remove(filepath.Join(dir, "users.txt"))
	command(t, 1, "keys new --dir "+dir+" --role server", "want a folder without keys")
	if after, err := os.ReadFile(filepath.Join(dir, "server.nk")); err != nil || string(after) != string(before) {
		t.Error("a key was overwritten")
	}
	command(t, 0, "keys new --dir "+dir+"2 --role worker --role worker", "worker.nk", "users.txt")
	list, err := os.ReadFile(filepath.Join(dir+"2", "users.txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, key, _ := strings.Cut(strings.TrimSpace(string(list)), " ")
	command(t, 0, "permissions --users "+dir+"2/users.txt", "nkey: "+key+" # worker", "SAMESTEP_MIRROR {", "jetstream: enabled")
	command(t, 0, "permissions", "nkey: NKEY_OF_A_SERVER # server", "nkey: NKEY_OF_A_MIRROR # mirror")
	command(t, 0, "permissions --role mirror", "publish $JS.API.DIRECT.GET.samestep-log-3", "subscribe _INBOX.>")
}

// All verbs work with the keys of their roles, and with TLS, at the node of a server.
func TestVerbsWithKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificates(t, dir)
	command(t, 0, "keys new --dir "+dir+"/keys")
	tokens(t, dir)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	url := "nats://" + l.Addr().String()
	as := func(role string) string {
		return fmt.Sprintf(" --nats %s --nats-ca %s/ca.pem --nats-nkey %s/keys/%s.nk", url, dir, dir, role)
	}
	server := background(t, "listening on ", fmt.Sprintf("serve --durability replicated --listen 127.0.0.1:0 --dir %[1]s/a --tokens %[1]s/tokens.txt --game minimal --set web=false --name a "+
		"--set nats-nkey=%[1]s/keys/server.nk --set node-listen=%[2]s --set node-users=%[1]s/keys/users.txt --set node-cert=%[1]s/cert.pem --set node-key=%[1]s/key.pem --set node-ca=%[1]s/ca.pem", dir, l.Addr()))
	background(t, "listening on ", fmt.Sprintf("serve --durability replicated --listen 127.0.0.1:0 --dir %[1]s/b --tokens %[1]s/tokens.txt --game minimal --set web=false --name b --matches 0", dir)+asKeys(as("server")))
	mirror := background(t, "mirror at ", fmt.Sprintf("mirror --listen 127.0.0.1:0 --nats-cert %[1]s/cert.pem --nats-key %[1]s/key.pem", dir)+as("mirror"))
	for url, flag := range map[string]string{server + "/": "node-cert", mirror: "nats-cert"} {
		if text := get(t, url+"metrics"); !strings.Contains(text, fmt.Sprintf("\nsamestep_certificate_seconds{flag=%q} ", flag)) {
			t.Errorf("got no expiry of --%s in %s", flag, text)
		}
	}
	command(t, 0, "status"+as("operator"), "a-", "b-", "match-1")
	command(t, 0, "status"+as("server"), "match-1")
	answer, err := http.Get(mirror + "matches/match-1")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("the mirror does not find the match: %s", answer.Status)
	}
	command(t, 0, "farm submit --build x"+as("operator")+" "+replays(t), "5 queued")
	command(t, 0, "farm work --build x --until-empty"+as("worker"), "torn.ssr")
	command(t, 0, "farm watch --build x"+as("operator"), "4 ok, 1 torn")
	command(t, 4, "farm results --build x"+as("operator"), "4 ok, 1 torn")
	command(t, 1, "farm forget --build x"+as("worker"))
	command(t, 0, "farm forget --build x"+as("operator"), "removed 5 results and 0 jobs")
	for _, role := range []string{"operator", "server"} {
		command(t, 0, "index --dir "+dir+as(role)+" nats:", "0 files in")
	}
	// Others are refused.
	command(t, 1, "status"+as("worker"))
	command(t, 1, "status --nats "+url+" --nats-ca "+dir+"/ca.pem", "Authorization Violation")
	command(t, 1, "status --nats "+url+" --nats-nkey "+dir+"/keys/operator.nk", "certificate")
	command(t, 1, "status --nats "+url+" --nats-ca "+dir+"/other.pem --nats-nkey "+dir+"/keys/operator.nk", "certificate")
}

// tokens writes the tokens of a match into a folder.
func tokens(t *testing.T, dir string) {
	t.Helper()
	list := "admin - ops - ops-ops-ops-ops-ops-ops\n"
	for seat := range 4 {
		list += fmt.Sprintf("player %d p%d - the-player-of-seat-%d\n", seat, seat, seat)
	}
	if err := os.WriteFile(filepath.Join(dir, "tokens.txt"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
}

// background runs a command line until the test ends, and returns what follows a prefix in what it prints.
func background(t *testing.T, prefix, line string) string {
	t.Helper()
	found, _ := stoppable(t, prefix, line)
	return found
}

// stoppable is background with a function that ends the command line.
func stoppable(t *testing.T, prefix, line string) (found string, stop func()) {
	t.Helper()
	return stoppableWith(t, prefix, line, games.All()...)
}

// stoppableWith is stoppable with other games.
func stoppableWith(t *testing.T, prefix, line string, games ...tool.Game) (found string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var out lines
	done := make(chan int, 1)
	go func() {
		done <- clustertool.Run(ctx, append([]string{"samestep-cluster"}, strings.Fields(line)...), &out, &out, games...)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if code := <-done; code != 0 || t.Failed() {
			t.Logf("%s: exit code %d:\n%s", line, code, &out)
		}
	})
	t.Cleanup(stop)
	await(t, line, func() bool {
		_, rest, ok := strings.Cut(out.String(), prefix)
		found, _, _ = strings.Cut(rest, "\n")
		return ok && strings.Contains(rest, "\n")
	})
	return found, stop
}

// lines is what a program prints.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// certificates writes a certificate of a node on loopback and at other addresses, its key, and the authority's into a folder; and
// another authority.
func certificates(t *testing.T, dir string, addresses ...string) {
	t.Helper()
	ips := []net.IP{net.IPv4(127, 0, 0, 1)}
	for _, a := range addresses {
		ips = append(ips, net.ParseIP(a))
	}
	write := func(name, kind string, der []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	make := func(c, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if parent == nil {
			parent, signer = c, key
		}
		c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
		if err == nil {
			c, err = x509.ParseCertificate(der)
		}
		if err != nil {
			t.Fatal(err)
		}
		return c, key
	}
	authority := func() *x509.Certificate {
		return &x509.Certificate{Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	}
	ca, caKey := make(authority(), nil, nil)
	other, _ := make(authority(), nil, nil)
	cert, key := make(&x509.Certificate{
		Subject: pkix.Name{CommonName: "node"}, IPAddresses: ips, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, ca, caKey)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write("ca.pem", "CERTIFICATE", ca.Raw)
	write("other.pem", "CERTIFICATE", other.Raw)
	write("cert.pem", "CERTIFICATE", cert.Raw)
	write("key.pem", "PRIVATE KEY", der)
}

// asKeys returns the flags of a connection as settings of serve.
func asKeys(flags string) string {
	return strings.NewReplacer("--nats-nkey ", "--set nats-nkey=", "--nats-ca ", "--set nats-ca=").Replace(flags)
}

//go:build linux

package clustertool_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/internal/testing/fleet"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// A network is a few hosts: network namespaces, each with a cable to a bridge. The test is at the bridge, too.
type network struct {
	t      *testing.T
	prefix string // of the names of all that is made
	net    string // the first three bytes of all addresses
	hosts  []fleet.Host
}

// newNetwork makes a network until the test ends. Without the right to do so it skips the test.
func newNetwork(t *testing.T, hosts int) *network {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may make network namespaces")
	}
	_, err := exec.LookPath("ip")
	testenv.Or(t, "ip", err)
	n := &network{t: t, prefix: fmt.Sprintf("ss%d", os.Getpid()%1000000), net: fmt.Sprintf("10.199.%d", os.Getpid()%250)}
	if out, err := exec.Command("ip", "netns", "add", n.prefix).CombinedOutput(); err != nil {
		t.Skipf("this machine makes no network namespaces: %s", out)
	}
	n.ip("netns del %s", n.prefix)
	n.ip("link add %s type bridge", n.prefix)
	t.Cleanup(func() { n.ip("link del %s", n.prefix) })
	n.ip("addr add %s.254/24 dev %s", n.net, n.prefix)
	n.ip("link set %s up", n.prefix)
	for i := range hosts {
		n.add(i)
	}
	return n
}

// add adds a host.
func (n *network) add(i int) {
	name, address := n.name(i), n.address(i)
	n.ip("netns add %s", name)
	n.t.Cleanup(func() { n.ip("netns del %s", name) })
	n.ip("link add %s type veth peer name eth0 netns %s", name, name)
	n.ip("link set %s master %s up", name, n.prefix)
	n.ip("-n %s addr add %s/24 dev eth0", name, address)
	n.ip("-n %s link set eth0 up", name)
	n.ip("-n %s link set lo up", name)
	n.hosts = append(n.hosts, fleet.Host{Address: address, Enter: []string{"ip", "netns", "exec", name}})
}

func (n *network) name(i int) string    { return fmt.Sprint(n.prefix, "h", i) }
func (n *network) address(i int) string { return fmt.Sprint(n.net, ".", i+1) }

// ip runs the program of this name.
func (n *network) ip(format string, args ...any) {
	n.t.Helper()
	line := fmt.Sprintf(format, args...)
	if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
		n.t.Errorf("ip %s: %v: %s", line, err, out)
	}
}

// unplug takes the cable of a host out, or puts it back.
func (n *network) unplug(i int, out bool) {
	n.ip("link set %s %s", n.name(i), map[bool]string{true: "down", false: "up"}[out])
}

// part keeps a host and the other ones from reaching each other, or lets them again. The test reaches all.
func (n *network) part(i int, apart bool) {
	verb := map[bool]string{true: "add", false: "del"}[apart]
	for j := range n.hosts {
		if j != i {
			n.ip("-n %s route %s blackhole %s", n.name(i), verb, n.address(j))
			n.ip("-n %s route %s blackhole %s", n.name(j), verb, n.address(i))
		}
	}
}

// fleet returns the options of a fleet with a node and a server at each host, and keys and certificates for them.
func (n *network) fleet(dir string) fleet.Options {
	n.t.Helper()
	certificates(n.t, dir, n.address(0), n.address(1), n.address(2))
	command(n.t, 0, "keys new --dir "+dir+"/keys")
	pool := x509.NewCertPool()
	ca, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err != nil || !pool.AppendCertsFromPEM(ca) {
		n.t.Fatal("no authority", err)
	}
	flags := func(format string) []string { return strings.Fields(strings.ReplaceAll(format, "DIR", dir)) }
	return fleet.Options{
		Dir: dir, Nodes: 3, Servers: 3, Near: true, Hosts: n.hosts,
		NodeFlags: flags("--node-users DIR/keys/users.txt --node-cert DIR/cert.pem --node-key DIR/key.pem --node-ca DIR/ca.pem"),
		ConnFlags: flags("--nats-nkey DIR/keys/server.nk --nats-ca DIR/ca.pem"),
		Dial:      storage.DialOptions{Name: "fleet", Seed: dir + "/keys/server.nk", Role: storage.ServerRole, TLS: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}},
		Flags:     []string{"--set", "trusted-proxy=" + n.net + ".0/24"},
	}
}

// Three hosts have a storage node and a server each. The host of the match's server loses its network; or only the other
// hosts, and keeps its players; or the host whose node leads the match's stream loses its network. No packet says so.
func TestHosts(t *testing.T) {
	overlap(t)
	testenv.Named(t)
	n := newNetwork(t, 3)
	x := besiege(t, n.fleet(t.TempDir()))
	for i := range times(t, 1) {
		host, cut := x.owner(), n.unplug
		switch i % 3 {
		case 1:
			cut = n.part
		case 2:
			host = x.leader("duel")
		}
		x.lose(func(*fleet.Process) {
			cut(host, true)
			x.alone(host)
		})
		t.Logf("%d: %v", i, x.took[len(x.took)-1])
		x.soak(cutTime)
		cut(host, false)
		x.heal()
	}
	x.judge()
}

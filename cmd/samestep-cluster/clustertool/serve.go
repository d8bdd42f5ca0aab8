//go:build !js

package clustertool

import (
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/server"
)

// serveFlags are the flags of serve for a member of a cluster. The last ones mean something without a cluster, too.
func serveFlags() []cli.Flag {
	return append(connectionFlags("")[:1],
		&cli.StringFlag{Name: "name", Usage: "`NAME` of this server in the cluster; the default is that of the machine"},
		&cli.StringFlag{Name: "durability", Value: "interval", Usage: "when replays are synced to the disk: none, interval (each second) or frame (before a tick is sent); replicated makes this server one of a cluster, whose storage has a tick before it is sent"},
	)
}

// serveKeys are the keys of the settings file for a member of a cluster.
func serveKeys() []cli.Flag {
	return slices.Concat(connectionFlags("")[1:], nodeFlags(), []cli.Flag{
		&cli.StringFlag{Name: "address", Usage: "`URL` at which the other servers reach this one; the default is where it listens"},
		&cli.BoolFlag{Name: "redirect", Usage: "redirect requests for matches of other servers to them; otherwise this server passes them on"},
		&cli.StringFlag{Name: "node-dir", Usage: "`FOLDER` of the embedded storage node; the default is storage in dir"},
		&cli.StringFlag{Name: "node-listen", Usage: "`ADDRESS` at which the embedded node serves other servers, mirrors and workers; the default is a free port on loopback"},
		&cli.StringFlag{Name: "node-cluster", Usage: "`ADDRESS` at which the embedded node serves other nodes"},
		&cli.StringFlag{Name: "node-cluster-advertise", Usage: "`ADDRESS` at which the other nodes reach the embedded one, if that is not where it listens"},
		&cli.StringSliceFlag{Name: "node-route", Usage: "`ADDRESS`es of the nodes of the cluster"},
		&cli.UintFlag{Name: "replicas", Value: 1, Usage: "copies of everything that the cluster stores, 1, 3 or 5; the first server decides"},
		&cli.StringFlag{Name: "archive", Usage: "move sealed replays and desync bundles to `PLACE`, a folder, s3://BUCKET/PREFIX, or nats: for the storage of nats, where they can be searched"},
	})
}

// replicated is the --durability of a server in a cluster.
const replicated = "replicated"

// checkOutside refuses flags that need --durability replicated: the server would play outside the cluster, unnoticed.
func checkOutside(c *cli.Context) error {
	known := []string{"durability", "archive"} // which mean something without a cluster
	if c.String("archive") == storageArchive {
		for _, f := range connectionFlags("") {
			known = append(known, f.Names()[0])
		}
	}
	for _, f := range append(serveFlags(), serveKeys()...) {
		if name := f.Names()[0]; c.IsSet(name) && !slices.Contains(known, name) {
			return tool.Wrongf(c, name, "needs --durability %s, got %s: without it this server is in no cluster", replicated, c.String("durability"))
		}
	}
	return nil
}

// A membership is a server's part in a cluster. It implements [tool.Serving].
type membership struct {
	*cluster.Member
	node *storage.Node // nil unless it is embedded
	conn *storage.Conn
}

func serve(c *cli.Context, h tool.Hosting, o *server.Options) (tool.Serving, error) {
	if c.String("durability") != replicated {
		return nil, nil
	}
	m := &membership{}
	if err := m.join(c, h, o); err != nil {
		m.Close(context.Background())
		return nil, err
	}
	o.Replicator, o.Metrics = m.Member, append(o.Metrics, m.Collector())
	if m.node != nil {
		o.Metrics = append(o.Metrics, m.node.Collector())
	}
	return m, nil
}

// checkServe refuses flags that other servers of the cluster would not know, and those of a cluster without one.
func checkServe(c *cli.Context) error {
	for _, name := range []string{"node-listen", "node-cluster", "node-route"} { // the node knows a port where it is advertised without one
		if err := tool.CheckAddress(c, name, ""); err != nil {
			return err
		}
	}
	o := cluster.Options{Name: cmp.Or(c.String("name"), "usual"), Address: "http://usual"}
	if err := o.Check(); err != nil {
		return tool.Wrongf(c, "name", "%v", err)
	}
	o.Address = cmp.Or(c.String("address"), o.Address)
	if err := o.Check(); err != nil {
		return tool.Wrongf(c, "address", "%v", err)
	}
	if err := checkReplicas(c, int(c.Uint("replicas"))); err != nil {
		return err
	}
	switch {
	case c.String("durability") != replicated:
		return checkOutside(c)
	case c.String("dir") == "":
		return tool.Usagef("--durability replicated needs --dir")
	case c.Bool("resume"):
		return tool.Usagef("--resume cannot be used with --durability replicated: servers resume the matches of lost ones by themselves")
	case c.String("nats") != "" && (c.String("node-users") != "" || c.String("node-cert") != ""):
		return tool.Usagef("node-users and node-cert cannot be used with --nats %s: they are for an embedded node", c.String("nats"))
	case c.String("node-users") != "" && c.String("nats-nkey") == "":
		return tool.Usagef("node-users needs nats-nkey, the key with which this server uses its own node")
	case c.String("tokens") == "" && c.String("jwt-key") == "" && c.Uint("guests") == 0 && os.Getenv("SAMESTEP_TOKENS") == "":
		return tool.Usagef("--durability replicated needs --tokens, jwt-key or --guests: other servers do not know generated tokens")
	}
	return nil
}

func checkReplicas(c *cli.Context, n int) error {
	if n != 1 && n != 3 && n != 5 {
		return tool.Wrongf(c, "replicas", "got %d, want 1, 3 or 5", n)
	}
	return nil
}

// nameChars are characters that names of servers do not have.
var nameChars = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// join starts the node, unless there is another one, and joins the cluster.
func (m *membership) join(c *cli.Context, h tool.Hosting, o *server.Options) error {
	name := c.String("name")
	if name == "" {
		host, _ := os.Hostname()
		name = nameChars.ReplaceAllString(host, "-")
		name = name[:min(len(name), 24)]
	}
	t, err := tlsConfig(c)
	if err != nil {
		return err
	}
	measureCertificate(t, o)
	url := c.String("nats")
	if url == "" {
		dir := cmp.Or(c.String("node-dir"), filepath.Join(o.Dir, "storage"))
		m.node, err = startNode(c, storage.NodeOptions{
			Name: name, Dir: dir, Listen: c.String("node-listen"), Log: h.Log,
			Cluster: c.String("node-cluster"), Advertise: c.String("node-cluster-advertise"), Routes: c.StringSlice("node-route"),
		}, "node-listen", "node-cluster")
		if err != nil {
			return err
		}
		url = m.node.URL()
		if t, err = ownNode(c, t); err != nil {
			return err
		}
	}
	starting, refused, started := refusal(c.Context, storage.ServerRole, h.Log)
	defer started()
	m.conn, err = dialWith(c, url, storage.DialOptions{Role: storage.ServerRole, Log: h.Log, TLS: t, Refused: refused})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(starting, setupTime)
	defer cancel()
	if err := m.conn.Setup(ctx, storage.Layout{Replicas: int(c.Uint("replicas"))}); err != nil {
		return cmp.Or(refusedIn(starting), err)
	}
	address := cmp.Or(c.String("address"), h.URL)
	checkAddress(h.Log, address, h.URL, url)
	options := cluster.Options{
		Conn: m.conn, Name: name, Address: address, Dir: o.Dir, Capacity: int(c.Uint("max-matches")), Spec: h.Spec, Redirect: c.Bool("redirect"), Log: h.Log,
	}
	for _, g := range h.Games {
		options.Builds = append(options.Builds, cluster.Build{Game: g.Name(), Build: g.Build()})
	}
	if m.Member, err = cluster.Join(ctx, options); err != nil {
		return err
	}
	h.Log.Info("member of a cluster", "name", name, "address", address, "storage", url)
	return nil
}

// Close implements [tool.Serving].
func (m *membership) Close(ctx context.Context) {
	if m.Member != nil {
		m.Member.Close(ctx)
	}
	if m.conn != nil {
		m.conn.Close()
	}
	if m.node != nil {
		m.node.Stop()
	}
}

// checkAddress warns of an address at which other servers cannot reach this one. A proxy may lead from there to here.
func checkAddress(log *slog.Logger, address, listens, nats string) {
	at, here := hostOf(address), hostOf(listens)
	_, noIP := netip.ParseAddr(at)
	ip, hereNoIP := netip.ParseAddr(here)
	switch {
	case strings.HasPrefix(listens, "unix:") || hereNoIP == nil && ip.Unmap().IsUnspecified():
	case isExposed(at) != isExposed(here) || noIP == nil && hereNoIP == nil && at != here:
		log.Warn("other servers cannot reach this one at address unless a proxy forwards it to where this server listens", "address", address, "listens", listens)
		return
	}
	first, _, _ := strings.Cut(nats, ",")
	if !isExposed(at) && isExposed(hostOf(first)) {
		log.Warn("other servers cannot reach this one: address is for this machine only", "address", address)
	}
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

//go:build !js

package clustertool

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// A status is what a cluster is doing.
type status struct {
	Servers []cluster.Server `json:"servers"`
	Matches []matchStatus    `json:"matches"`
	storageStatus
}

// A matchStatus is a match in the directory, with what its server says about it.
type matchStatus struct {
	cluster.Match
	Live *liveMatch `json:"live,omitempty"` // nil if the server does not answer
}

// A liveMatch is what the server of a match says.
type liveMatch struct {
	State   string        `json:"state"` // recovering, failed, lobby, playing, paused, held or ended
	Held    string        `json:"held,omitempty"`
	Tick    lockstep.Tick `json:"tick"`
	Players int           `json:"players"` // who are there
	Seats   int           `json:"seats"`
}

func statusCommand() *cli.Command {
	return &cli.Command{
		Name:  "status",
		Usage: "show the servers, the matches and the storage of a cluster",
		Description: `Reads the storage, and asks each server for its matches. The columns TICK and PLAYERS are
empty, and STATE is that of the directory, for a match whose server does not answer
this machine. A node leads the streams that it writes, and has copies of others; "storage
status" shows more of them.`,
		Flags: append([]cli.Flag{tool.JSONFlag()}, connectionFlags(localStorage)...),
		Action: func(c *cli.Context) error {
			return connected(c, storage.OperatorRole, func(conn *storage.Conn) error { return showStatus(c, conn) })
		},
	}
}

func showStatus(c *cli.Context, conn *storage.Conn) error {
	ctx, cancel := context.WithTimeout(c.Context, 10*time.Second)
	defer cancel()
	servers, matches, err := cluster.Read(ctx, conn)
	if err != nil {
		return err
	}
	asking, cancel := context.WithTimeout(ctx, 2*time.Second) // the servers
	defer cancel()
	statuses := cluster.Statuses(asking, servers)
	s := status{Servers: servers}
	if s.Status, err = conn.Status(ctx); err != nil {
		return err
	}
	s.Faults = s.Status.Faults()
	for _, m := range matches {
		one := matchStatus{Match: m}
		if v, ok := statuses[m.ID]; ok {
			one.Live = &liveMatch{State: v.State, Held: v.Held, Tick: v.Tick, Seats: int(v.Settings.Players)}
			for _, p := range v.Players {
				if p.State == "playing" || p.State == "bot" {
					one.Live.Players++
				}
			}
		}
		s.Matches = append(s.Matches, one)
	}
	return tool.Tell(c, s, func(w io.Writer) { s.print(c, w) }, nil)
}

func (s *status) print(c *cli.Context, w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SERVER\tADDRESS\tMATCHES\tROOM FOR\t")
	for _, x := range s.Servers {
		note := ""
		if x.Draining {
			note = "draining"
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\n", x.Name, x.Address, x.Matches, max(0, x.Capacity-x.Matches), note)
	}
	fmt.Fprintln(t, "\nMATCH\tSERVER\tSTATE\tTICK\tPLAYERS\tTERM\tGAME\tBUILD\t")
	for _, m := range s.Matches {
		state, tick, players, note := string(m.State), "", "", m.Failure
		if m.Live != nil {
			state, tick, players = m.Live.State, fmt.Sprint(m.Live.Tick), fmt.Sprintf("%d of %d", m.Live.Players, m.Live.Seats)
			note = cmp.Or(note, m.Live.Held)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", m.Name, m.Server, state, tick, players, m.Term, m.Game, m.Build, note)
	}
	fmt.Fprintln(t)
	printNodes(t, s.Status)
	t.Flush()
	printFaults(c, w, s.Status)
}

func storageCommand() *cli.Command {
	return &cli.Command{
		Name:  "storage",
		Usage: "run a storage node without a server",
		Description: `Runs an embedded NATS server with JetStream until it is interrupted. Three of them on
three machines lose nothing when one is lost. Use an existing NATS instead, if you have
one: the servers need only its URL. At an address that other machines reach, it needs
--node-users, and for other nodes certificates (--node-cert, --node-key, --node-ca).`,
		Flags: slices.Concat(tool.FromEnvironment(slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "name", Usage: "`NAME` of the node, unique in the cluster"},
			&cli.StringFlag{Name: "dir", Value: "storage", Usage: "`FOLDER` of its files"},
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:4222", Usage: "`ADDRESS` for servers, mirrors and workers"},
			&cli.StringFlag{Name: "cluster", Usage: "`ADDRESS` for the other nodes"},
			&cli.StringFlag{Name: "cluster-advertise", Usage: "`ADDRESS` at which the other nodes reach this one, if that is not where it listens: behind NAT, or in a container"},
			&cli.StringSliceFlag{Name: "route", Usage: "`ADDRESS` of a node of the cluster; repeat the flag for each, this one may be among them"},
			&cli.StringFlag{Name: "metrics", Usage: "serve /metrics, /healthz and /readyz on `ADDRESS`, for operators only"},
			tool.SettingsFlag(),
		}, tool.LogFlags())), nodeFlags()),
		Action: runStorage,
		Subcommands: []*cli.Command{
			storageStatusCommand(),
			changeCommand("add", "NAME", "give a new or drained node its share of the copies",
				`Start the node first, with routes to the others. The verb waits for the node, and moves
copies to it, one at a time, until all nodes have about the same number.`,
				func(ctx context.Context, conn *storage.Conn, a []string, tell func(storage.Progress)) (string, error) {
					return "node " + a[0] + " has its share", conn.AddNode(ctx, a[0], tell)
				}),
			changeCommand("replace", "OLD NEW", "replace a node that is lost or to be removed",
				`Start the node NEW first. OLD then no longer counts toward the majority, and its copies
are made again. A node that was started with the name of the lost one and an empty folder
has replaced it already: "replace b b" waits until it has all copies.`,
				func(ctx context.Context, conn *storage.Conn, a []string, tell func(storage.Progress)) (string, error) {
					done := "node " + a[1] + " has all copies"
					if a[0] != a[1] {
						done = fmt.Sprintf("node %s has taken the place of %s, which must not be started again with its name", a[1], a[0])
					}
					return done, conn.ReplaceNode(ctx, a[0], a[1], tell)
				}),
			changeCommand("remove", "NAME", "take a node out of the cluster, alive or lost",
				`Moves its copies to the other nodes; then it no longer counts toward the majority. At
least as many nodes must remain as streams have copies. Stop its program afterwards.`,
				func(ctx context.Context, conn *storage.Conn, a []string, tell func(storage.Progress)) (string, error) {
					return "node " + a[0] + " is removed; stop its program", conn.RemoveNode(ctx, a[0], tell)
				}),
			changeCommand("drain", "NAME", "move all copies off a node that stays in the cluster",
				`The node can then be stopped for as long as you like. "storage add" gives it copies again.
At least as many other nodes must be alive as streams have copies.`,
				func(ctx context.Context, conn *storage.Conn, a []string, tell func(storage.Progress)) (string, error) {
					return "node " + a[0] + " has no copies", conn.DrainNode(ctx, a[0], tell)
				}),
		},
	}
}

func runStorage(c *cli.Context) error {
	if c.String("name") == "" {
		return tool.Usagef("want --name, unique in the cluster")
	}
	for _, name := range []string{"route", "cluster-advertise"} {
		if c.IsSet(name) && c.String("cluster") == "" {
			return tool.Usagef("--%s needs --cluster, the address at which this node listens for the others", name)
		}
	}
	for _, name := range []string{"listen", "cluster", "route", "metrics"} {
		if err := tool.CheckAddress(c, name, ""); err != nil {
			return err
		}
	}
	log, err := tool.NewLog(c)
	if err != nil {
		return err
	}
	ctx, stop := tool.Interruptible(c)
	defer stop()
	node, err := startNode(c, storage.NodeOptions{
		Name: c.String("name"), Dir: c.String("dir"), Listen: c.String("listen"), Log: log,
		Cluster: c.String("cluster"), Advertise: c.String("cluster-advertise"), Routes: c.StringSlice("route"),
	}, "listen", "cluster")
	if err != nil {
		return err
	}
	defer node.Stop()
	if address := c.String("metrics"); address != "" {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return err
		}
		web := server.HTTPServer("", node.Handler())
		defer web.Close()
		go web.Serve(l)
		fmt.Fprintf(c.App.Writer, "metrics at http://%s/metrics\n", l.Addr())
	}
	fmt.Fprintf(c.App.Writer, "storage at %s\n", node.URL())
	<-ctx.Done()
	return nil
}

// changeCommand returns a verb that changes the nodes of the storage, and waits until all streams are whole.
func changeCommand(name, args, usage, description string, change func(ctx context.Context, conn *storage.Conn, args []string, tell func(storage.Progress)) (done string, err error)) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, ArgsUsage: args,
		Description: description + `
It prints its progress, and ends when every stream has all its copies. After an interrupt
or the deadline, the storage finishes what has begun.`,
		Flags: append([]cli.Flag{
			tool.JSONFlag(),
			&cli.DurationFlag{Name: "deadline", Value: 10 * time.Minute, Usage: "fail after `TIME`"},
		}, connectionFlags(localStorage)...),
		Action: func(c *cli.Context) error {
			return connected(c, storage.OperatorRole, func(conn *storage.Conn) error {
				ctx, cancel := context.WithTimeout(c.Context, c.Duration("deadline"))
				defer cancel()
				done, err := change(ctx, conn, c.Args().Slice(), tellChange(c))
				if err == nil && !c.Bool("json") {
					fmt.Fprintln(c.App.Writer, done)
				}
				return err
			})
		},
	}
}

// tellChange returns what prints how far a change is, if there is news.
func tellChange(c *cli.Context) func(storage.Progress) {
	var last storage.Progress
	return func(p storage.Progress) {
		if p == last {
			return
		}
		last = p
		if c.Bool("json") {
			_ = json.NewEncoder(c.App.Writer).Encode(p)
			return
		}
		line := fmt.Sprintf("%d of %d streams are whole", p.Whole, p.Streams)
		switch {
		case p.Streams == 0 && p.Waiting != "":
			line = "waiting for " + p.Waiting
		case p.Waiting != "":
			line += "; " + p.Waiting
		}
		fmt.Fprintln(c.App.Writer, line)
	}
}

func storageStatusCommand() *cli.Command {
	return &cli.Command{
		Name:  "status",
		Usage: "show the storage's nodes and streams, and each fault with the command that mends it",
		Description: `Asks all nodes and streams. It takes the first address of --nats that reaches a majority of
the nodes; without a majority it shows what the node at the first address knows.`,
		Flags: append([]cli.Flag{tool.JSONFlag()}, connectionFlags(localStorage)...),
		Action: func(c *cli.Context) error {
			return connected(c, storage.OperatorRole, func(conn *storage.Conn) error {
				ctx, cancel := context.WithTimeout(c.Context, 10*time.Second)
				defer cancel()
				s, err := conn.Status(ctx)
				if err != nil {
					return err
				}
				return tool.Tell(c, storageStatus{s, s.Faults()}, func(w io.Writer) { printStorage(c, w, s) }, nil)
			})
		},
	}
}

// A storageStatus is the storage with what is wrong.
type storageStatus struct {
	*storage.Status
	Faults []storage.Fault `json:"faults"`
}

func printStorage(c *cli.Context, w io.Writer, s *storage.Status) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	printNodes(t, s)
	if len(s.Streams) > 0 {
		fmt.Fprintln(t, "\nSTREAM\tCOPIES\tLEADER\tBEHIND\t")
	}
	for _, x := range s.Streams {
		behind := uint64(0)
		for _, k := range x.Copies {
			behind = max(behind, k.Behind)
		}
		copies := fmt.Sprintf("%d of %d", max(0, x.Replicas-x.Missing()), x.Replicas)
		if x.Problem != "" {
			copies = "?"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\n", x.Name, copies, x.Leader, behind, x.Problem)
	}
	t.Flush()
	printFaults(c, w, s)
}

func printNodes(w io.Writer, s *storage.Status) {
	fmt.Fprintln(w, "NODE\tSTATE\tLEADS\tCOPIES\tBEHIND\tFREE\t")
	for _, n := range s.Nodes {
		state, free := "alive", ""
		switch {
		case !n.Alive && n.Unseen > 0:
			state = "dead since " + n.Unseen.Round(time.Second).String()
		case !n.Alive:
			state = "dead"
		case n.Problem != "":
			state = "stores nothing"
		}
		if n.Free >= 0 {
			free = fmt.Sprintf("%.1f GiB", float64(n.Free)/(1<<30))
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\t\n", n.Name, state, n.Leads, n.Copies, n.Behind, free)
	}
}

// printFaults prints what is wrong, and what to do about it.
func printFaults(c *cli.Context, w io.Writer, s *storage.Status) {
	for _, f := range s.Faults() {
		fmt.Fprintf(w, "\n%s\n  %s", f.What, f.Do)
		if len(f.Verb) > 0 {
			fmt.Fprintf(w, ":\n    %s storage %s", c.App.Name, strings.Join(f.Verb, " "))
			for _, f := range connectionFlags(localStorage) {
				if name := f.Names()[0]; c.IsSet(name) {
					fmt.Fprintf(w, " --%s %s", name, c.String(name))
				}
			}
		}
		fmt.Fprintln(w)
	}
}

//go:build !js

package clustertool

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
)

func storageStatusCommand() *cli.Command {
	return &cli.Command{
		Name:  "status",
		Usage: "show the nodes and the streams of the storage, what is wrong, and what to type",
		Description: `Asks all nodes and streams. It takes the first address of --nats that reaches a majority of
the nodes; without a majority it shows what the node at the first address knows.`,
		Flags: append([]cli.Flag{tool.JSONFlag()}, connectionFlags(localStorage)...),
		Action: func(c *cli.Context) error {
			return connected(c, storage.OperatorRole, func(conn *storage.Conn) error {
				ctx, cancel := context.WithTimeout(c.Context, statusTime)
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

// statusTime is how long the storage may take to say what it is.
const statusTime = 10 * time.Second

// printStorage prints all that is known of the storage.
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

// printNodes prints a line for each node.
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
			fmt.Fprintf(w, ":\n    %s storage %s%s", c.App.Name, strings.Join(f.Verb, " "), givenConnection(c))
		}
		fmt.Fprintln(w)
	}
}

// givenConnection returns the flags of the command line that say where the storage is and who connects.
func givenConnection(c *cli.Context) string {
	var b strings.Builder
	for _, f := range connectionFlags(localStorage) {
		if name := f.Names()[0]; c.IsSet(name) {
			fmt.Fprintf(&b, " --%s %s", name, c.String(name))
		}
	}
	return b.String()
}

//go:build !js

package clustertool

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/lockstep/cluster"
	"github.com/seed-49bee653/samestep/lockstep/cluster/storage"
)

// A status is what a cluster is doing.
type status struct {
	Servers []cluster.Server `json:"servers"`
	Matches []cluster.Match  `json:"matches"`
}

func statusCommand() *cli.Command {
	return &cli.Command{
		Name:  "status",
		Usage: "show the servers and the matches of a cluster",
		Flags: append([]cli.Flag{tool.JSONFlag()}, connectionFlags(localStorage)...),
		Action: func(c *cli.Context) error {
			conn, err := dial(c, c.String("nats"), storage.OperatorRole)
			if err != nil {
				return err
			}
			defer conn.Close()
			ctx, cancel := context.WithTimeout(c.Context, 10*time.Second)
			defer cancel()
			var s status
			s.Servers, s.Matches, err = cluster.Read(ctx, conn)
			if err != nil {
				return err
			}
			return tool.Tell(c, s, s.print, nil)
		},
	}
}

// print prints the status for people.
func (s *status) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	defer t.Flush()
	fmt.Fprintln(t, "SERVER\tADDRESS\tMATCHES\tROOM FOR\t")
	for _, x := range s.Servers {
		note := ""
		if x.Draining {
			note = "draining"
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\n", x.Name, x.Address, x.Matches, max(0, x.Capacity-x.Matches), note)
	}
	fmt.Fprintln(t, "\nMATCH\tSERVER\tSTATE\tTERM\tGAME\tBUILD\t")
	for _, m := range s.Matches {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", m.Name, m.Server, m.State, m.Term, m.Game, m.Build, m.Failure)
	}
}

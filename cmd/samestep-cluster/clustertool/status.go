//go:build !js

package clustertool

import (
	"cmp"
	"context"
	"fmt"
	"io"
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

// answerTime is how long servers may take to say what their matches do.
const answerTime = 2 * time.Second

func showStatus(c *cli.Context, conn *storage.Conn) error {
	ctx, cancel := context.WithTimeout(c.Context, 10*time.Second)
	defer cancel()
	servers, matches, err := cluster.Read(ctx, conn)
	if err != nil {
		return err
	}
	asking, cancel := context.WithTimeout(ctx, answerTime)
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
			one.Live = liveOf(&v)
		}
		s.Matches = append(s.Matches, one)
	}
	return tool.Tell(c, s, func(w io.Writer) { s.print(c, w) }, nil)
}

// liveOf shortens a view.
func liveOf(v *server.Status) *liveMatch {
	live := &liveMatch{State: v.State, Held: v.Held, Tick: v.Tick, Seats: int(v.Settings.Players)}
	for _, p := range v.Players {
		if p.State == "playing" || p.State == "bot" {
			live.Players++
		}
	}
	return live
}

// print prints the status for people.
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

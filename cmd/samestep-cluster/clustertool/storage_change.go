//go:build !js

package clustertool

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
)

func storageAddCommand() *cli.Command {
	return changeCommand("add", "NAME", "give a new or drained node its share of the copies",
		`Start the node before, with the routes of the others. It waits for the node, and moves
copies to it, one after the other, until all nodes have about as many.`,
		func(ctx context.Context, conn *storage.Conn, a []string, tell func(storage.Progress)) (string, error) {
			return "node " + a[0] + " has its share", conn.AddNode(ctx, a[0], tell)
		})
}

func storageReplaceCommand() *cli.Command {
	return changeCommand("replace", "OLD NEW", "let a new node take the place of one that is lost, or is to go",
		`Start the node NEW before. OLD counts no more for the majority, and all copies are made
again. A node that was started with the name of the lost one and an empty folder has its
place already: "replace b b" waits until it has all copies.`,
		func(ctx context.Context, conn *storage.Conn, a []string, tell func(storage.Progress)) (string, error) {
			done := "node " + a[1] + " has all copies"
			if a[0] != a[1] {
				done = fmt.Sprintf("node %s has taken the place of %s, which must not be started again with its name", a[1], a[0])
			}
			return done, conn.ReplaceNode(ctx, a[0], a[1], tell)
		})
}

func storageRemoveCommand() *cli.Command {
	return changeCommand("remove", "NAME", "take a node out of the cluster, alive or lost",
		`Moves its copies to the others, and then lets it count no more for the majority. As many
nodes must stay as streams have copies. Stop its program then.`,
		func(ctx context.Context, conn *storage.Conn, a []string, tell func(storage.Progress)) (string, error) {
			return "node " + a[0] + " is removed; stop its program", conn.RemoveNode(ctx, a[0], tell)
		})
}

func storageDrainCommand() *cli.Command {
	return changeCommand("drain", "NAME", "move all copies off a node that stays in the cluster",
		`The node can then be stopped for as long as you like. "storage add" gives it copies again.
As many other nodes must live as streams have copies.`,
		func(ctx context.Context, conn *storage.Conn, a []string, tell func(storage.Progress)) (string, error) {
			return "node " + a[0] + " has no copies", conn.DrainNode(ctx, a[0], tell)
		})
}

// changeCommand returns a verb that changes the nodes of the storage, and waits until all streams are whole.
func changeCommand(name, args, usage, description string, change func(ctx context.Context, conn *storage.Conn, args []string, tell func(storage.Progress)) (done string, err error)) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, ArgsUsage: args,
		Description: description + `
It ends when every stream has all its copies, and prints how far it is meanwhile. What it
has begun goes on if it is interrupted, or the deadline is over.`,
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

//go:build !js

package clustertool

import (
	"fmt"
	"net"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/server"
)

func storageCommand() *cli.Command {
	return &cli.Command{
		Name:  "storage",
		Usage: "run a storage node without a server",
		Description: `Runs an embedded NATS server with JetStream until it is interrupted. Three of them on
three machines lose nothing when one is lost. Use an existing NATS instead, if you have
one: the servers need only its URL. At an address that other machines reach, it needs
--node-users, and for other nodes certificates (--node-cert, --node-key, --node-ca).`,
		Flags:       storageFlags(),
		Action:      runStorage,
		Subcommands: []*cli.Command{storageStatusCommand(), storageAddCommand(), storageReplaceCommand(), storageRemoveCommand(), storageDrainCommand()},
	}
}

func storageFlags() []cli.Flag {
	return slices.Concat(tool.FromEnvironment(slices.Concat([]cli.Flag{
		&cli.StringFlag{Name: "name", Usage: "`NAME` of the node, unique in the cluster"},
		&cli.StringFlag{Name: "dir", Value: "storage", Usage: "`FOLDER` of its files"},
		&cli.StringFlag{Name: "listen", Value: "127.0.0.1:4222", Usage: "`ADDRESS` for servers, mirrors and workers"},
		&cli.StringFlag{Name: "cluster", Usage: "`ADDRESS` for the other nodes"},
		&cli.StringFlag{Name: "cluster-advertise", Usage: "`ADDRESS` at which the other nodes reach this one, if that is not where it listens: behind NAT, or in a container"},
		&cli.StringSliceFlag{Name: "route", Usage: "`ADDRESS` of a node of the cluster; repeat the flag for each, this one may be among them"},
		&cli.StringFlag{Name: "metrics", Usage: "serve /metrics, /healthz and /readyz on `ADDRESS`, for operators only"},
		tool.SettingsFlag(),
	}, tool.LogFlags())), nodeFlags())
}

// runStorage runs a node until it is interrupted.
func runStorage(c *cli.Context) error {
	if c.String("name") == "" {
		return tool.Usagef("want --name, unique in the cluster")
	}
	for _, name := range []string{"route", "cluster-advertise"} {
		if c.IsSet(name) && c.String("cluster") == "" {
			return tool.Usagef("--%s needs --cluster, the address at which this node listens for the others", name)
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

package cluster_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os"

	"github.com/seed-49bee653/samestep/cluster"
	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// A server is a member of a cluster, whose storage is a node in the same process.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "cluster")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	node, err := storage.StartNode(storage.NodeOptions{Name: "node", Dir: dir + "/storage"})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Stop()
	conn, err := storage.Dial(node.URL(), storage.DialOptions{Name: "a"})
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Setup(ctx, storage.Layout{}); err != nil {
		log.Fatal(err)
	}

	game := lockstep.MustGame(minimal.Rules())
	var member *cluster.Member
	member, err = cluster.Join(ctx, cluster.Options{
		Conn: conn, Name: "a", Address: "http://127.0.0.1:8766", Dir: dir,
		Builds: []cluster.Build{{Game: game.Name(), Build: game.Build()}},
		Spec: func(string, *lockstep.Header, *replay.Rules) (server.MatchSpec, error) {
			return server.MatchSpec{Game: game}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer member.Close(ctx)
	s, err := server.New(server.Options{Dir: dir, Replicator: member, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	member.Serve(s)
	defer s.Shutdown(ctx)
	_ = member.Handler(s) // for http.ListenAndServe
	var _ http.Handler = s

	if _, err := s.Create(server.MatchSpec{Name: "duel", Game: game, Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 9, Coins: 9}}); err != nil {
		log.Fatal(err)
	}
	var servers []cluster.Server
	var matches []cluster.Match
	if servers, matches, err = cluster.Read(ctx, conn); err != nil {
		log.Fatal(err)
	}
	var state ownership.State = matches[0].State
	fmt.Println(len(servers), "server;", matches[0].Name, state, "in term", matches[0].Term)
	// Output:
	// 1 server; duel playing in term 1
}

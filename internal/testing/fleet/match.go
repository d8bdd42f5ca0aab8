//go:build unix

package fleet

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Create creates a match by a request to a server, which may place it at another one.
func (f *Fleet) Create(ctx context.Context, at *Process, name string, seats int) error {
	return f.CreateWith(ctx, at, name, seats, nil)
}

// CreateWith is Create with a configuration of the game, unless that is nil.
func (f *Fleet) CreateWith(ctx context.Context, at *Process, name string, seats int, config any) error {
	wanted := map[string]any{"name": name, "game": f.o.Game, "players": seats, "start": "now"}
	if config != nil {
		wanted["config"] = config
	}
	body, err := json.Marshal(wanted)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.URL+"/matches", bytes.NewReader(body))
	if err != nil {
		return err
	}
	_, err = f.do(r)
	return err
}

// End ends a match.
func (f *Fleet) End(ctx context.Context, at *Process, name string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, at.URL+"/matches/"+name, nil)
	if err != nil {
		return err
	}
	_, err = f.do(r)
	return err
}

// do sends a request as the admin.
func (f *Fleet) do(r *http.Request) ([]byte, error) {
	r.Header.Set("Authorization", "Bearer "+adminToken)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= 300 {
		err = fmt.Errorf("fleet: %s %s: %s: %s", r.Method, r.URL, answer.Status, text)
	}
	return text, err
}

// Owner returns the entry of a match in the directory, and the index of its server, or -1 if it has none now.
func (f *Fleet) Owner(ctx context.Context, name string) (e cluster.Match, server int, err error) {
	kv, err := f.Conn.JS.KeyValue(ctx, storage.MatchesBucket)
	if err != nil {
		return e, -1, err
	}
	entry, err := kv.Get(ctx, name)
	if err == nil {
		err = json.Unmarshal(entry.Value(), &e)
	}
	if err != nil {
		return e, -1, err
	}
	for i, s := range f.Servers {
		if len(e.Server) > len(s.Name) && e.Server[:len(s.Name)+1] == s.Name+"-" {
			return e, i, nil
		}
	}
	return e, -1, nil
}

// Leader returns the index of the node that leads the stream with the log of a match.
func (f *Fleet) Leader(ctx context.Context, id string) (int, error) {
	var match lockstep.MatchID
	if _, err := hex.Decode(match[:], []byte(id)); err != nil {
		return -1, err
	}
	name, _ := f.Conn.LogOf(match)
	stream, err := f.Conn.JS.Stream(ctx, name)
	if err != nil {
		return -1, err
	}
	info, err := stream.Info(ctx)
	if err != nil {
		return -1, err
	}
	for i, n := range f.Nodes {
		if info.Cluster != nil && info.Cluster.Leader == n.Name {
			return i, nil
		}
	}
	return -1, errors.New("fleet: the stream has no leader")
}

// Settled reports whether every server has its lease, and every stream all its copies.
func (f *Fleet) Settled(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	servers, _, err := cluster.Read(ctx, f.Conn)
	if err != nil || len(servers) != len(f.Servers) {
		return false
	}
	streams := []string{"KV_" + storage.ServersBucket, "KV_" + storage.MatchesBucket}
	for i := range 256 {
		name, _ := f.Conn.LogOf(lockstep.MatchID{byte(i)})
		streams = append(streams, name)
	}
	slices.Sort(streams)
	for _, name := range slices.Compact(streams) {
		stream, err := f.Conn.JS.Stream(ctx, name)
		if err != nil || !f.complete(stream.CachedInfo().Cluster) {
			return false
		}
	}
	return true
}

// complete reports whether a stream has a leader, and all its other copies, which have all.
func (f *Fleet) complete(c *jetstream.ClusterInfo) bool {
	if f.o.Nodes == 1 {
		return true
	}
	if c == nil || c.Leader == "" || len(c.Replicas) != f.o.Nodes-1 {
		return false
	}
	for _, r := range c.Replicas {
		if r.Offline || !r.Current {
			return false
		}
	}
	return true
}

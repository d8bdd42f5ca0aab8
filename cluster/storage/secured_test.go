package storage_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

func TestMain(m *testing.M) {
	testenv.Overlap(8)
	m.Run()
	stopShared()
}

// A secured is a node with a user of each role.
type secured struct {
	node  *storage.Node
	seeds map[storage.Role]string // paths
}

func newSecured(t *testing.T) *secured {
	t.Helper()
	s := &secured{seeds: make(map[storage.Role]string)}
	var users []storage.User
	for _, r := range storage.Roles {
		u, seed, err := storage.NewUser(r)
		if err != nil {
			t.Fatal(err)
		}
		users = append(users, u)
		s.seeds[r] = filepath.Join(t.TempDir(), string(r))
		if err := os.WriteFile(s.seeds[r], seed, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if s.node, err = storage.StartNode(storage.NodeOptions{Name: "a", Dir: t.TempDir(), Users: users}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.node.Stop)
	if err := s.dial(t, storage.ServerRole).Setup(within(t, 20*time.Second), storage.Layout{Streams: 2}); err != nil {
		t.Fatal(err)
	}
	return s
}

// dial connects as a role.
func (s *secured) dial(t *testing.T, r storage.Role) *storage.Conn {
	t.Helper()
	conn, err := storage.Dial(s.node.URL(), storage.DialOptions{Name: string(r), Seed: s.seeds[r], Role: r})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// within returns a context with a time limit.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// A content says how many messages a stream has, and which is the last one that it has had.
type content struct{ messages, last uint64 }

// contents returns what each stream has, as a server sees it.
func contents(t *testing.T, conn *storage.Conn) map[string]content {
	t.Helper()
	all := make(map[string]content)
	for _, name := range streams {
		s, err := conn.JS.Stream(within(t, 5*time.Second), name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			continue
		}
		if err != nil {
			t.Fatal(name, err)
		}
		state := s.CachedInfo().State
		if name == "KV_"+storage.ServersBucket {
			state.Msgs = 0 // leases run out
		}
		all[name] = content{state.Msgs, state.LastSeq}
	}
	return all
}

// streams are all streams of a new storage.
var streams = []string{
	"samestep-log-0", "samestep-log-1", "samestep-log-2", "samestep-log-3", "samestep-log-segments", "KV_" + storage.ServersBucket, "KV_" + storage.MatchesBucket, "KV_" + storage.DeniedBucket,
	"KV_" + storage.ResultsBucket, storage.JobsStream, "OBJ_" + storage.ReplaysBucket,
}

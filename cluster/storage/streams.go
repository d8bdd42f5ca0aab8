package storage

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A Stream says where the copies of a stream are.
type Stream struct {
	Name     string `json:"name"`
	Replicas int    `json:"replicas"`         // copies that it should have
	Leader   string `json:"leader,omitempty"` // node that writes it; "" without a majority of the copies
	Copies   []Copy `json:"copies"`           // besides the leader's
	Problem  string `json:"problem,omitempty"`
}

// A Copy is a copy of a stream on a node.
type Copy struct {
	Node    string `json:"node"`
	Offline bool   `json:"offline,omitempty"`
	Current bool   `json:"current,omitempty"` // it has everything
	Behind  uint64 `json:"behind,omitempty"`  // operations that it does not have yet
}

// maxBehind is how many operations a copy may be behind and count as one: that of a busy stream always is a few.
const maxBehind = 1000

// Missing returns how many copies are missing: are not there, offline, or far behind. A stream without a leader has lost at least a majority.
func (s *Stream) Missing() int {
	if s.Leader == "" {
		return s.Replicas/2 + 1
	}
	missing := s.Replicas - 1
	for _, c := range s.Copies {
		if !c.Offline && (c.Current || c.Behind > 0 && c.Behind <= maxBehind) {
			missing--
		}
	}
	return max(0, missing)
}

// on reports whether a node has a copy, or makes one.
func (s *Stream) on(node string) bool {
	return s.Leader == node || slices.ContainsFunc(s.Copies, func(c Copy) bool { return c.Node == node })
}

// unfinished returns how many copies are not there with everything.
func (s *Stream) unfinished() int {
	if s.Leader == "" {
		return s.Replicas
	}
	n := s.Replicas - 1
	for _, c := range s.Copies {
		if !c.Offline && c.Current {
			n--
		}
	}
	return max(0, n)
}

// whole reports whether every copy is there and has everything.
func (s *Stream) whole() bool {
	return s.Leader != "" && len(s.Copies) == s.Replicas-1 && !slices.ContainsFunc(s.Copies, func(c Copy) bool { return c.Offline || !c.Current })
}

// infoTime is how long the storage may take to say where a stream is.
const infoTime = 2 * time.Second

// Streams returns where the copies of all streams are. A role that may set up the storage may ask for it.
func (c *Conn) Streams(ctx context.Context) []Stream {
	ctx, cancel := context.WithTimeout(ctx, infoTime)
	defer cancel()
	names := expand("{all}")
	found := make([]*Stream, len(names))
	var asking sync.WaitGroup
	logs := MaxStreams
	asking.Go(func() {
		if n, _, err := c.readLayout(ctx); err == nil {
			logs = n
		}
	})
	for i, name := range names {
		asking.Go(func() { found[i] = c.stream(ctx, name) })
	}
	asking.Wait()
	var all []Stream
	for i, s := range found {
		if s != nil && (s.Problem == "" || i < logs || i >= MaxStreams) { // names begins with the logs'
			all = append(all, *s)
		}
	}
	return all
}

// stream returns where a stream is, or nil if there is none.
func (c *Conn) stream(ctx context.Context, name string) *Stream {
	s, err := c.JS.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err != nil {
		return &Stream{Name: name, Problem: err.Error()}
	}
	info := s.CachedInfo()
	found := &Stream{Name: name, Replicas: info.Config.Replicas}
	if info.Cluster != nil {
		found.Leader = info.Cluster.Leader
		for _, r := range info.Cluster.Replicas {
			found.Copies = append(found.Copies, Copy{r.Name, r.Offline, r.Current, r.Lag})
		}
	}
	return found
}

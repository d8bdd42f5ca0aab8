package storage

import (
	"context"
	"errors"
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
	Behind  uint64 `json:"behind,omitempty"` // operations that it does not have yet
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
	for i, name := range names {
		asking.Go(func() { found[i] = c.stream(ctx, name) })
	}
	asking.Wait()
	var all []Stream
	for _, s := range found {
		if s != nil {
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
			found.Copies = append(found.Copies, Copy{r.Name, r.Offline, r.Lag})
		}
	}
	return found
}

package storage

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"
)

const (
	// lookEvery is the time between two looks whether the server of a node still stores.
	lookEvery = time.Second

	// startAgain is the least time between two starts of a server.
	startAgain = 5 * time.Second

	// room is how many bytes must fit on the disk before a server is started again.
	room = 4 << 20
)

// watch starts the server of the node again after its disk was full. A NATS server whose write has failed stores nothing
// any more, however much room there is, until it is restarted.
func (n *Node) watch() {
	defer close(n.ended)
	for n.pause(lookEvery) {
		why := failure(n.now())
		if why == "" {
			continue
		}
		n.options.Log.Error("the storage node stores nothing any more", "node", n.options.Name, "err", why)
		for !n.hasRoom() {
			if !n.pause(lookEvery) {
				return
			}
		}
		n.now().Shutdown()
		n.now().WaitForShutdown()
		for {
			err := n.start()
			if err == nil {
				break
			}
			n.options.Log.Error("the storage node does not start again", "node", n.options.Name, "err", err)
			if !n.pause(startAgain) {
				return
			}
		}
		n.options.Log.Info("the storage node stores again", "node", n.options.Name)
		if !n.pause(startAgain) {
			return
		}
	}
}

// pause waits. It reports false when the node is stopped.
func (n *Node) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-n.ctx.Done():
		return false
	}
}

// failure returns why a server stores nothing any more, or not all streams, or "". A cluster whose majority is away is no
// failure of the server: it goes on by itself.
func failure(s *nats.Server) string {
	if !s.JetStreamEnabled() {
		return "JetStream has disabled itself after a failed write"
	}
	for _, e := range s.Healthz(&nats.HealthzOptions{Details: true}).Errors {
		if strings.Contains(e.Error, "write error") {
			return e.Error
		}
	}
	return ""
}

// hasRoom reports whether a file of some size can be written into the node's folder.
func (n *Node) hasRoom() bool {
	path := filepath.Join(n.options.Dir, "room")
	defer os.Remove(path)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	_, err = f.Write(make([]byte, room))
	if err == nil {
		err = f.Sync()
	}
	return f.Close() == nil && err == nil
}

package storage

import (
	"os"
	"path/filepath"
	"strings"

	nats "github.com/nats-io/nats-server/v2/server"
)

const (
	// leastRoom is how many bytes must fit on the disk. A server with less may hang instead of failing, and keep the lead.
	leastRoom = 64 << 10

	// room is how many bytes must fit before a server is started again.
	room = 4 << 20
)

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

// hasRoom reports whether a file of a size can be written into a folder.
func hasRoom(dir string, size int) bool {
	path := filepath.Join(dir, "room")
	defer os.Remove(path)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	_, err = f.Write(make([]byte, size))
	return f.Close() == nil && err == nil
}

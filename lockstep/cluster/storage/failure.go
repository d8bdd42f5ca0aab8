package storage

import (
	"os"
	"path/filepath"
	"strings"

	nats "github.com/nats-io/nats-server/v2/server"
)

// room is how many bytes must fit on the disk before a server is started again.
const room = 4 << 20

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

// hasRoom reports whether a file of some size can be written into a folder.
func hasRoom(dir string) bool {
	path := filepath.Join(dir, "room")
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

//go:build !js

package server_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Nothing of a lobby is lost by a crash of the process, though no tick makes its file grow.
func TestLobbyIsWritten(t *testing.T) {
	inBubble(t, setup{host: host.Options{Start: host.StartPolicy{Players: 2}}}, func(t *testing.T, s *stage) {
		s.join(t, ada, wander)
		eventually(t, "the file tells who is there", func() bool {
			log, err := os.ReadFile(s.match.ReplayPath())
			return err == nil && bytes.Contains(log, []byte(record.TopicPresence))
		})
	})
}

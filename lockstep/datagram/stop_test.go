package datagram_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// When what carried the datagrams has ended, their callers only stop to ask for them: the stream goes on at once, also with what was
// under way, and datagrams come back.
func TestEndOfDatagrams(t *testing.T) {
	m := newMatch(t, 1, host.Options{})
	s := m.join(0, true)
	m.run(5*lockstep.Second + 10*ms) // some are under way
	up, down := s.datagramsUp, s.datagramsDown
	s.datagramsUp, s.datagramsDown = nil, nil
	from := m.now
	m.run(2 * lockstep.Second)
	late := s.late(from - 100*ms)
	if got := late[len(late)-1]; got > 140*ms { // it came with the next tick
		t.Errorf("a tick was %v late, want at most a tick besides the delay", got)
	}
	if s.client.Status().Datagrams || m.host.Stats().ByDatagrams != 0 {
		t.Error("datagrams still count as alive")
	}
	s.datagramsUp, s.datagramsDown = up, down
	m.run(3 * lockstep.Second)
	if !s.client.Status().Datagrams || m.host.Stats().ByDatagrams != 1 {
		t.Error("datagrams are not back")
	}
	m.settle()
}

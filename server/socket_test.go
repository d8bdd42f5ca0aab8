//go:build !js

package server_test

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// Scenario 57 on real sockets with small buffers: spectators that do not read are closed, the memory of the process
// does not grow with unread data, and the players continue.
func TestStalledSockets(t *testing.T) {
	var host host.Options
	host.Lag = 60 // 0.6 s
	host.AckEvery, host.MaxStrikes = 15, 1
	host.IdleTimeout = 1200 * lockstep.Millisecond
	fast := func(s *lockstep.Settings) { s.TickMicros = lockstep.TickPeriod(100) }
	s := newStage(t, setup{host: host, settings: fast, options: server.Options{Limits: server.Limits{MaxPerAddress: 200}}})
	a := s.join(t, ada, wander)
	<-a.Ready()
	before := residentBytes(t)
	const stalled = 50
	for range stalled {
		c, r := s.upgrade(t)
		auth := protocol.NewAuth(s.game)
		auth.Token = press
		var w protocol.Writer
		c.Write(whole(fin|binOp, w.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: auth})))
		if op, _ := readFrame(r); op != binOp { // each is welcomed, and reads no frame more
			t.Fatalf("not welcomed: opcode %d", op)
		}
		if err := c.(*net.TCPConn).SetReadBuffer(1 << 10); err != nil {
			t.Fatal(err)
		}
	}
	at := s.stats(t).Tick
	eventually(t, "they are closed", func() bool { return s.stats(t).Spectators == 0 })
	if after := residentBytes(t); after > before+64<<20 {
		t.Errorf("the process has grown from %d to %d MiB", before>>20, after>>20)
	}
	eventually(t, "the match continues", func() bool { return s.stats(t).Tick > at+100 })
	s.agree(t, a)
}

// residentBytes returns the resident memory of the process.
func residentBytes(t *testing.T) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		testenv.Or(t, "/proc/self/statm", fmt.Errorf("this is %s", runtime.GOOS))
	}
	b, err := os.ReadFile("/proc/self/statm")
	testenv.Or(t, "/proc/self/statm", err)
	pages, err := strconv.Atoi(strings.Fields(string(b))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

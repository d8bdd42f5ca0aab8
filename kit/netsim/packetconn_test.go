package netsim_test

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/kit/netsim"
)

func ExamplePacketConn() {
	here, there := listenUDP(), listenUDP()
	defer here.Close()
	var conn *netsim.PacketConn = netsim.WrapPacket(there, netsim.Link{Delay: 5 * time.Millisecond})
	defer conn.Close()
	here.WriteTo([]byte("late, but there"), conn.LocalAddr())
	b := make([]byte, 64)
	n, from, err := conn.ReadFrom(b)
	fmt.Println(string(b[:n]), from.String() == here.LocalAddr().String(), err)
	// Output: late, but there true <nil>
}

func listenUDP() net.PacketConn {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	return c
}

// A wire keeps the packets that are written to it, and gives none.
type wire struct {
	net.PacketConn
	closed chan struct{}
	mu     sync.Mutex
	came   []bool
}

func newWire() *wire { return &wire{closed: make(chan struct{})} }

func (w *wire) WriteTo(b []byte, _ net.Addr) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.came[len(w.came)-1] = true
	return len(b), nil
}

func (w *wire) ReadFrom([]byte) (int, net.Addr, error) {
	<-w.closed
	return 0, nil, net.ErrClosed
}

// Packets are lost alone or in bursts, as often as the link says; all of them while it is stalled.
func TestLostPackets(t *testing.T) {
	const n = 20_000
	for burst, most := range map[int]int{1: n / 10, 4: n / 40} {
		w := newWire()
		conn := netsim.WrapPacket(w, netsim.Link{Loss: 100_000, Burst: burst, Seed: 5})
		send := func() (lost, runs int) {
			before := true
			for range n {
				w.came = append(w.came, false)
				conn.WriteTo([]byte("x"), nil)
				came := w.came[len(w.came)-1]
				if !came {
					lost++
				}
				if !came && before {
					runs++
				}
				before = came
			}
			return lost, runs
		}
		if lost, runs := send(); lost < n/12 || lost > n/8 || runs > most*5/4 || runs < most/2 {
			t.Errorf("bursts of %d: lost %d of %d packets in %d runs, want a tenth in about %d", burst, lost, n, runs, most)
		}
		conn.Stall(true, false)
		if lost, _ := send(); lost == n {
			t.Error("a stall of the other direction loses all packets")
		}
		conn.Stall(false, true)
		if lost, _ := send(); lost != n {
			t.Errorf("a stall loses %d of %d packets", lost, n)
		}
		close(w.closed)
	}
}

// A burst takes packets to one address, whatever is sent to others between them.
func TestBurstOfAddress(t *testing.T) {
	w := newWire()
	defer close(w.closed)
	conn := netsim.WrapPacket(w, netsim.Link{Loss: 100_000, Burst: 5, Seed: 5})
	runs := [3][]int{}
	var inRun [3]int
	for range 20_000 {
		for i := range inRun {
			w.came = append(w.came, false)
			conn.WriteTo([]byte("x"), &net.UDPAddr{Port: i})
			if !w.came[len(w.came)-1] {
				inRun[i]++
			} else if inRun[i] > 0 {
				runs[i], inRun[i] = append(runs[i], inRun[i]), 0
			}
		}
	}
	for i, all := range runs {
		if len(all) < 100 || slices.Min(all) < 5 {
			t.Errorf("address %d: got %d bursts, the shortest of %d packets, want 100 or more of 5 or more", i, len(all), slices.Min(all))
		}
	}
}

package netsim_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-49bee653/samestep/kit/netsim"
)

func ExampleParse() {
	l, err := netsim.Parse("delay=80ms jitter=20ms loss=1% rate=64KiB seed=7")
	fmt.Println(l, err)
	_, err = netsim.Parse("loss=1")
	fmt.Println(err)
	// Output:
	// delay=80ms jitter=20ms loss=1% rate=65536B seed=7 <nil>
	// netsim: bad link: loss: got 1, want 0% to 90%
}

func ExampleConn() {
	client, server := net.Pipe()
	var conn *netsim.Conn = netsim.Wrap(client, netsim.Link{Delay: 5 * time.Millisecond})
	go io.WriteString(server, "late, but there")
	b := make([]byte, 64)
	n, err := conn.Read(b)
	fmt.Println(string(b[:n]), err)
	conn.Cut()
	_, err = server.Write([]byte("?"))
	fmt.Println(err != nil)
	// Output:
	// late, but there <nil>
	// true
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"delay", "delay=1", "delay=-1s", "delay=2m", "delay=1s delay=2s", "loss=91%", "loss=NaN%", "burst=0", "burst=x", "rate=0", "rate=x", "seed=-1", "speed=3"} {
		if l, err := netsim.Parse(text); !errors.Is(err, netsim.ErrLink) {
			t.Errorf("%s: got %v, %v", text, l, err)
		}
	}
	for _, text := range []string{"", "delay=1s", "loss=10% burst=3", "loss=0.5%", "timeout=300ms", "jitter=1ms rate=10B seed=9"} {
		l, err := netsim.Parse(text)
		if err != nil || l.String() != text {
			t.Errorf("%s: got %q, %v", text, l, err)
		}
	}
}

// send writes bytes in regular intervals, and returns the arrival of each.
func send(t *testing.T, l netsim.Link, count int, every time.Duration) []time.Duration {
	t.Helper()
	client, server := net.Pipe()
	conn := netsim.Wrap(client, l)
	start := time.Now()
	go func() {
		for i := range count {
			conn.Write([]byte{byte(i)})
			time.Sleep(every)
		}
		conn.Close()
	}()
	var at []time.Duration
	b := make([]byte, 1)
	for {
		_, err := io.ReadFull(server, b)
		if err != nil {
			break
		}
		if int(b[0]) != len(at)%256 {
			t.Fatalf("got byte %d in place %d", b[0], len(at))
		}
		at = append(at, time.Since(start))
	}
	if len(at) != count {
		t.Fatalf("%d of %d bytes arrived", len(at), count)
	}
	return at
}

func TestDelayAndJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := send(t, netsim.Link{Delay: 80 * time.Millisecond, Jitter: 20 * time.Millisecond, Seed: 3}, 100, 50*time.Millisecond)
		varied := false
		for i, a := range at {
			late := a - time.Duration(i)*50*time.Millisecond
			if late < 80*time.Millisecond || late > 100*time.Millisecond {
				t.Errorf("byte %d: got a delay of %v, want 80 to 100 ms", i, late)
			}
			varied = varied || late != at[0]
		}
		if !varied {
			t.Error("the delay never varied")
		}
	})
}

// A lost packet arrives later and delays the packets behind it. The same seed loses the same packets.
func TestLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := netsim.Link{Delay: 10 * time.Millisecond, Loss: 100_000, Seed: 5}
		at := send(t, l, 200, 20*time.Millisecond)
		lost := 0
		for i, a := range at {
			if a-time.Duration(i)*20*time.Millisecond >= 220*time.Millisecond {
				lost++
			}
			if i > 0 && a < at[i-1] {
				t.Errorf("byte %d arrived before the previous one", i)
			}
		}
		if lost < 5 || lost > 60 {
			t.Errorf("got %d lost bytes of 200, want about 20", lost)
		}
		again := send(t, l, 200, 20*time.Millisecond)
		for i := range at {
			if at[i] != again[i] {
				t.Fatalf("byte %d arrived after %v, and with the same seed after %v", i, at[i], again[i])
			}
		}
	})
}

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		conn := netsim.Wrap(client, netsim.Link{Rate: 1000})
		go func() {
			conn.Write(make([]byte, 5000))
			conn.Close()
		}()
		start := time.Now()
		n, _ := io.Copy(io.Discard, server)
		if took := time.Since(start); n != 5000 || took < 4*time.Second || took > 6*time.Second {
			t.Errorf("%d bytes took %v at 1000 bytes a second", n, took)
		}
	})
}

// Bytes of a stalled direction arrive after the stall. The other direction is open meanwhile.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		conn := netsim.Wrap(client, netsim.Link{})
		conn.Stall(true, false)
		go conn.Write([]byte("up"))
		go server.Write([]byte("down"))
		b := make([]byte, 8)
		if n, err := conn.Read(b); err != nil || string(b[:n]) != "down" {
			t.Fatalf("got %q, %v", b[:n], err)
		}
		server.SetReadDeadline(time.Now().Add(time.Minute))
		if n, err := server.Read(b); err == nil {
			t.Fatalf("%q arrived during the stall", b[:n])
		}
		server.SetReadDeadline(time.Time{})
		conn.Stall(false, false)
		if n, err := server.Read(b); err != nil || string(b[:n]) != "up" {
			t.Fatalf("got %q, %v", b[:n], err)
		}
		conn.Cut()
		if _, err := conn.Read(b); err == nil {
			t.Error("a cut connection can be read")
		}
	})
}

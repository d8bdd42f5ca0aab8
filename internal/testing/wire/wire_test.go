package wire_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/wire"
	"github.com/seed-49bee653/samestep/kit/netsim"
)

const delay = 30 * time.Millisecond

// What goes through a proxy takes the time of the link, each way.
func TestProxy(t *testing.T) {
	w, err := wire.NewProxy(netsim.Link{Delay: delay})
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp", w.Host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", tcp.Addr().String())
	if err != nil {
		t.Skip(err) // another program has the port
	}
	defer udp.Close()
	near, err := w.Join(tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		c, err := tcp.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		echo(c)
	}()
	go func() {
		b := make([]byte, 64)
		n, from, err := udp.ReadFrom(b)
		if err == nil {
			udp.WriteTo(b[:n], from)
		}
	}()
	for network, address := range map[string]string{"tcp": near, "udp": w.Public} {
		c, err := net.Dial(network, address)
		if err != nil {
			t.Fatal(err)
		}
		from := time.Now()
		if _, err := c.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 64)
		if n, err := c.Read(b); err != nil || string(b[:n]) != "hello" || time.Since(from) < 2*delay {
			t.Errorf("%s: got %q, %v after %v, want an echo after %v", network, b[:n], err, time.Since(from), 2*delay)
		}
		c.Close()
	}
	if up, down := w.Bytes(); up != 10+28+52 || down != up {
		t.Errorf("got %d bytes to the server and %d back, want 90", up, down)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func echo(c net.Conn) {
	b := make([]byte, 64)
	if n, err := c.Read(b); err == nil {
		c.Write(b[:n])
	}
}

// A namespace has another network than this process, and what goes there takes the time of the link.
func TestNamespace(t *testing.T) {
	if os.Getenv("SAMESTEP_NAMESPACES") == "" {
		t.Skip("SAMESTEP_NAMESPACES is not set: browsers in other tests load again when a network comes or goes")
	}
	w, err := wire.NewNamespace(netsim.Link{Delay: delay})
	if errors.Is(err, wire.ErrNamespace) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	from := time.Now()
	if c, err := net.DialTimeout("tcp", w.Host+":9", 10*time.Second); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got %v and %v, want a refusal", c, err)
	}
	if took := time.Since(from); took < 2*delay {
		t.Errorf("it came after %v, want %v or more", took, 2*delay)
	}
	if up, down := w.Bytes(); up < 40 || down < 40 {
		t.Errorf("got %d and %d bytes, want two packets", up, down)
	}
	out, err := exec.Command(w.Enter[0], append(w.Enter[1:], "ip", "-o", "addr")...).Output()
	testenv.Or(t, "ip", err)
	if !strings.Contains(string(out), w.Host) {
		t.Errorf("the namespace has not the address %s:\n%s", w.Host, out)
	}
}

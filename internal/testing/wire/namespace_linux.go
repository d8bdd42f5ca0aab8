package wire

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/seed-49bee653/samestep/kit/netsim"
)

// wires counts the namespaces that this process has made.
var wires atomic.Int32

// A namespace is a wire between two TUN devices, one of them in a network namespace of its own.
type namespace struct {
	wire      Wire
	name      string // of the namespace
	near, far *device
	undo      []string // arguments of ip
}

// NewNamespace returns a wire to a network namespace. The bytes are those of the packets of IP.
func NewNamespace(l netsim.Link) (*Wire, error) {
	i := int(wires.Add(1))
	n := &namespace{name: fmt.Sprintf("sw%d-%d", os.Getpid()%1000000, i)}
	third := (os.Getpid()*8 + i) % 250
	near := fmt.Sprintf("10.198.%d.1", third)
	n.wire.Enter, n.wire.Real = []string{"ip", "netns", "exec", n.name}, true
	n.wire.Host, n.wire.close = fmt.Sprintf("10.198.%d.2", third), n.end
	n.wire.join = func(server string) (string, error) { return server, nil }
	if err := n.open(near); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrNamespace, err), n.end())
	}
	// What the far device sends comes to the near one, and the other way round, late or not at all.
	far := netsim.WrapPacket(n.far, l)
	go carry(n.near, far)
	go carry(far, n.near)
	return &n.wire, nil
}

func carry(from, to net.PacketConn) {
	b := make([]byte, 1<<16)
	for {
		n, flow, err := from.ReadFrom(b)
		if err != nil {
			return
		}
		to.WriteTo(b[:n], flow) // lost if it fails
	}
}

// open makes the namespace and the devices.
func (n *namespace) open(near string) (err error) {
	if err := ip("netns add %s", n.name); err != nil {
		return err
	}
	n.undo = append(n.undo, "netns del "+n.name)
	if n.near, err = openDevice(n.name+"n", &n.wire.toServer); err != nil {
		return err
	}
	if n.far, err = openDevice(n.name+"f", &n.wire.toPlayers); err != nil {
		return err
	}
	inside, d := n.name, n.far.name
	return errors.Join(
		ip("addr add %s peer %s dev %s", near, n.wire.Host, n.near.name),
		ip("link set %s up", n.near.name),
		ip("link set %s netns %s", d, inside), // and it stays ours
		ip("-n %s link set lo up", inside),
		ip("-n %s addr add %s peer %s dev %s", inside, n.wire.Host, near, d),
		ip("-n %s link set %s up", inside, d),
	)
}

func (n *namespace) end() (err error) {
	for _, d := range []*device{n.near, n.far} {
		if d != nil {
			err = errors.Join(err, d.File.Close())
		}
	}
	for _, args := range n.undo {
		err = errors.Join(err, ip("%s", args))
	}
	return err
}

// ip runs the program of this name.
func ip(format string, args ...any) error {
	line := fmt.Sprintf(format, args...)
	if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", line, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// A device is a TUN device: what the system sends through it is read, and what is written arrives. It is a packet connection for
// netsim.
type device struct {
	*os.File
	name string
	sent *atomic.Int64
}

// openDevice makes a device, until it is closed. It counts the bytes that the system sends.
func openDevice(name string, sent *atomic.Int64) (*device, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("/dev/net/tun: %w", err)
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("device %s: %w", name, err), unix.Close(fd))
	}
	return &device{os.NewFile(uintptr(fd), name), name, sent}, nil
}

// ReadFrom implements [net.PacketConn]. The address is the packet's flow.
func (d *device) ReadFrom(b []byte) (int, net.Addr, error) {
	n, err := d.Read(b)
	if err != nil {
		return 0, nil, err
	}
	d.sent.Add(int64(n))
	return n, flowOf(b[:n]), nil
}

// A flow is the protocol, the addresses and the ports of a packet of IPv4. Packets of a flow are lost together.
type flow string

func flowOf(packet []byte) flow {
	if len(packet) < 20 || packet[0]>>4 != 4 {
		return ""
	}
	ports := int(packet[0]&15) * 4 // after the header of IP
	if ports < 20 || len(packet) < ports+4 {
		return ""
	}
	return flow(packet[9:10]) + flow(packet[12:20]) + flow(packet[ports:ports+4])
}

// Network implements [net.Addr].
func (flow) Network() string { return "flow" }

// String implements [net.Addr].
func (f flow) String() string { return string(f) }

// WriteTo implements [net.PacketConn].
func (d *device) WriteTo(b []byte, _ net.Addr) (int, error) { return d.Write(b) }

// LocalAddr implements [net.PacketConn].
func (d *device) LocalAddr() net.Addr { return nil }

package wire

import (
	"errors"
	"io"
	"net"
	"sync"

	"github.com/seed-49bee653/samestep/kit/netsim"
)

// The headers of a packet in bytes: of IPv4 and UDP; and of IPv4 and TCP with its times.
const (
	udpHeaders = 28
	tcpHeaders = 52
)

// A proxy carries packets and streams between players and a server, all on this machine.
type proxy struct {
	wire *Wire
	link netsim.Link
	udp  net.PacketConn // to the players
	tcp  net.Listener

	mu     sync.Mutex
	opened []io.Closer
	closed bool
}

// NewProxy returns a wire in user space. Bytes does not count the packets of TCP that only acknowledge.
func NewProxy(l netsim.Link) (*Wire, error) {
	r := &proxy{wire: &Wire{Host: "127.0.0.1"}, link: l}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r.udp = netsim.WrapPacket(packetCounter{udp, &r.wire.toServer}, l)
	if r.tcp, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, errors.Join(err, udp.Close())
	}
	r.wire.Public, r.wire.join, r.wire.close = udp.LocalAddr().String(), r.join, r.end
	return r.wire, nil
}

func (r *proxy) join(server string) (near string, err error) {
	go r.packets(server)
	go r.streams(server)
	return r.tcp.Addr().String(), nil
}

func (r *proxy) end() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	err := errors.Join(r.udp.Close(), r.tcp.Close())
	for _, c := range r.opened {
		c.Close() // it may have ended before
	}
	return err
}

// keep closes a connection with the proxy. It reports false, and closes it at once, if that has ended.
func (r *proxy) keep(c io.Closer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		c.Close()
		return false
	}
	r.opened = append(r.opened, c)
	return true
}

// packets carries packets. Each player has an address of its own towards the server.
func (r *proxy) packets(server string) {
	players := map[string]net.Conn{}
	b := make([]byte, 1<<16)
	for {
		n, from, err := r.udp.ReadFrom(b)
		if err != nil {
			return
		}
		c := players[from.String()]
		if c == nil {
			if c, err = net.Dial("udp", server); err != nil || !r.keep(c) {
				return
			}
			players[from.String()] = c
			go r.answers(c, from)
		}
		c.Write(b[:n]) // lost if it fails
	}
}

// answers carries packets of the server to a player.
func (r *proxy) answers(c net.Conn, to net.Addr) {
	b := make([]byte, 1<<16)
	for {
		n, err := c.Read(b)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil { // another error tells of an earlier packet
			r.wire.toPlayers.Add(int64(n + udpHeaders))
			r.udp.WriteTo(b[:n], to)
		}
	}
}

// streams carries connections.
func (r *proxy) streams(server string) {
	for {
		player, err := r.tcp.Accept()
		if err != nil {
			return
		}
		player = netsim.Wrap(player, r.link)
		c, err := net.Dial("tcp", server)
		if err != nil {
			player.Close()
			continue
		}
		if !r.keep(player) || !r.keep(c) {
			player.Close()
			return
		}
		go func() {
			defer c.Close()
			io.Copy(counter{c, &r.wire.toServer}, player)
		}()
		go func() {
			defer player.Close()
			io.Copy(counter{player, &r.wire.toPlayers}, c)
		}()
	}
}

package main

import (
	"bufio"
	"fmt"
	"net"
	"time"

	kcp "github.com/xtaci/kcp-go/v5"
)

// A link carries the inputs of two players over KCP, a reliable protocol on UDP. Each message is the input of the next tick.
type link struct {
	conn *kcp.UDPSession
	in   *bufio.Reader
}

const patience = 20 * time.Second

// listen waits for the other player.
func listen(l *kcp.Listener) (*link, error) {
	if err := l.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	conn, err := l.AcceptKCP()
	if err != nil {
		return nil, err
	}
	return newLink(conn), nil
}

// dial connects to the other player.
func dial(address string) (*link, error) {
	conn, err := kcp.DialWithOptions(address, nil, 0, 0)
	if err != nil {
		return nil, err
	}
	return newLink(conn), nil
}

func newLink(conn *kcp.UDPSession) *link {
	conn.SetWriteDelay(false)
	conn.SetNoDelay(1, 10, 2, 1) // acknowledge and repeat at once
	conn.SetACKNoDelay(true)
	return &link{conn, bufio.NewReader(conn)}
}

func (l *link) send(input uint8) error {
	_, err := l.conn.Write([]byte{input})
	return err
}

// receive waits for the other player's next input.
func (l *link) receive() (uint8, error) {
	if err := l.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return 0, err
	}
	input, err := l.in.ReadByte()
	if err != nil {
		return 0, fmt.Errorf("no input of the other player: %w", err)
	}
	return input, nil
}

// leave waits until the other player has all inputs, too, or is gone.
func (l *link) leave() {
	const done = 0xff
	if l.send(done) == nil && l.conn.SetReadDeadline(time.Now().Add(2*time.Second)) == nil {
		_, _ = l.in.ReadByte()
	}
}

// bind opens a port for a listener.
func bind(address string) (*kcp.Listener, net.Addr, error) {
	l, err := kcp.ListenWithOptions(address, nil, 0, 0)
	if err != nil {
		return nil, nil, err
	}
	return l, l.Addr(), nil
}

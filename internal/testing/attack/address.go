//go:build !js

package attack

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

const (
	// floodRate is how many connections a second the flood opens from the address of the honest players: more than one address may.
	floodRate = 300

	// floodFirst is how many it opens at once: as many as an address may.
	floodFirst = 256
)

var _ = register(&Attack{
	Row: 19, Name: "address", About: "300 connections a second from the address of the honest players: empty ones, half requests, lists, wrong tokens; and QUIC handshakes that are never finished",
	Joins: true,
	Run: func(ctx context.Context, h *Attackers) error {
		to, err := h.datagramAddress(ctx)
		if err != nil {
			return err
		}
		for range floodFirst {
			if c, err := h.dial(ctx, "", h.address()); err == nil {
				c.Close()
			}
		}
		requests := []string{"", "GET /matches HTTP/1.1\r\n", "GET /matches HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /revocations HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong-wrong-wrong-wrong\r\n\r\n"}
		return h.repeat(ctx, 64, floodRate, func(ctx context.Context, n int) error {
			if n%10 == 0 {
				h.try("QUIC: " + h.halfHandshake(ctx, to))
				return nil
			}
			c, err := h.dial(ctx, "", h.address())
			if err != nil {
				h.try("not accepted")
				return nil
			}
			defer c.Close()
			fmt.Fprint(c, requests[n%len(requests)])
			c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			b := make([]byte, 64)
			if got, _ := c.Read(b); got > 12 {
				h.try(string(b[9:12])) // the status
			} else {
				h.try("connected")
			}
			return nil
		})
	},
})

// A deafSocket reads the first packet of the server, which validates the address, and no other one.
type deafSocket struct {
	net.PacketConn
	heard bool
}

// ReadFrom implements [net.PacketConn]. One goroutine reads.
func (d *deafSocket) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := d.PacketConn.ReadFrom(b)
		if before := d.heard; err != nil || !before {
			d.heard = true
			return n, from, err
		}
	}
}

// halfHandshake begins a handshake and does not finish it.
func (h *Attackers) halfHandshake(ctx context.Context, to *net.UDPAddr) string {
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	udp, err := net.ListenUDP("udp", &net.UDPAddr{})
	if err != nil {
		return "no socket"
	}
	defer udp.Close()
	t := &quic.Transport{Conn: &deafSocket{PacketConn: udp}}
	defer t.Close()
	if _, err := t.Dial(ctx, to, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{http3.NextProtoH3}}, &quic.Config{EnableDatagrams: true}); err == nil {
		h.win("a handshake was finished by one packet")
	}
	return "not finished"
}

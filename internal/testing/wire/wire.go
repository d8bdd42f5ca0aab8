// Package wire puts a bad network between the players in this process and a server in another one, to measure how a match
// fares on it.
//
// Where network namespaces can be made, as root on Linux, the server is in one, and real packets of TCP and UDP are delayed
// and lost: see [NewNamespace]. Elsewhere [NewProxy] delays and loses what it carries in user space. A packet of a stream
// that is lost there comes after the time of a retransmission, and what follows waits for it.
package wire

import (
	"errors"
	"sync/atomic"
)

// A Wire leads from here to the far end, where a server listens.
type Wire struct {
	Enter  []string // begins the command of a program at the far end; empty where that needs nothing
	Host   string   // where the server listens
	Public string   // HOST:PORT here that leads to the server's datagrams; "" for the server's own
	Real   bool     // TCP and UDP are those of the system

	toServer, toPlayers atomic.Int64 // bytes, with the headers of IP
	join                func(server string) (near string, err error)
	close               func() error
}

// Join returns the HOST:PORT here that leads to the server at a HOST:PORT of the far end.
func (w *Wire) Join(server string) (near string, err error) { return w.join(server) }

// Bytes returns the bytes of all packets so far that players and the server have sent, lost ones too.
func (w *Wire) Bytes() (toServer, toPlayers int64) { return w.toServer.Load(), w.toPlayers.Load() }

// Close ends the wire. The server must be gone.
func (w *Wire) Close() error { return w.close() }

// ErrNamespace is wrapped by the errors of [NewNamespace] where none can be made.
var ErrNamespace = errors.New("wire: no network namespaces here")

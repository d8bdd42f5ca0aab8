package datagram

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// MaxSize is the largest datagram, in bytes. A path of the usual 1,280 bytes or more takes it whole.
	MaxSize = 1200

	// Window is the number of positions from the first that a player lacks up to the end of what datagrams carry. The
	// stream carries what is further ahead.
	Window = 64

	// maxReceipts is the most receipts in one datagram.
	maxReceipts = 32
)

// The kinds of datagrams: the first value.
const (
	kindToPlayer = 1
	kindToHost   = 2
)

// A Head is what both directions begin with: the number of the datagram, and what its sender has of the other direction.
type Head struct {
	Number uint32 // of this direction, from 1 on
	Seen   uint32 // the highest number that has arrived; 0 for none
	Count  uint32 // how many numbers up to there have arrived
}

// ToPlayer is a datagram of a host.
type ToPlayer struct {
	Head
	Receipts []Receipt
	Records  []Record // by rising position, within a Window
}

// A Receipt says that a command was accepted.
type Receipt struct {
	Sequence lockstep.Sequence
	Tick     lockstep.Tick // in which it runs
}

// A Record is one record of the stream, at its position.
type Record struct {
	Position protocol.Position
	Bytes    []byte
}

// ToHost is a datagram of a player.
type ToHost struct {
	Head
	Position protocol.Position // of the first record that the player lacks; 0 while it has no stream
	Above    uint64            // bit i: the record at Position+1+i has arrived
	Tick     lockstep.Tick     // the last one that the player has simulated
	Commands []Command         // by rising sequence
}

// A Command is one command of the player.
type Command struct {
	Sequence lockstep.Sequence
	Kind     lockstep.Kind
	Payload  []byte
}

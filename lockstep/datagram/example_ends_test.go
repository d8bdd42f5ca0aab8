package datagram_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A player at position 1 gives a command. Two datagrams of the host are lost, so a record waits until the
// stream has brought the one before.
func Example() {
	var (
		host     datagram.HostEnd
		refused  datagram.Refused
		r        datagram.Reader
		w        datagram.Writer
		d        datagram.ToHost
		position protocol.Position   = 1
		player   *datagram.PlayerEnd = datagram.NewPlayerEnd(position)
	)
	mine := datagram.Pending{Command: datagram.Command{Sequence: 3, Kind: 1, Payload: []byte{9}}}
	b := player.Send(nil, 0, &datagram.Demand{Position: position, Commands: []*datagram.Pending{&mine}})
	if err := r.ToHost(&d, b); err != nil {
		fmt.Println(err)
	}
	newest, err := host.Receive(0, &d, 1)
	fmt.Println("host:", newest, err, len(d.Commands), refused.Has(d.Commands[0].Sequence))
	host.Acknowledge(&d)
	host.Receipt(0, lockstep.Receipt{Sequence: 3, Tick: 5, Reason: lockstep.Accepted})

	var sent datagram.Sent
	supply := datagram.Supply{Records: [][]byte{{0x92, 4, 1}}, Period: 50 * lockstep.Millisecond, Redundancy: 200}
	b, sent = host.Send(&w, nil, 0, &supply)
	fmt.Println("lost:", len(b) > 0, sent.High)
	supply.Records = append(supply.Records, []byte{0x92, 4, 1})
	b, sent = host.Send(&w, b[:0], 50*lockstep.Millisecond, &supply)
	fmt.Println("also lost:", len(b) > 0, sent.High, sent.Repeated)

	b = w.ToPlayer(nil, &datagram.ToPlayer{Head: datagram.Head{Number: 3, Seen: 1, Count: 1}, Records: []datagram.Record{{Position: 2, Bytes: []byte{0x92, 4, 1}}}})
	in, err := player.Receive(60*lockstep.Millisecond, b)
	if err != nil {
		fmt.Println(err)
	}
	next, err := player.Offer(&in.Records[0], position)
	fmt.Println("player:", next, err, player.Early())
	position++ // by the stream
	fmt.Printf("waited: % x\n", player.Waiting(position))
	// Output:
	// host: true <nil> 1 false
	// lost: true 2
	// also lost: true 3 3
	// player: false <nil> false
	// waited: 92 04 01
}

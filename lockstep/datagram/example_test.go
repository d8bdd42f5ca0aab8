package datagram_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
)

// A player repeats a command until it is answered, and says what it has of the stream.
func ExampleToHost() {
	var path datagram.Path
	head, _ := path.Next(0)
	d := datagram.ToHost{
		Head: head, Position: 7, Above: 0b10, Tick: 5,
		Commands: []datagram.Command{{Sequence: 3, Kind: 1, Payload: []byte{9}}},
	}
	var w datagram.Writer
	b := w.ToHost(nil, &d)
	fmt.Printf("% x\n", b)
	var r datagram.Reader
	err := r.ToHost(&d, b[:len(b)-1])
	fmt.Println(err)
	// Output:
	// 02 01 00 00 07 02 05 03 01 c4 01 09
	// lockstep: datagram: unexpected EOF
}

// A host sends records and receipts. Half of its datagrams are lost, so it sends each record more often.
func ExampleToPlayer() {
	var path, there datagram.Path
	copies := []int{path.Copies()}
	var w datagram.Writer
	for now := range lockstep.Time(70) {
		head, _ := path.Next(now)
		var d = datagram.ToPlayer{
			Head:     head,
			Receipts: []datagram.Receipt{{Sequence: 3, Tick: 6}},
			Records:  []datagram.Record{{Position: 7, Bytes: []byte{0x92, 4, 1}}},
		}
		w.ToPlayer(nil, &d)
		if now%2 == 0 {
			continue
		}
		_, _ = there.Take(now, &d.Head)
		answer, _ := there.Next(now)
		_, _ = path.Take(now, &answer)
	}
	copies = append(copies, path.Copies())
	fmt.Println(copies)
	// Output: [2 8]
}

package ownership_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Two servers write the log of a match, one after the other. The store is the one of the tests: it refuses an append that expects
// another end.
func ExampleOwner() {
	var log store
	do := func(o *ownership.Owner) {
		for {
			var step ownership.Step = o.Next()
			switch step.Do {
			case ownership.Nothing:
				return
			case ownership.Append:
				if sequence, ok := log.append(step.Expect, step.Message); ok {
					o.Accepted(sequence)
				} else {
					o.Refused() // or o.Unknown(), without an answer
				}
			case ownership.Read:
				o.Last(log.last())
			}
		}
	}
	a := ownership.Claim("server-a", ownership.End{}, 1000)
	a.Append([]byte("header, "))
	do(a)
	fmt.Println("a has stored", a.Stored(), "of", a.Appended(), "bytes")

	var r ownership.Reader
	for i, message := range log.messages {
		records, err := r.Take(uint64(i+1), message)
		fmt.Printf("message %d of %s: %q %v\n", i+1, r.Owner(), records, err)
	}
	b := ownership.Claim("server-b", r.End(), 1000)
	do(b)
	a.Append([]byte("frame"))
	do(a)
	fmt.Println("b has claimed the log:", b.Claimed(), "- a has lost it:", a.Lost())

	// Output:
	// a has stored 8 of 8 bytes
	// message 1 of server-a: "" <nil>
	// message 2 of server-a: "header, " <nil>
	// b has claimed the log: true - a has lost it: true
}

// An append whose result got lost is repeated with the same bytes, unless the last message shows that it was stored.
func ExampleDo() {
	var log store
	o := ownership.Claim("server-a", ownership.End{}, 1000)
	step := o.Next()
	log.append(step.Expect, step.Message)
	o.Unknown()
	var next ownership.Do = o.Next().Do
	fmt.Println("reads the log:", next == ownership.Read)
	o.Last(log.last())
	fmt.Println("the claim is stored:", o.Claimed())
	// Output:
	// reads the log: true
	// the claim is stored: true
}

// A server renews its lease, and sees that another one does not.
func ExampleLeases() {
	const second lockstep.Time = 1_000_000
	l := ownership.NewLeases("server-a", second)
	l.Seen("server-b", 1, 0)
	now, revision := lockstep.Time(0), uint64(1)
	for !l.Expired("server-b", now) {
		now += l.Period()
		revision++
		sent, stored := now, now+2000
		l.Seen("server-a", revision, stored)
		l.Renewed(revision, sent, stored)
		now = stored
	}
	fmt.Printf("server-b is gone after %.1f s\n", float64(now)/float64(second))
	fmt.Println("its match is mine:", l.Turn("match", []string{"server-a"}, l.Since("server-b"), now))
	// Output:
	// server-b is gone after 1.2 s
	// its match is mine: true
}

// A server that cannot continue a match leaves it to the other one.
func ExampleEntry() {
	var e ownership.Entry
	e = e.Release("").Take("a", false).Release("a map is missing")
	var s ownership.State = e.State
	names, again := e.Candidates([]string{"a", "b"})
	fmt.Println(s, e.Failure, names, again)
	e = e.Take("b", false).Play().Tested(true)
	fmt.Println(e.State, e.Server, e.Tried)
	// Output:
	// released a map is missing [b] false
	// playing b []
}

package evidence

import "github.com/seed-49bee653/samestep/lockstep/protocol"

// Output is what the host carries out.
type Output struct {
	Requests []Request
	Removed  []uint64    // witnesses that were kept until they had answered
	Early    []*Evidence // before the witness has answered; Evidence about the same report follows
	Evidence []*Evidence
	States   []Exhibit // answers to Ask
}

// A Request is a message for a witness.
type Request struct {
	To      uint64
	Message protocol.Message
}

// A Fault is what is wrong with a message; "" for nothing. All but [Unasked] violate the protocol.
type Fault string

// Unasked means that nobody has asked for the answer.
const Unasked Fault = "not asked for"

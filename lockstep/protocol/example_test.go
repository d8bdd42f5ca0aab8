package protocol_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Codes have names, the same in the log of a server and in the protocol.
func ExampleCloseCode() {
	var code protocol.CloseCode = protocol.CloseSlow
	var wrong protocol.ErrorCode = protocol.ErrorIdentity
	fmt.Println(code, wrong, protocol.CloseCode(200))
	// Output: slow identity code 200
}

// A machine computed a tick wrong, and is asked to compute it again.
func ExampleOutcome() {
	const right, wrong, other = 1, 2, 3
	var o protocol.Outcome = protocol.OutcomeOf(right, wrong, right, right)
	fmt.Println(o)
	fmt.Println(protocol.OutcomeOf(right, wrong, wrong, wrong))
	fmt.Println(protocol.OutcomeOf(right, wrong, right, other))
	// Output:
	// right this time
	// wrong in the same way
	// another result each time
}

// A resuming client's auth carries the session of the latest welcome, and what it does not have yet.
func ExampleAuth() {
	var auth *protocol.Auth = protocol.NewAuth(lockstep.MustGame(testgame.LampRules))
	auth.Session = protocol.SessionToken{1, 2, 3}
	auth.Position = 4711
	auth.Build = "2"
	err := auth.CheckIdentity(protocol.NewAuth(lockstep.MustGame(testgame.LampRules)))
	fmt.Println(err)
	// Output: lockstep: other build: got 2, want 1
}

// A message is one small array; which of its fields are set depends on its kind.
func ExampleMessage() {
	var w protocol.Writer
	var kind protocol.Kind = protocol.KindWelcome
	welcome := protocol.Welcome{Role: protocol.Spectator, Seat: lockstep.System, Tick: 100, AckEvery: 10, SpeedPercent: 100}
	var role protocol.Role = welcome.Role
	fmt.Printf("%x, role %d\n", w.Append(nil, &protocol.Message{Kind: kind, Welcome: &welcome}), role)
	// Output: 9b30ccff00c4006400c2000a0064, role 0
}

package lockstep

import "fmt"

// A Receipt answers a submitted command. Submitting the same (player, sequence) again returns the same receipt.
type Receipt struct {
	Sequence Sequence
	Tick     Tick   // of an accepted command: the tick in which it runs
	Reason   Reason // Accepted, or the reason of the rejection
	Wait     Tick   // of TooOften: the ticks after which a command of the kind would be accepted, else 0
	Detail   string // more about the reason, for people; may be empty
}

// Err returns nil for an accepted command, and a [*RejectedError] otherwise.
func (r Receipt) Err() error {
	if r.Reason == Accepted {
		return nil
	}
	return &RejectedError{r.Sequence, r.Reason, r.Wait, r.Detail}
}

func (r Receipt) String() string {
	if r.Reason == Accepted {
		return fmt.Sprintf("accepted for tick %d", r.Tick)
	}
	return "rejected: " + r.Reason.text(r.Detail)
}

// A RejectedError is the receipt of a command that will not run.
type RejectedError struct {
	Sequence Sequence
	Reason   Reason
	Wait     Tick // see Receipt
	Detail   string
}

func (e *RejectedError) Error() string {
	return fmt.Sprintf("lockstep: command %d rejected: %s", e.Sequence, e.Reason.text(e.Detail))
}

// A Reason tells why a command was rejected.
type Reason uint8

// The reasons, as a Coordinator tries them, but TooOften before Refused; RateLimited is the host's. The numbers are part of the protocol.
const (
	Accepted     Reason = 0
	MatchEnded   Reason = 1  // the match is over
	NotSeated    Reason = 2  // the player has no seat in the match
	StaleCommand Reason = 3  // its sequence, or a later one, is sealed or forgotten
	TooFarAhead  Reason = 4  // its sequence is beyond the window
	TooLarge     Reason = 5  // the payload is larger than MaxPayload
	TooMany      Reason = 6  // the player has as many commands or bytes in that tick as allowed
	UnknownKind  Reason = 7  // no command of that kind is registered
	Malformed    Reason = 8  // the payload is not the canonical form of its type
	Refused      Reason = 9  // the game's rules refuse it
	RateLimited  Reason = 10 // the player sends too many; the same sequence may be sent again
	TooOften     Reason = 11 // the player has as many commands of that kind in its window as the game allows
)

var reasonTexts = [...]string{
	"accepted", "the match has ended", "the player has no seat", "stale sequence",
	"sequence too far ahead", "payload too large", "too many commands in one tick",
	"unknown kind", "malformed payload", "refused", "too many commands in a short time",
	"too many commands of this kind",
}

func (r Reason) String() string {
	if int(r) < len(reasonTexts) {
		return reasonTexts[r]
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// Final reports whether the same sequence gets the same answer again.
func (r Reason) Final() bool {
	return r != MatchEnded && r != NotSeated && r != TooFarAhead && r != RateLimited
}

func (r Reason) text(detail string) string {
	switch {
	case detail == "":
		return r.String()
	case r == NotSeated: // the player has a seat, and may not command yet
		return detail
	case r == TooOften: // the detail begins with the ticks
		return r.String() + ": wait " + detail
	}
	return r.String() + ": " + detail
}

package protocol

// An Outcome says what a machine whose state was wrong has computed when it was asked to compute the same ticks again.
type Outcome uint8

// The outcomes.
const (
	OutcomeUnknown  Outcome = iota // it was not asked, or did not answer
	RightThisTime                  // its memory was altered, or its code has read something that is not in the state
	WrongTheSameWay                // its rules, its build or its platform differ
	ThirdResult                    // it computes something else each time: its rules are not deterministic
)

var outcomeTexts = [...]string{"unknown", "right this time", "wrong in the same way", "another result each time"}

func (o Outcome) String() string { return outcomeTexts[o] }

// OutcomeOf returns the outcome of computing a tick again: right is the state hash of the match, first what the machine
// had computed, and again what it computed later, each time.
func OutcomeOf(right, first uint64, again ...uint64) Outcome {
	switch {
	case len(again) == 0:
		return OutcomeUnknown
	case all(again, right):
		return RightThisTime
	case all(again, first):
		return WrongTheSameWay
	}
	return ThirdResult
}

// all reports whether all hashes are one.
func all(hashes []uint64, one uint64) bool {
	for _, h := range hashes {
		if h != one {
			return false
		}
	}
	return true
}

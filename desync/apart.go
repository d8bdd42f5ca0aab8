package desync

import "github.com/seed-49bee653/samestep/lockstep"

// An apartJob is the ticks that a process of its own computes again, each from the state before it.
type apartJob struct {
	Header   *lockstep.Header
	First    lockstep.Tick // of States
	States   [][]byte
	Commands []apartCommand
	Assets   map[string][]byte // by their SHA-256; only looked up
}

type apartCommand struct {
	Tick     lockstep.Tick
	Player   lockstep.Player
	Sequence lockstep.Sequence
	Kind     lockstep.Kind
	Payload  []byte
}

// An apartResult is what that process has found.
type apartResult struct {
	Partings []apartParting // at most maxPartings
	Error    string         // why there is nothing
}

type apartParting struct {
	Tick  lockstep.Tick
	Other []byte // nil if the rules failed
}

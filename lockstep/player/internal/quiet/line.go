// Package quiet notices that nothing comes from a server any more, and decides when a player hangs up because of it.
//
// A [Line] belongs to one connection, by its stream and by datagrams. It has no clock and does not know why something should come: its
// owner says for how long it may be quiet ([Line.Due], [Line.Notice]).
//
// # States
//
//	heard ──Notice, quiet for longer than it may be──> stalled ──Stream or Datagram──> heard
//	  |                                                   |
//	  └───────────────(silent for too long: SilentAt)─────┴──> the owner hangs up
//
// Stalled is what a user is told at once: nothing comes. Silent ends the connection. While datagrams come, the stream may be silent for
// three times as long, because it may only wait for lost packets.
//
// An owner that was itself not called for longer than [gap] cannot blame the server: what has come meanwhile is not read yet, so
// the quiet begins anew.
//
// # Who calls what
//
//	a connection is open     Begin
//	something comes          Stream or Datagram; true says that the line was stalled until now
//	time passes              Notice; true says that it is stalled from now on
//	hang up                  at SilentAt
//	wake up                  at Due
//
//samestep:deterministic
package quiet

import "github.com/seed-49bee653/samestep/lockstep"

const (
	// Time is how long a line may be quiet at least until it stalls.
	Time = 3 * lockstep.Second / 4

	// gap is the longest time between two calls of an owner that can blame the server.
	gap = 5 * lockstep.Second / 4
)

// A Line is what comes from a server.
type Line struct {
	silence lockstep.Time // how long the server may send nothing
	stream  lockstep.Time // when a message of the stream last came
	Last    lockstep.Time // when anything did
	quiet   lockstep.Time // the same, or later: see Notice
	Stalled bool
}

// Begin returns the line of a new connection, on which a server may send nothing for a time.
func Begin(now, silence lockstep.Time) Line {
	return Line{silence: silence, stream: now, Last: now, quiet: now}
}

// Stream notes that a message has come by the stream, and reports whether the line was stalled.
func (l *Line) Stream(now lockstep.Time) (stalled bool) {
	l.stream = now
	return l.Datagram(now)
}

// Datagram notes that a datagram has come, and reports whether the line was stalled.
func (l *Line) Datagram(now lockstep.Time) (stalled bool) {
	stalled = l.Stalled
	l.Last, l.quiet, l.Stalled = now, now, false
	return stalled
}

// SilentAt returns when the owner hangs up because nothing comes.
func (l *Line) SilentAt() lockstep.Time {
	return min(l.Last, l.stream+2*l.silence) + l.silence
}

// Due returns when a line that may be quiet for a time stalls; SilentAt if it is stalled.
func (l *Line) Due(patience lockstep.Time) lockstep.Time {
	if l.Stalled {
		return l.SilentAt()
	}
	return l.quiet + patience
}

// Notice reports whether a line that may be quiet for a time is stalled from now on, unless its owner was not called for since.
func (l *Line) Notice(now, since, patience lockstep.Time) bool {
	if l.Stalled || now < l.Due(patience) || now >= l.SilentAt() {
		return false
	}
	if since > gap {
		l.quiet = now // what has come meanwhile is not read yet
		return false
	}
	l.Stalled = true
	return true
}

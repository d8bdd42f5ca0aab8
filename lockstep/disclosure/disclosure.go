// Package disclosure says who may see what of a match, and when.
//
// The server that begins a match decides it once, and writes it into the log as an event [record.EventDisclosure],
// after the first state. It holds for the whole match, also when another server resumes it. Everything that passes a log, or
// something made of one, to somebody else asks the [Policy]:
//
//	question                                     method
//	may this reader have records and states?     Policy.Records
//	up to which tick?                            Policy.Shown, Policy.Late
//	which settings of the match?                 Policy.Settings
//	counters and sizes, which tell of commands?  Policy.Figures
//	files: replays, saves, bundles?              Policy.Files
//
// A program that reads a log finds the Policy with a [Log], and passes nothing on before that. A program that cannot do as the
// Policy says refuses. For example, a mirror has no rules, so it cannot make views, and refuses a match that is sent as views.
//
// The text of the event is "players=all delay=0": players are sent all or views, and spectators see the match so many ticks
// later.
//
//samestep:deterministic
package disclosure

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// ErrViews is the error of [Policy.Records] for a match that is sent as views.
var ErrViews = errors.New("the match is sent as views: nobody but its operator gets its states and records")

// ErrRunning is the error of [Policy.Files] for a match that is not over.
var ErrRunning = errors.New("the match is not over: nobody but its operator gets a file of it")

// ErrMalformed is the error of [Parse].
var ErrMalformed = errors.New("disclosure: malformed")

// MaxDelay bounds [Policy.Delay].
const MaxDelay record.Tick = 1 << 18

// A Reader is somebody for whom a match is read.
type Reader uint8

// The readers. All who are neither players of the match nor its operator are spectators, with or without a token.
const (
	Spectator Reader = iota
	Player
	Operator // an admin of the server, or the owner of the disk with the log
)

// A Policy says who may see what of a match. The zero Policy hides nothing of the log.
type Policy struct {
	Views bool        // players and spectators are sent views, and no state, record or seed
	Delay record.Tick // spectators see the match so many ticks later, until it has ended
}

// Secret is the Policy to assume of a match whose Policy is not known yet.
var Secret = Policy{Views: true, Delay: MaxDelay}

// Hides reports whether the Policy hides something of the log.
func (p Policy) Hides() bool { return p != Policy{} }

// Records returns an error if r may have no records and states of the match at all.
func (p Policy) Records(r Reader) error {
	if p.Views && r != Operator {
		return ErrViews
	}
	return nil
}

// Late reports whether r sees the match later than its players. When the match has ended, everybody sees the rest.
func (p Policy) Late(r Reader, ended bool) bool { return p.Delay > 0 && r == Spectator && !ended }

// Shown returns the last tick of which r may know, of a match at tick now, or that has ended there.
func (p Policy) Shown(r Reader, now record.Tick, ended bool) record.Tick {
	if !p.Late(r, ended) {
		return now
	}
	return now - min(now, p.Delay)
}

// Settings returns what r may know of the settings. The seed tells what views hide, also after the match.
func (p Policy) Settings(r Reader, s record.Settings) record.Settings {
	if p.Records(r) != nil {
		s.Seed = 0
	}
	return s
}

// Figures reports whether r may know counters of messages and commands, and sizes of states, which tell a player what the other does.
func (p Policy) Figures(r Reader, ended bool) bool { return r == Operator || ended }

// Files returns an error if r may have no file of the match: a replay, a save, or a bundle of a desync. Each has states, the seed and
// the latest ticks, whatever the Policy says. When the match has ended, it is for the operator to say who gets its files.
func (p Policy) Files(r Reader, ended bool) error {
	if !p.Figures(r, ended) {
		return ErrRunning
	}
	return nil
}

// Event returns the bytes of the event with the Policy, which only the log has.
func (p Policy) Event() []byte {
	return record.Event(record.System, record.EventDisclosure, p.String())
}

// String returns the text of the event.
func (p Policy) String() string {
	players := "all"
	if p.Views {
		players = "views"
	}
	return fmt.Sprintf("players=%s delay=%d", players, p.Delay)
}

// Parse reads the text of an event. It accepts only what [Policy.String] returns.
func Parse(text string) (Policy, error) {
	players, delay, _ := strings.Cut(text, " delay=")
	n, err := strconv.ParseUint(delay, 10, 32)
	p := Policy{Views: players == "players=views", Delay: record.Tick(n)}
	if err != nil || p.Delay > MaxDelay || p.String() != text {
		return Policy{}, fmt.Errorf("%w: got %.64q, want \"players=all delay=0\", or views, and a delay up to %d", ErrMalformed, text, MaxDelay)
	}
	return p, nil
}

// ErrUnknown is the error of [Log.Policy] for a log that does not say who may see it, or has not said it yet.
var ErrUnknown = errors.New("disclosure: the log does not say who may see the match")

// A Log finds the Policy in the records of a log. The zero Log has seen none.
type Log struct {
	policy Policy
	known  bool
	err    error
}

// Take takes the next record of the log.
func (l *Log) Take(r *record.Record) {
	if r.Event != record.EventDisclosure || l.err != nil {
		return
	}
	p, err := Parse(r.Text)
	switch {
	case err != nil:
		l.err = err
	case l.known && p != l.policy:
		l.err = fmt.Errorf("%w: got %q after %q", ErrMalformed, p, l.policy)
	default:
		l.policy, l.known = p, true
	}
}

// Policy returns the Policy. With an error it is [Secret]. The error is [ErrUnknown] while the log has not said it.
func (l *Log) Policy() (Policy, error) {
	switch {
	case l.err != nil:
		return Secret, l.err
	case !l.known:
		return Secret, ErrUnknown
	}
	return l.policy, nil
}

package host

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/feed"
	"github.com/seed-49bee653/samestep/lockstep/flight"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/idle"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/lobby"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/pace"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/talk"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/lockstep/twin"
)

const minute = 60 * lockstep.Second

// AnySeat is the seat of a [Grant] that leaves the choice to the Host.
const AnySeat = lockstep.System

// A Grant is the rights that a token gives.
type Grant struct {
	Role protocol.Role
	Seat lockstep.Player // or AnySeat

	// Subject identifies the holder, so that a holder of AnySeat gets the same seat again. Two tokens of one subject
	// are one player.
	Subject string

	Name string // the holder's display name

	// Viewer is whose views a spectator gets, such as those of a team for its coach. Its client must ask for views then. The zero
	// value is any spectator.
	Viewer lockstep.Viewer

	// ID identifies the token among those of all subjects, such as a JWT's jti, so that it alone can be revoked. It may
	// be empty.
	ID string

	// Guest marks an unverified subject: its holder has made it up, and can make up others. Limits of costs to others
	// apply to the holder's address.
	Guest bool
}

// A DesyncPolicy is how a Host treats a player whose checksum differs.
type DesyncPolicy uint8

// The policies. Each reports the desync and collects evidence.
const (
	ResyncDesynced DesyncPolicy = iota // send a keyframe, within Rates.Resyncs
	LogDesynced                        // nothing more
	RemoveDesynced                     // end the connection and give up the seat
)

// Rates limit one subject, over all of its connections. Zero rates have the defaults named.
//
// A spectator's Messages, Bytes, Commands, Chat and Offences are counted per connection. The spectators of one token
// together, and all guests of one address together, have eight times the other rates (see [Grant]).
type Rates struct {
	Messages Rate // 200 a second
	Bytes    Rate // 64 KiB a second
	Commands Rate // 50 a second, 300 at once
	Chat     Rate // 1 a second
	Syncs    Rate // requested keyframes: 4 a minute
	Resyncs  Rate // keyframes after a desync, and records of the last ticks that are asked for: 2 a minute each
	Returns  Rate // welcomes of a player: 20 a minute

	// Keyframes bounds the bytes of keyframes: 512 KiB a second, 16 MiB at once, and for large states at least four
	// keyframes a minute and at once. All spectators and guests of a match together have 32 times as much.
	Keyframes Rate

	// Resimulations bounds the ticks that the referee re-simulates because a player reports another checksum: a
	// sixteenth of the tick rate per second, and the ticks of EvidenceHistory checks at once. A match has twice as
	// much. Guests of one address share one player's rate. As many ticks again bound the comparisons with what desynced
	// players compute again.
	Resimulations Rate

	// Ready bounds how often a player in a lobby takes back that it is ready: 1 a minute, 6 at once. Beyond it the player stays ready.
	// Guests of one address share one player's rate. Who leaves and comes again is bounded by Returns.
	Ready Rate

	Notes    Rate // names and lines of chat in the log: 1 a second, 8 at once
	Offences Rate // exceeded limits and refused reports: 20 a second, then the connection is closed

	// Pace bounds the match time that a player may cost, in microseconds: 6 s a minute, 6 s at once. A second of
	// waiting costs a second. A second at 90 percent of the speed, or with 100 ms more input delay, costs a tenth.
	// Beyond the limit, until half of the burst is back, the match does not wait for the player, and speed and delay
	// follow it only as far as the rate refills. All players of a match together may cost twice as much; guests of one
	// address share one player's rate.
	Pace Rate

	// MatchNotes bounds the notes of all peers together: 16 a second, 64 at once. Shared accounts leave half of the
	// burst to the others.
	MatchNotes Rate
}

// A Rate allows N things in each interval Per, and at most Burst at once.
type Rate = budget.Rate

// A Bucket counts the use of a [Rate]. The zero Bucket is full.
type Bucket = budget.Bucket

// list returns the rates by their kinds.
func (r *Rates) list() budget.Limits {
	return budget.Limits{
		Of: [budget.Kinds]Rate{
			r.Messages, r.Bytes, r.Commands, r.Chat, r.Syncs, r.Resyncs, r.Returns, r.Notes, r.Keyframes, r.Resimulations, r.Resimulations, r.Resyncs, r.Ready, r.Offences, r.Pace,
		},
		Notes: r.MatchNotes,
	}
}

// The policies of a match that follows its players' machines and connections.
type (
	DelayPolicy = pace.DelayPolicy // makes the input delay follow the slowest connection
	WaitPolicy  = pace.WaitPolicy  // makes the match wait for players, as in classic lockstep
	SlowPolicy  = pace.SlowPolicy  // slows the match down for a player whose machine cannot keep up
)

// A StartPolicy says when a match leaves its lobby. In the lobby no tick is sealed, and everybody sees the first state.
type StartPolicy = lobby.Policy

// An InactivePolicy is how a Host treats a player who is connected and gives no command.
type InactivePolicy = idle.Policy

// An InactiveAction is what follows the event [PeerInactive].
type InactiveAction = idle.Action

// The actions.
const (
	ReportInactive   = idle.Report   // nothing more
	TakeOverInactive = idle.TakeOver // end the connection and take the seat over, see Options.Substitute; the player may come back
	RemoveInactive   = idle.Remove   // end the connection and give up the seat
)

// A Wait says why a match stands still or runs slower. All peers are told. Reason is "" if the match runs; others are in package
// protocol, and those of [Admin.Hold].
type Wait = pace.Wait

// A ViewPolicy says how a Host sends views. A view is what a viewer may see of the state (see package feed). Its client gets
// views instead of the match's records. Clients that ask for them get views of any match whose game has some.
type ViewPolicy struct {
	// Only sends nothing else to any client, so that nobody but the server holds the whole state. It needs a game with views.
	Only bool

	Every  lockstep.Tick // ticks from one view to the next: a tenth of a second
	Budget int           // bytes of a view; the rest is sent later, by priority: no limit
}

// Options are a Host's policies and limits. Zero fields have the defaults named.
type Options struct {
	// Authorize returns the rights of a token; an error refuses it. Nil refuses every token.
	Authorize func(token string) (Grant, error)

	// Random fills a slice with unguessable bytes. It is required.
	Random func([]byte)

	// Observer is called with every event that the game emits on the referee, once for each sealed tick, in the order of
	// ticks. The tick may not be durable yet. After a recovery it is called from the first new tick on: events of ticks
	// that the crash took back are repeated or replaced by those of the ticks that are sealed again, and those of logged
	// ticks that the crash kept from the observer are skipped. It must not block. It needs a referee; nil disables it.
	Observer func(lockstep.Tick, any)

	// Stepping is called as in [lockstep.FollowerOptions] for each Step of the game on the referee. Nil disables it.
	Stepping func(t *lockstep.Turn, phase string, over bool)

	// Heavy compares the referee with cold twins. What it finds is an event of the log, and [Evidence]; its Found stays nil. Without a
	// referee it does nothing.
	Heavy twin.Options

	// Evidence makes [Ready] contain the data about each desync, and asks players for their states.
	Evidence bool

	// SpectatorDelay delays the spectators' view, so they cannot help players. It needs a referee. Spectators get the
	// rest when the match has ended, but not when its log has failed or the server is shut down, because the match may
	// continue then.
	SpectatorDelay lockstep.Tick

	AnonymousSpectators bool // an empty token is a spectator's
	SpectatorChat       bool
	VoteKick            bool // players can vote others out; see record.EventVote
	Relay               bool // no referee: see coordinator.Options.Relay

	// Bots play seats without connections. Each is given the state of every sealed tick, on the machine of the Host, and
	// its commands run after the input delay. No token gets its seat. A bot that returns nothing leaves its seat to
	// [Host.Submit]: a seat of the Host's own program. Bots need a referee. A [Recovery] needs them again.
	Bots []lockstep.Bot // by seat; nil where people play

	// Substitute returns a bot that plays for a player whose seat is taken over, until the player is back, or nil for
	// nobody. It is called once for each such time, and again after a recovery. The bot is like those of Bots. If
	// either panics, or the bot returns what is no command, the seat stays idle. It needs a referee; nil for nobody.
	Substitute func(lockstep.Player) lockstep.Bot

	MaxSpectators int // 64
	MaxConnecting int // unauthenticated connections: 64
	GuestSeats    int // seats that guests of one address who have never played may keep when others want one: half of those without bots, at least 2; negative: all
	MaxPerTick    int // commands of a player in one tick: 256, fewer in a match of more than 14

	InputDelay lockstep.Tick // 1; see Delay
	AckEvery   lockstep.Tick // half a second
	Lag        lockstep.Tick // ticks that a player may be behind: 10 s; half as many for a spectator
	MaxCatchUp int           // ticks sealed at once after a stall: 3
	MaxStrikes int           // keyframes for a peer that is too far behind before it is closed: 3

	RingRecords      int           // 4 × Lag + 256 for notes + 2 × SpectatorDelay
	RingBytes        int           // 1 MiB + 256 × SpectatorDelay
	SyncBytesPerTick int           // bytes of a keyframe sent to one peer: 256 KiB
	KeyframeInterval lockstep.Time // least time between two keyframes for joiners: 5 s
	ChatHistory      int           // lines of chat that a joiner is told, of at most 2 KiB together: 16; negative: none
	EvidenceHistory  int           // checked ticks whose states the referee keeps: 8
	MaxEvidence      int           // bytes of one state that a client may send: 8 MiB
	Redundancy       int           // bytes of a peer's datagrams, in percent of those of its stream, with the headers of packets: 200; twice that where 5 % are lost
	MaxNoteBytes     int           // of names and chat in the log: 16 MiB

	AuthTimeout lockstep.Time // 10 s
	PingEvery   lockstep.Time // 5 s
	IdleTimeout lockstep.Time // 10 s
	SyncTimeout lockstep.Time // 30 s; each MiB of keyframe adds 1 s
	Grace       lockstep.Time // a lost player's time to come back: 30 s, or two ticks if they are longer
	Linger      lockstep.Time // time to read the end of the match: 5 s
	EndLinger   lockstep.Time // the same after an end by the rules, when players may also come back to see it: 15 s, or Linger when all players have seen it
	Abandoned   lockstep.Time // a match ends when all its players have left for good for so long: never
	KickTime    lockstep.Time // time that a kicked subject is kept out: 60 s

	Start           StartPolicy
	LeaveAfterGrace bool // give the seat up, instead of TakenOver
	Inactive        InactivePolicy
	Desync          DesyncPolicy
	Delay           DelayPolicy
	Wait            WaitPolicy
	Slow            SlowPolicy
	Views           ViewPolicy
	Rates           Rates
}

// or sets a zero field to its default.
func or[T comparable](field *T, otherwise T) {
	var zero T
	if *field == zero {
		*field = otherwise
	}
}

// bounds keep the first error of a list of options.
type bounds struct{ err error }

// option sets the default of an option, and checks its bounds.
func option[T ~int | ~int64 | ~uint8 | ~uint16 | ~uint32](b *bounds, name string, field *T, otherwise T, low, high int64) {
	if or(field, otherwise); b.err == nil && (int64(*field) < low || int64(*field) > high) {
		b.err = fmt.Errorf("lockstep: host: %s: got %d, want %d to %d", name, *field, low, high)
	}
}

// complete sets the defaults for a match with settings s, and checks all options.
func (o *Options) complete(s *lockstep.Settings) error {
	hour := int64(60 * minute)
	ticks := func(t lockstep.Time) lockstep.Tick { return lockstep.Tick(s.TicksIn(int64(t) + s.Micros(1)/2)) } // rounded
	given := *o
	if o.Random == nil {
		return errors.New("lockstep: host: random: got nil, want a source of unguessable bytes")
	}
	var b bounds
	option(&b, "max spectators", &o.MaxSpectators, 64, 0, 1<<20)
	option(&b, "max connecting", &o.MaxConnecting, 64, 1, 1<<20)
	option(&b, "start players", &o.Start.Players, 0, 0, int64(s.Players))
	option(&b, "start countdown", &o.Start.Countdown, 0, 0, int64(lobby.MaxCountdown))
	if o.Start.Ready {
		or(&o.Start.Deadline, 5*minute)
	}
	option(&b, "start deadline", &o.Start.Deadline, 0, -1<<40, 24*hour)
	option(&b, "input delay", &o.InputDelay, max(1, o.Delay.Min), 1, record.MaxInputDelay)
	option(&b, "largest input delay", &o.Delay.Max, 0, 0, record.MaxInputDelay)
	option(&b, "ack every", &o.AckEvery, max(1, min(ticks(lockstep.Second/2), 1<<15)), 1, 1<<15)
	option(&b, "lag", &o.Lag, max(ticks(10*lockstep.Second), 4*o.AckEvery), int64(2*o.AckEvery), 1<<20)
	option(&b, "max catch up", &o.MaxCatchUp, 3, 1, 1000)
	option(&b, "spectator delay", &o.SpectatorDelay, 0, 0, int64(disclosure.MaxDelay))
	option(&b, "max strikes", &o.MaxStrikes, 3, 1, 1000)
	option(&b, "ring records", &o.RingRecords, int(4*o.Lag+256+2*o.SpectatorDelay), 16, 1<<24)
	option(&b, "ring bytes", &o.RingBytes, 1<<20+256*int(o.SpectatorDelay), 1, 1<<30)
	option(&b, "sync bytes per tick", &o.SyncBytesPerTick, 256<<10, 1<<10, 1<<30)
	option(&b, "chat history", &o.ChatHistory, 16, -1<<20, talk.MaxHistory)
	option(&b, "evidence history", &o.EvidenceHistory, 8, 1, 1<<10)
	option(&b, "redundancy", &o.Redundancy, 200, 100, 1000)
	option(&b, "max note bytes", &o.MaxNoteBytes, 16<<20, 1, 1<<40)
	option(&b, "max evidence", &o.MaxEvidence, 8<<20, 0, lockstep.MaxStateSize)
	option(&b, "keyframe interval", &o.KeyframeInterval, 5*lockstep.Second, 1, hour)
	option(&b, "auth timeout", &o.AuthTimeout, 10*lockstep.Second, 1, hour)
	option(&b, "ping every", &o.PingEvery, 5*lockstep.Second, 1, hour)
	option(&b, "idle timeout", &o.IdleTimeout, 10*lockstep.Second, 1, hour)
	option(&b, "sync timeout", &o.SyncTimeout, 30*lockstep.Second, 1, hour)
	option(&b, "grace", &o.Grace, 30*lockstep.Second, 1, 24*hour)
	option(&b, "linger", &o.Linger, 5*lockstep.Second, 1, hour)
	option(&b, "end linger", &o.EndLinger, 15*lockstep.Second, 1, hour)
	option(&b, "abandoned", &o.Abandoned, 0, 0, 24*hour)
	option(&b, "kick time", &o.KickTime, minute, 1, 24*hour)
	option(&b, "inactive after", &o.Inactive.After, 5*minute, -1<<40, 24*hour)
	option(&b, "inactive guests", &o.Inactive.Guests, 2*minute, -1<<40, 24*hour)
	for _, x := range []struct {
		given lockstep.Time
		field *lockstep.Time
		ticks int64
	}{{given.Grace, &o.Grace, 2}, {given.Inactive.After, &o.Inactive.After, 10}, {given.Inactive.Guests, &o.Inactive.Guests, 10}} {
		if x.given == 0 { // a default is not shorter than some turns
			*x.field = max(*x.field, lockstep.Time(s.Micros(x.ticks)))
		}
	}
	option(&b, "guest seats", &o.GuestSeats, 0, -1, lockstep.MaxPlayers)
	option(&b, "inactive then", &o.Inactive.Then, 0, 0, int64(idle.Actions-1))
	option(&b, "slow percent", &o.Slow.Percent, 0, 0, 100)
	option(&b, "views every", &o.Views.Every, max(1, min(ticks(lockstep.Second/10), 1<<15)), 1, 1<<15)
	option(&b, "bytes of a view", &o.Views.Budget, 0, 0, feed.MaxViewBytes)
	option(&b, "heavy percent", &o.Heavy.Percent, 0, 0, 100)
	option(&b, "wait bound", &o.Wait.Bound, 0, 0, int64(minute))
	or(&o.Wait.Lead, 2*o.AckEvery)
	or(&o.Slow.Lead, 4*o.AckEvery)
	or(&o.MaxPerTick, record.CommandWindow)                 // a client sends up to that many again after a resume
	o.MaxPerTick = max(1, min(o.MaxPerTick, o.share(s)/32)) // so that the largest frame fits in one message
	o.Rates.complete(s, o.EvidenceHistory)
	if b.err == nil {
		b.err = o.checkReferee(s)
	}
	if rates := o.Rates.list(); b.err == nil {
		b.err = rates.Check()
	}
	return b.err
}

// complete sets the default rates of a match whose referee keeps the states of some checks.
func (r *Rates) complete(s *lockstep.Settings, history int) {
	or(&r.Messages, Rate{N: 200, Per: lockstep.Second, Burst: 600})
	or(&r.Bytes, Rate{N: 64 << 10, Per: lockstep.Second, Burst: 256 << 10})
	or(&r.Commands, Rate{N: 50, Per: lockstep.Second, Burst: record.CommandWindow + 44}) // a client sends all unanswered commands again
	or(&r.Chat, Rate{N: 1, Per: lockstep.Second, Burst: 5})
	or(&r.Syncs, Rate{N: 4, Per: minute, Burst: 4})
	or(&r.Resyncs, Rate{N: 2, Per: minute, Burst: 2})
	or(&r.Returns, Rate{N: 20, Per: minute, Burst: 20})
	or(&r.Keyframes, Rate{N: 512 << 10, Per: lockstep.Second, Burst: 16 << 20})
	or(&r.Resimulations, Rate{N: max(1, int(s.TickRate())/16), Per: lockstep.Second, Burst: history * int(s.CheckEvery)})
	or(&r.Ready, Rate{N: 1, Per: minute, Burst: 6})
	or(&r.Notes, Rate{N: 1, Per: lockstep.Second, Burst: 8})
	or(&r.Offences, Rate{N: 20, Per: lockstep.Second, Burst: 100})
	or(&r.Pace, Rate{N: int(6 * lockstep.Second), Per: minute, Burst: int(6 * lockstep.Second)})
	or(&r.MatchNotes, Rate{N: 16, Per: lockstep.Second, Burst: 64})
}

// Bytes of a frame that are not payloads.
const (
	commandOverhead = 13       // of one command: player, sequence, kind, length
	systemOverhead  = 16 << 10 // of System's commands, and the array's header
)

// share returns the bytes of a frame that one player can fill.
func (o *Options) share(s *lockstep.Settings) int {
	return (protocol.MaxServerMessage - systemOverhead) / int(s.Players)
}

// coordinator returns those of a coordinator.
func (o *Options) coordinator(s *lockstep.Settings, frames func(from, to lockstep.Tick) []lockstep.Frame) coordinator.Options {
	return coordinator.Options{
		InputDelay: o.InputDelay,
		MaxPerTick: o.MaxPerTick, MaxBytesPerTick: o.share(s) - commandOverhead*o.MaxPerTick,
		Relay: o.Relay,
		Referee: lockstep.FollowerOptions{
			History:  lockstep.HistoryOptions{Length: o.EvidenceHistory, States: true},
			Observer: o.Observer, Stepping: o.Stepping, Heavy: o.Heavy, Flight: new(flight.Ring),
		},
		Frames: frames,
	}
}

// authorize returns the grant of a token.
func (o *Options) authorize(token string) (Grant, error) {
	if token == "" && o.AnonymousSpectators {
		return Grant{Role: protocol.Spectator, Guest: true}, nil
	}
	if token == "" || o.Authorize == nil {
		return Grant{}, errRefused
	}
	//samestep:allow unseen decides about joins, and never reaches a simulation
	g, err := o.Authorize(token)
	if err == nil && !g.Role.Valid() {
		err = errRefused
	}
	if g.Subject == "" {
		g.Subject = token
	}
	return g, err
}

var errRefused = errors.New("lockstep: refused")

// maxPeers returns the most connections of a match with so many seats.
func (o *Options) maxPeers(seats int) int { return seats + o.MaxSpectators + o.MaxConnecting }

// Disclosure returns who may see what of a match with these options.
func (o *Options) Disclosure() disclosure.Policy {
	return disclosure.Policy{Views: o.Views.Only, Delay: o.SpectatorDelay}
}

// checkReferee refuses what needs a referee in relay mode, and bots without a seat.
func (o *Options) checkReferee(s *lockstep.Settings) error {
	switch {
	case len(o.Bots) > int(s.Players):
		return fmt.Errorf("lockstep: host: bots: got %d, want at most %d, the seats", len(o.Bots), s.Players)
	case !o.Relay:
	case o.SpectatorDelay > 0:
		return fmt.Errorf("lockstep: host: spectator delay: got %d ticks in relay mode, want 0", o.SpectatorDelay)
	case o.Observer != nil:
		return errors.New("lockstep: host: got an observer in relay mode, which has no referee")
	case len(o.Bots) > 0:
		return fmt.Errorf("lockstep: host: bots: got %d in relay mode, want none: they look at the referee's state", len(o.Bots))
	case o.Substitute != nil:
		return errors.New("lockstep: host: substitute: got one in relay mode, want none: it looks at the referee's state")
	}
	return nil
}

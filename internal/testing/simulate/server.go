package simulate

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// socketRoom is how many bytes a server's socket takes before it is busy.
const socketRoom = 64 << 10

// A server is the process that hosts the match: a Host, the log's file, and a disk.
// It can crash at any time, and restarts from the file.
type server struct {
	w      *world
	host   *host.Host // nil while the process is dead
	writer *replay.Writer
	disk   disk
	wires  []*wire
	byID   map[host.PeerID]*wire
	buf    []byte
	log    lockstep.Log
	next   lockstep.Time     // when the host has something to do
	ids    []host.PeerID     // that may have something to send
	wrote  protocol.Position // after the records in the file

	stalled lockstep.Time // does nothing before
	restart lockstep.Time // when a crashed one restarts
	syncAt  lockstep.Time // of the next concurrent sync
	commit  commit
	cut     bool // the power was cut, not only the process killed
	again   int  // how many recoveries crash, too
	rotten  bool // a bit of the file was flipped
	retold  bool // the file's failure was noticed

	flushed lockstep.Tick // a crash of the process keeps at least this
	durable lockstep.Tick // a power cut keeps at least this
	epoch   int
	chance  *rand.Rand // of the current fault

	member
}

func (s *server) up() bool { return s.host != nil }

// ready reports whether the server runs, and is neither stalled nor about to leave.
func (s *server) ready() bool { return s.host != nil && s.stalled <= s.w.now && !s.suspended }

// due returns when the server has something to do.
func (s *server) due() lockstep.Time {
	if s.host == nil {
		return s.restart
	}
	at := s.next
	if s.syncAt > 0 {
		at = min(at, s.syncAt)
	}
	if s.commit.at > 0 {
		at = min(at, s.commit.at)
	}
	if s.retold {
		at = min(at, s.restart)
	}
	return max(at, s.stalled)
}

// kickTime is how long a kick bans a player. It is less than calmDown.
const kickTime = 5 * lockstep.Second

// options returns the options of the Host.
func (s *server) options() host.Options {
	w, p := s.w, &s.w.plan.Host
	return host.Options{
		Authorize: w.authorize,
		Random: func(b []byte) {
			for i := range b {
				b[i] = byte(w.tokens.Uint32())
			}
		},
		Evidence:   true,
		InputDelay: p.InputDelay, Lag: p.Lag, Grace: p.Grace, KeyframeInterval: p.Keyframes, SyncBytesPerTick: p.SyncBytes, RingRecords: p.Ring,
		Wait: host.WaitPolicy{Bound: p.Wait}, Slow: host.SlowPolicy{Percent: p.Slow},
		Delay: host.DelayPolicy{Max: p.MaxDelay}, LeaveAfterGrace: p.Leave, Desync: p.Desync,
		SpectatorDelay: p.SpectatorDelay, Relay: p.Relay, KickTime: kickTime,
		Rates: p.limits(), MaxNoteBytes: p.NoteBytes, Substitute: w.substitute(), Inactive: p.inactive(), Start: p.Lobby.policy(), Views: p.Views.policy(), Bots: w.bots(),
	}
}

// open returns a Writer of a file.
func (s *server) open(f *file) *replay.Writer {
	p := &s.w.plan.Disk
	o := replay.WriterOptions{FlushTicks: p.FlushTicks, Durability: replay.SyncNone, SyncEvery: time.Hour}
	if p.Await {
		o.FlushTicks = 1
	}
	if !p.EachFrame {
		return replay.NewWriter(onlyWriter{f}, o)
	}
	o.Durability = replay.SyncFrame
	return replay.NewWriter(syncing{f}, o)
}

// An onlyWriter hides a file's Sync: the simulator syncs it at its own time, where
// the Writer would use a goroutine.
type onlyWriter struct{ *file }

// begin starts the match.
func (s *server) begin() error {
	s.disk.now = &file{disk: &s.disk}
	s.writer = s.open(s.disk.now)
	if s.w.cluster != nil {
		s.w.cluster.begin(s)
	}
	host, err := host.New(s.w.subject.Game, s.w.header, s.options())
	if err != nil {
		return err
	}
	s.started(host)
	s.take()
	return nil
}

func (s *server) started(hosted *host.Host) {
	s.host, s.byID, s.wires, s.startedAt = hosted, make(map[host.PeerID]*wire), nil, s.w.now
	s.stalled, s.restart, s.syncAt, s.retold = 0, never, 0, false
	if !s.owns() {
		s.log = s.replica
		return
	}
	s.w.refereeIsRight()
	s.w.budgets.reset()
	s.w.lobby.ordered = false
	s.w.unpause = s.w.unpause || s.w.pausedTo > 0 && s.w.now >= s.w.pausedTo // a crash may have lost the resume
	s.commit, s.wrote, s.ids = commit{}, 0, nil
	// The oracle is offered each record, the file writes it, and then the oracle takes it.
	s.w.oracle.offered = nil
	s.log = record.Tee((*offers)(s.w.oracle), s.writer, s.w.oracle)
	if s.replica != nil {
		s.log = record.Tee((*offers)(s.w.oracle), s.replica, s.writer, s.w.oracle)
	}
	if !s.w.plan.Disk.EachFrame && !s.w.plan.Disk.Await {
		s.syncAt = s.w.now + s.w.plan.Disk.SyncEvery
	}
	s.disk.lost, s.disk.retried, s.disk.spent = false, 0, 0
}

// step does what is due now.
func (s *server) step() {
	w := s.w
	if s.host == nil {
		if s.restart <= w.now {
			s.start()
		}
		return
	}
	if s.stalled > w.now {
		return
	}
	if s.retold && s.restart <= w.now {
		s.die(false)
		return
	}
	if s.disk.lost {
		s.syncAt = 0 // no sync after a failed one
	}
	if s.syncAt > 0 && s.syncAt <= w.now {
		s.syncAt = w.now + w.plan.Disk.SyncEvery
		tick := s.flushed
		if s.disk.now.sync() == nil {
			s.durable = tick
		}
		s.disk.spent = 0 // the sync is concurrent
		if s.disk.crashed {
			s.die(false)
			return
		}
	}
	s.endCommit()
	if s.disk.crashed {
		s.die(false)
		return
	}
	if s.next <= w.now {
		s.host.Advance(w.now)
		s.take()
		for _, wire := range s.wires {
			s.edge(wire)
		}
	}
	s.after()
}

// after handles the effects of a call of the host.
func (s *server) after() {
	w := s.w
	s.take()
	if s.disk.crashed {
		s.die(false)
		return
	}
	s.beginCommit()
	s.replicate()
	if s.owns() {
		s.progress()
		w.lookAtReferee()
	}
	if s.disk.spent > 0 {
		if s.disk.spent > lockstep.Millisecond {
			s.stalled = w.now + s.disk.spent
			w.trouble(s.stalled)
		}
		s.disk.spent = 0
	}
	if s.disk.retried > 0 {
		w.fail("I3", "a failed sync was tried again %d times", s.disk.retried)
	}
	if s.host.Err() != nil && !s.retold {
		s.stopped(s.host.Err())
	}
	if s.stalled <= w.now {
		s.pump()
	}
}

// stopped handles the end of the match by an error or its end record.
func (s *server) stopped(err error) {
	s.retold = true
	s.restart = never
	if errors.Is(err, coordinator.ErrEnded) || !s.owns() {
		return
	}
	if s.disk.now.failing == nil {
		s.w.fail("I10", "the match stopped: %v", err)
		return
	}
	s.w.count("match stopped by its file")
	s.w.trouble(s.w.now + 2*lockstep.Second)
	s.restart = s.w.now + 2*lockstep.Second // an operator restarts it
	s.stalled = 0
}

// progress records what a crash must keep.
func (s *server) progress() {
	tick := s.w.oracle.tick()
	if s.w.plan.Disk.EachFrame {
		s.flushed, s.durable = tick, tick
		return
	}
	flush := lockstep.Tick(s.w.plan.Disk.FlushTicks)
	if s.w.plan.Disk.Await {
		flush = 1
	}
	if tick > flush {
		s.flushed = max(s.flushed, tick-flush)
	}
}

// failed reports whether the match is over, but not by its rules: then nobody waits for its records.
func (s *server) failed() bool {
	_, byRules := s.host.Result()
	return s.host.Err() != nil && !byRules
}

// take does what the host wants done, except that it sends nothing.
func (s *server) take() {
	for {
		r := s.host.Ready()
		s.next, s.ids = r.Next, append(s.ids, r.Peers...)
		if r.Empty() {
			return
		}
		if s.record(r); !s.owns() {
			continue // nothing is said of this match
		}
		for i := range r.Events {
			s.w.observe(r.Events[i])
		}
		for _, e := range r.Evidence {
			s.w.evidence(e)
		}
	}
}

// record appends the host's records to the file.
func (s *server) record(r *host.Ready) {
	if len(r.Records) == 0 {
		return
	}
	if err := r.AppendTo(s.log); err != nil {
		s.host.Fail(s.w.now, err)
		return
	}
	if s.host.Status().InLobby && !s.w.plan.Disk.Await { // no tick makes the writer flush or sync
		err := s.writer.Flush()
		if err == nil && s.w.plan.Disk.EachFrame {
			err = s.disk.now.sync()
		}
		if err != nil {
			s.host.Fail(s.w.now, err)
			return
		}
	}
	if s.wrote = r.Position; s.replica != nil {
		s.replica.wait(r.Position)
	} else if !s.w.plan.Disk.Await {
		s.host.Persisted(s.w.now, r.Position)
	}
}

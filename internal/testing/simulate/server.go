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
}

// A commit is a sync concurrent with the match. No client sees what is not synced.
type commit struct {
	at       lockstep.Time // when it completes; 0: there is none
	position protocol.Position
	tick     lockstep.Tick
	size     int               // of the synced part of the file
	done     protocol.Position // of the previous commit
}

// beginCommit starts a commit if there are records to commit.
func (s *server) beginCommit() {
	c := &s.commit
	if !s.w.plan.Disk.Await || c.at > 0 || s.failed() || s.wrote == c.done || s.disk.lost {
		return
	}
	if err := s.writer.Flush(); err != nil {
		s.host.Fail(s.w.now, err)
		return
	}
	*c = commit{at: s.w.now + max(1, s.w.plan.Disk.SyncTime+s.disk.slow), position: s.wrote, tick: s.w.oracle.tick(), size: len(s.disk.now.data)}
}

// endCommit completes a commit that is due.
func (s *server) endCommit() {
	c := &s.commit
	if c.at == 0 || c.at > s.w.now {
		return
	}
	c.at = 0
	if err := s.disk.now.syncTo(c.size); err != nil {
		s.host.Fail(s.w.now, err)
	} else if !s.failed() {
		s.durable, c.done = max(s.durable, c.tick), c.position
		s.host.Persisted(s.w.now, c.position)
	}
	s.disk.spent = 0 // the sync was concurrent
}

func (s *server) up() bool { return s.host != nil }

// ready reports whether the server runs and is not stalled.
func (s *server) ready() bool { return s.host != nil && s.stalled <= s.w.now }

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
		Rates: p.limits(), MaxNoteBytes: p.NoteBytes, Substitute: w.substitute(), Inactive: p.inactive(), Start: p.Lobby.policy(), Bots: w.bots(),
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
	host, err := host.New(s.w.subject.Game, s.w.header, s.options())
	if err != nil {
		return err
	}
	s.started(host)
	s.take()
	return nil
}

func (s *server) started(hosted *host.Host) {
	s.host, s.byID, s.wires = hosted, make(map[host.PeerID]*wire), nil
	s.stalled, s.restart, s.syncAt, s.retold = 0, never, 0, false
	s.w.refereeIsRight()
	s.w.budgets.reset()
	s.w.lobby.ordered = false
	s.w.unpause = s.w.unpause || s.w.pausedTo > 0 && s.w.now >= s.w.pausedTo // a crash may have lost the resume
	s.commit, s.wrote, s.ids = commit{}, 0, nil
	// The oracle is offered each record, the file writes it, and then the oracle takes it.
	s.w.oracle.offered = nil
	s.log = record.Tee((*offers)(s.w.oracle), s.writer, s.w.oracle)
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
	s.progress()
	w.lookAtReferee()
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
	if errors.Is(err, coordinator.ErrEnded) {
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
		s.record(r)
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
	if s.host.InLobby() && !s.w.plan.Disk.Await { // no tick makes the writer flush or sync
		err := s.writer.Flush()
		if err == nil && s.w.plan.Disk.EachFrame {
			err = s.disk.now.sync()
		}
		if err != nil {
			s.host.Fail(s.w.now, err)
			return
		}
	}
	if s.wrote = r.Position; !s.w.plan.Disk.Await {
		s.host.Persisted(s.w.now, r.Position)
	}
}

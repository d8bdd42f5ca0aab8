package simulate

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// die ends the process at once.
func (s *server) die(cut bool) {
	w := s.w
	w.Crashes++
	w.check()
	s.hangUp(cut)
	s.disk.crashed, s.disk.failAt = false, 0
	s.cut = cut
	if cut {
		s.disk.now.powerCut(s.chance)
	} else {
		s.disk.now.synced = len(s.disk.now.data) // the operating system survives and writes it
	}
	if s.restart == never || s.restart <= w.now {
		s.restart = w.now + lockstep.Second
	}
	w.trouble(s.restart)
}

// start restarts the process, which recovers the match from the rest of the file. The
// recovery writes a new file and renames it when it is complete, so it may crash,
// too.
func (s *server) start() {
	w := s.w
	if w.relay.on {
		s.ended()
		return
	}
	old := s.disk.now
	for {
		s.disk.next = &file{disk: &s.disk}
		s.disk.failAt = 0
		if s.again > 0 {
			s.again--
			s.disk.failAt, s.disk.failure = s.disk.ops+1+s.chance.IntN(4), "crash"
		}
		recovery := host.NewRecovery(w.subject.Game)
		found, err := s.recover(old, recovery)
		if s.disk.crashed {
			w.count("crash in recovery")
			w.Crashes++
			s.disk.crashed = false
			s.disk.next.powerCut(s.chance) // not renamed yet
			continue
		}
		s.disk.failAt = 0
		if err != nil && s.rotten {
			w.count("match lost to rot")
			w.over, s.restart = true, never
			return
		}
		if err != nil {
			w.fail("I8", "the file cannot be recovered: %v", err)
			return
		}
		if !w.recovered(old, found, recovery) {
			return
		}
		s.disk.now, s.disk.next = s.disk.next, nil
		s.epoch++
		host, err := recovery.Host(w.now, s.options())
		if err != nil && (w.lostToReferee(err) || w.wasOver(err)) {
			return
		}
		if err != nil {
			w.fail("I8", "the match cannot go on after tick %d: %v", recovery.Tick(), err)
			return
		}
		s.started(host)
		w.barrier.hide()
		s.flushed, s.durable = recovery.Tick(), recovery.Tick()
		w.count("match resumed")
		s.take()
		return
	}
}

// recover copies the readable part of a file to the next one.
func (s *server) recover(old *file, recovery *host.Recovery) (*replay.Recovery, error) {
	r, err := replay.NewReader(bytes.NewReader(old.data), int64(len(old.data)))
	if err != nil {
		return nil, err
	}
	s.writer = s.open(s.disk.next)
	found, err := replay.Continue(s.writer, r, recovery)
	if err == nil {
		err = s.disk.next.sync()
	}
	return found, err
}

// recovered checks that a recovery has found the longest correct prefix of the file,
// and no less than its durability promises.
func (w *world) recovered(old *file, found *replay.Recovery, recovery *host.Recovery) bool {
	s := w.server
	promised := s.flushed
	if s.cut {
		promised = s.durable
	}
	if s.rotten {
		promised = 0
	}
	if found.Ticks < promised {
		w.fail("I3", "after a crash at tick %d the file has %d ticks, promised were %d: %v", w.oracle.tick(), found.Ticks, promised, found.Damage)
		return false
	}
	if told := w.oracle.shown; (w.plan.Disk.EachFrame || w.plan.Disk.Await) && !s.rotten && found.Ticks < told {
		w.fail("I3", "a crash has left %d ticks, and a client has received tick %d", found.Ticks, told)
		return false
	}
	n, err := w.prefix(old.data)
	if err != nil {
		w.fail("I8", "the recovered file: %v", err)
		return false
	}
	if lost := w.oracle.tick() - found.Ticks; lost > 0 {
		w.count("crash with lost ticks")
	}
	if err := w.oracle.resume(n, recovery.Tick()); err != nil {
		w.fail("I8", "the recovered file: %v", err)
		return false
	}
	w.oracle.now().rotten, s.rotten = s.rotten, false
	return true
}

// prefix returns how many records of the live log a file has. They must be its first
// ones, byte for byte.
func (w *world) prefix(data []byte) (records int, err error) {
	r, err := replay.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0, err
	}
	h := w.oracle.now()
	for rec, err := range r.All() {
		if errors.As(err, new(*replay.DamageError)) {
			return records, nil
		}
		if err != nil {
			return records, err
		}
		if rec.Kind == record.KindKeyframe {
			continue
		}
		got := r.Record()
		if rec.Ticks() > 0 && len(rec.Frame.Commands) == 0 {
			got = emptyTick // the file joins them
		}
		for range max(1, rec.Ticks()) {
			if records == len(h.records)+len(w.oracle.offered) {
				return records, fmt.Errorf("it has more records than the %d that were written", records)
			}
			if want := w.oracle.record(records); !bytes.Equal(want, got) {
				return records, fmt.Errorf("record %d is %x, want %x", records, r.Record(), want)
			}
			records++
		}
	}
	return records, nil
}

// emptyTick is the record of a tick without commands.
var emptyTick = []byte{0x92, 0x04, 0x01}

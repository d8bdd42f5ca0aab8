package simulate

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

const (
	saves     = 2  // matches that begin in states of the file of a run
	saveTicks = 40 // of each, with a crash in the first half
)

// A saved is a match that begins in a state of the file of a run.
type saved struct {
	w      *world
	parent []byte
	tick   lockstep.Tick
	random *rand.Rand
	lobby  bool // an admin begins the match
	origin *replay.Origin
	file   bytes.Buffer
}

// checkSaves lets matches begin in states of a file that is true.
func (w *world) checkSaves(data []byte) {
	if w.violation != nil || w.relay.on || w.server.rotten || w.referee.wrong || len(w.referee.logged) > 0 || w.oracle.tick() == 0 {
		return
	}
	random := stream(w.plan.Seed, "saves", 0)
	for i := range saves {
		s := &saved{w: w, parent: data, tick: lockstep.Tick(random.Uint32N(uint32(w.oracle.tick()))), random: random, lobby: i > 0}
		err := s.choose(i > 0)
		if err == nil {
			err = s.play()
		}
		if err != nil {
			w.fail("I15", "a match that begins in tick %d of the file: %v", s.tick, err)
			return
		}
		w.count("match begun in a state of the file")
	}
}

// choose makes the tick an eventful one, in which a command of System is, if that is wanted and there is one.
func (s *saved) choose(eventful bool) error {
	r, err := s.reader(s.parent)
	if err != nil || !eventful {
		return err
	}
	var all []lockstep.Tick
	for rec, err := range r.All() {
		if err != nil {
			return err
		}
		for i := range rec.Frame.Commands {
			if rec.Frame.Commands[i].Player == lockstep.System && rec.Tick < s.w.oracle.tick() {
				all = append(all, rec.Tick)
			}
		}
	}
	if len(all) > 0 {
		s.tick = all[s.random.IntN(len(all))]
	}
	return nil
}

func (s *saved) reader(data []byte) (*replay.Reader, error) {
	return replay.NewReader(bytes.NewReader(data), int64(len(data)))
}

// play plays a match, with a crash, and checks its log.
func (s *saved) play() error {
	r, err := s.reader(s.parent)
	if err != nil {
		return err
	}
	if s.origin, err = replay.ReadOrigin(r, s.w.subject.Game, "parent", s.tick, replay.SimulateOptions{}); err != nil {
		return err
	}
	h := *s.origin.Header
	h.Match[0]++
	m, err := s.origin.Recovery.Begin(0, &h, host.Origin{Lineage: s.origin.Lineage}, s.options())
	if err != nil {
		return err
	}
	if err := s.run(m, replay.NewWriter(&s.file, replay.WriterOptions{}), s.tick+1+lockstep.Tick(s.random.Uint32N(saveTicks/2))); err != nil {
		return err
	}
	if m, err = s.recover(); err != nil || m == nil {
		return err
	}
	return s.check()
}

// options returns the options of a match in which a bot has the first seat.
func (s *saved) options() host.Options {
	play := s.w.subject.Play(0, s.random)
	o := host.Options{Random: func(b []byte) { b[0] = byte(s.random.Uint32()) }, Bots: []lockstep.Bot{lockstep.Bot(play)}}
	if s.lobby {
		o.Start = host.StartPolicy{Players: 1}
	}
	return o
}

// run runs a match up to a tick, or to its end.
func (s *saved) run(m *host.Host, w *replay.Writer, until lockstep.Tick) error {
	for range 10 * saveTicks { // or it stands still
		r := m.Ready()
		if err := r.AppendTo(w); err != nil {
			return err
		}
		m.Persisted(r.Next, r.Position)
		if m.Now() >= until || m.Err() != nil {
			break
		}
		if m.Status().InLobby && m.Now() > s.tick {
			if err := m.Admin().Start(r.Next); err != nil {
				return err
			}
		}
		m.Advance(r.Next)
	}
	if err := m.Err(); err != nil && !errors.Is(err, coordinator.ErrEnded) {
		return err
	}
	if m.Now() < until && m.Err() == nil {
		return fmt.Errorf("it stands still at tick %d", m.Now())
	}
	return w.Flush()
}

// recover crashes the match, continues it in another file, and ends it. The match is nil if its rules have ended it before.
func (s *saved) recover() (*host.Host, error) {
	r, err := s.reader(bytes.Clone(s.file.Bytes()))
	if err != nil {
		return nil, err
	}
	recovery := host.NewRecovery(s.w.subject.Game)
	s.file.Reset()
	w := replay.NewWriter(&s.file, replay.WriterOptions{})
	found, err := replay.Continue(w, r, recovery)
	if err != nil || found.Damage == nil {
		return nil, err
	}
	m, err := recovery.Host(0, s.options())
	if err != nil {
		return nil, fmt.Errorf("after a crash: %w", err)
	}
	if err := s.run(m, w, s.tick+saveTicks); err != nil {
		return nil, fmt.Errorf("after a crash: %w", err)
	}
	if m.Err() == nil {
		if err := m.Admin().End(0, "the run is over"); err != nil {
			return nil, err
		}
		if err := m.Ready().AppendTo(w); err != nil {
			return nil, err
		}
	}
	return m, w.Close()
}

// check verifies the log of the match, and compares its beginning with the file.
func (s *saved) check() error {
	r, err := s.reader(s.file.Bytes())
	if err != nil {
		return err
	}
	v, err := replay.Verify(r, s.w.subject.Game, replay.VerifyOptions{Workers: 1})
	if err != nil || !v.Ended {
		return fmt.Errorf("it is verified as %+v, %w", v, err)
	}
	parent, err := s.reader(s.parent)
	if err != nil {
		return err
	}
	want, err := summary(parent, s.tick)
	if err != nil {
		return err
	}
	state, err := s.firstState()
	if err != nil {
		return err
	}
	return s.compare(r, want, state)
}

// firstState returns the state of the file with which the match must begin.
func (s *saved) firstState() ([]byte, error) {
	parent, err := s.reader(s.parent)
	if err != nil {
		return nil, err
	}
	m, err := replay.StateAt(parent, s.w.subject.Game, s.tick, replay.SimulateOptions{})
	if err != nil {
		return nil, err
	}
	return m.State, nil
}

// compare compares the beginning of the match with a state and the seats of the file.
func (s *saved) compare(r *replay.Reader, want map[lockstep.Player]string, state []byte) error {
	first, err := r.Reopen()
	if err != nil {
		return err
	}
	got := map[lockstep.Player]string{}
	for rec, err := range first.All() {
		switch {
		case err != nil:
			return err
		case rec.Kind == record.KindKeyframe && (rec.Tick != s.tick || !bytes.Equal(rec.Keyframe.State, state)):
			return fmt.Errorf("it begins in another state, of tick %d", rec.Tick)
		case rec.Ticks() > 0:
			if err := follow(got, &rec.Frame); err != nil {
				return err
			}
			for p := range want {
				if p > 0 && want[p] != "taken over" {
					want[p] = "lost"
				}
			}
			want[0] = "joined" // the bot
			if _, ended := s.w.oracle.sim.Ended(); !ended && fmt.Sprint(got) != fmt.Sprint(want) {
				return fmt.Errorf("its first tick says of the seats: %v, want %v", got, want)
			}
			return nil
		}
	}
	return errors.New("it has no tick")
}

// summary returns what a log says of the seats up to a tick.
func summary(r *replay.Reader, until lockstep.Tick) (map[lockstep.Player]string, error) {
	all := map[lockstep.Player]string{}
	first, err := r.Reopen()
	if err != nil {
		return nil, err
	}
	for rec, err := range first.All() {
		if err != nil || rec.Tick > until {
			return all, err
		}
		if err := follow(all, &rec.Frame); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// follow takes the commands of a frame that are about seats.
func follow(seats map[lockstep.Player]string, f *lockstep.Frame) error {
	for i := range f.Commands {
		if f.Commands[i].Player != lockstep.System {
			continue
		}
		v, err := record.SystemValue(&f.Commands[i])
		if err != nil {
			return err
		}
		switch v := v.(type) {
		case *lockstep.Joined:
			seats[v.Player] = "joined"
		case *lockstep.Lost:
			seats[v.Player] = "lost"
		case *lockstep.TakenOver:
			seats[v.Player] = "taken over"
		case *lockstep.Left:
			delete(seats, v.Player)
		}
	}
	return nil
}

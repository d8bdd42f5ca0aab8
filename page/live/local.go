package live

import (
	"bytes"
	"cmp"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/local"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/replay"
)

const (
	localPeriod = 8 * time.Millisecond   // between two looks at the clock
	localGap    = 100 * time.Millisecond // more than that is not played: the browser lets a hidden page sleep
)

// A Solo is a match without a server: the user against bots.
type Solo struct {
	Name     string         // of the user
	Config   any            // pointer to the game's configuration
	Seed     uint64         // of the match
	TickRate uint16         // ticks per second; 0: those of lockstep.DefaultSettings
	Bots     []lockstep.Bot // by seat; the user has the first one where it is nil
}

// Play begins a match in this process. It stands still while nothing lets this process run, such as in a hidden page.
func Play(g *lockstep.Game, solo Solo, o Options) (*Match, error) {
	s := &localSession{done: make(chan struct{}), stopped: make(chan struct{})}
	m := &Match{options: o, game: g, session: s, began: time.Now(), leave: s.stop}
	m.news.words = o.Words
	m.news.init(m.now)
	s.writer = replay.NewWriter(&s.file, replay.WriterOptions{})
	settings := lockstep.DefaultSettings(uint8(min(max(1, len(solo.Bots)), lockstep.MaxPlayers)))
	settings.Seed, settings.TickMicros = solo.Seed, lockstep.TickPeriod(cmp.Or(solo.TickRate, settings.TickRate()))
	var err error
	s.match, err = local.New(g, solo.Config, local.Options{
		Settings: settings, Bots: solo.Bots, Name: solo.Name, Log: s.writer,
		Handle: func(event any) { m.handle(s.match.Client(), event) },
		Client: player.Options{Predict: predictTicks, Interpolate: true, Observer: m.observe},
	})
	if err != nil {
		return nil, err
	}
	m.client = s.match.Client()
	go s.run()
	return m, nil
}

// Replay returns the replay of a match that was begun with [Play], up to now, or nil.
func (m *Match) Replay() (file []byte) {
	s, ok := m.session.(*localSession)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writer.Flush() != nil {
		return nil
	}
	return bytes.Clone(s.file.Bytes())
}

// A session connects a client with its match.
type session interface {
	Do(f func(*player.Client)) error
	Done() <-chan struct{}
	Close()
	Cut() error
	Retry() error
}

// A localSession plays a match in this process, in a goroutine of its own.
type localSession struct {
	stopping sync.Once
	stopped  chan struct{}
	done     chan struct{}

	mu     sync.Mutex // of the rest
	match  *local.Match
	now    lockstep.Time
	file   bytes.Buffer
	writer *replay.Writer
}

func (s *localSession) run() {
	defer close(s.done)
	tick := time.NewTicker(localPeriod)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-s.stopped:
			s.end()
			return
		case <-tick.C:
		}
		now := time.Now()
		if !s.advance(min(now.Sub(last), localGap)) {
			return
		}
		last = now
	}
}

// advance plays for a time, and reports whether the match can go on.
func (s *localSession) advance(elapsed time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now += lockstep.Time(elapsed.Microseconds())
	return s.match.Advance(s.now) == nil
}

// end ends the match, so that its replay has an end.
func (s *localSession) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.match.Host().Admin().End(s.now, "the player has left") == nil {
		_ = s.match.Advance(s.now) // the match is over, and so is its log
	}
}

func (s *localSession) stop() { s.stopping.Do(func() { close(s.stopped) }) }

func (s *localSession) Do(f func(*player.Client)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.match.Client())
	return nil
}

func (s *localSession) Done() <-chan struct{} { return s.done }

func (s *localSession) Close() {
	s.stop()
	<-s.done
}

// Cut and Retry do nothing: there is no connection.
func (s *localSession) Cut() error   { return nil }
func (s *localSession) Retry() error { return nil }

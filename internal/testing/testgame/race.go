package testgame

import (
	"bytes"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
)

// The race: the first player with Goal steps wins, and the rules end the match. Stop ends it without a winner.
type (
	Race       struct{ Steps []int32 }
	RaceConfig struct{ Goal int32 }
	Run        struct{ Steps int16 }
	Stop       struct{}
	Victory    struct {
		Winner uint8
		Steps  []int32
	}
)

// RaceRules are the rules of the race.
func RaceRules() lockstep.Rules[Race, RaceConfig] {
	return lockstep.Rules[Race, RaceConfig]{
		Name: "race", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[Run](1, "run"), lockstep.Type[Stop](2, "stop")},
		New: func(w *Race, s *lockstep.Settings, _ *RaceConfig) error {
			w.Steps = make([]int32, s.Players)
			return nil
		},
		Step:   stepRace,
		Result: lockstep.Result[Victory](),
	}
}

func stepRace(w *Race, config *RaceConfig, turn *lockstep.Turn) {
	for i := range turn.Commands {
		c := &turn.Commands[i]
		switch v := c.Value.(type) {
		case *Run:
			if w.Steps[c.Player] += int32(v.Steps); w.Steps[c.Player] >= config.Goal {
				turn.End(&Victory{Winner: uint8(c.Player), Steps: slices.Clone(w.Steps)})
			}
			lockstep.Emit(turn, *v)
		case *Stop:
			turn.End(nil)
		}
	}
}

// NewRace returns the race of two players to 10 steps.
func NewRace(tb testing.TB) (*lockstep.Game, *lockstep.Header) {
	tb.Helper()
	g, err := lockstep.NewGame(RaceRules())
	if err != nil {
		tb.Fatal(err)
	}
	s := lockstep.DefaultSettings(2)
	s.CheckEvery, s.KeyframeEvery = 4, 8
	h, err := g.NewHeader(lockstep.MatchID{8}, s, &RaceConfig{Goal: 10})
	if err != nil {
		tb.Fatal(err)
	}
	h.Platform, h.Sources = "test", ""
	return g, h
}

// RecordRace returns the records of a race, at whose tick last player 1 reaches the goal. It goes on from there to the
// tick until, if the coordinator of o lets it.
func RecordRace(tb testing.TB, last, until lockstep.Tick, o coordinator.Options) (*lockstep.Game, [][]byte) {
	tb.Helper()
	g, h := NewRace(tb)
	var log records
	c, err := coordinator.New(g, h, &log, o)
	if err != nil {
		tb.Fatal(err)
	}
	for p := range lockstep.Player(2) {
		if _, err := c.Join(p); err != nil {
			tb.Fatal(err)
		}
	}
	p := g.NewPayloads()
	for c.Now() < until && c.Err() == nil {
		if c.Now()+1 == last {
			kind, payload, _ := p.Encode(&Run{Steps: 10})
			if r := c.Submit(1, 1, kind, payload); r.Reason != lockstep.Accepted {
				tb.Fatal(r.Reason)
			}
		}
		if _, err := c.Tick(); err != nil {
			tb.Fatal(err)
		}
	}
	return g, log
}

// records are the records of a log, one by one.
type records [][]byte

func (l *records) Append(b []byte) error {
	*l = append(*l, bytes.Clone(b))
	return nil
}

package skirmish_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// match is a match of bots on the engine: coordinator, log and one follower.
type match struct {
	tb       testing.TB
	c        *coordinator.Coordinator
	follower *lockstep.Follower
	bots     []*skirmish.Bot
	sequence []lockstep.Sequence
	payloads *record.Payloads
	log      record.Tail

	accepted int
	refused  map[string]int
	bytes    int // of accepted payloads
	events   map[string]int
	each     func(event any) // called with every event, if set
}

func newMatch(tb testing.TB, seed uint64, players uint8, config skirmish.Config) *match {
	tb.Helper()
	game, err := lockstep.NewGame(skirmish.Rules())
	if err != nil {
		tb.Fatal(err)
	}
	settings := lockstep.DefaultSettings(players)
	settings.Seed = seed
	header, err := game.NewHeader(lockstep.MatchID{byte(seed)}, settings, &config)
	if err != nil {
		tb.Fatal(err)
	}
	m := &match{tb: tb, payloads: game.NewPayloads(), refused: map[string]int{}, events: map[string]int{}}
	m.follower = game.NewFollower(lockstep.FollowerOptions{Observer: m.observe})
	m.c, err = coordinator.New(game, header, record.Tee(&m.log, m.follower), coordinator.Options{InputDelay: 2})
	if err != nil {
		tb.Fatal(err)
	}
	for p := range lockstep.Player(players) {
		if _, err := m.c.Join(p); err != nil {
			tb.Fatal(err)
		}
		m.bots = append(m.bots, skirmish.NewBot(p, seed))
	}
	m.sequence = make([]lockstep.Sequence, players)
	return m
}

func (m *match) observe(_ lockstep.Tick, event any) {
	if m.each != nil {
		m.each(event)
	}
	switch e := event.(type) {
	case skirmish.Shot:
		m.events["shot"]++
	case skirmish.Death:
		m.events["death of "+e.Kind.String()]++
	case skirmish.Trained:
		m.events["trained "+e.Kind.String()]++
	case skirmish.BuildingDone:
		m.events["built "+e.Kind.String()]++
	case skirmish.Entered:
		m.events["entered "+e.Kind.String()]++
	case skirmish.Exited:
		m.events["exited "+e.Kind.String()]++
	case skirmish.Claimed:
		m.events["claimed"]++
	case skirmish.Pinged:
		m.events["pinged"]++
	case skirmish.PlayerDefeated:
		m.events["defeated"]++
	case skirmish.MatchWon:
		m.events["won"]++
	default:
		m.tb.Fatalf("unknown event %T", event)
	}
}

func (m *match) world() *skirmish.World {
	return lockstep.World[skirmish.World](m.follower.Simulation())
}

// run plays a number of ticks.
func (m *match) run(ticks int) {
	m.tb.Helper()
	for range ticks {
		for p, bot := range m.bots {
			for _, order := range bot.Think(m.world()) {
				m.submit(lockstep.Player(p), order.Value)
			}
		}
		if _, err := m.c.Tick(); err != nil {
			m.tb.Fatal(err)
		}
	}
}

func (m *match) submit(p lockstep.Player, value any) lockstep.Receipt {
	m.tb.Helper()
	kind, payload, err := m.payloads.Encode(value)
	if err != nil {
		m.tb.Fatal(err)
	}
	m.sequence[p]++
	r := m.c.Submit(p, m.sequence[p], kind, payload)
	if r.Reason == lockstep.Accepted {
		m.accepted++
		m.bytes += len(payload)
	} else {
		m.refused[r.String()]++
	}
	return r
}

// some returns the number of seeds to play: n, or two in small tests, or one in short ones.
func some(t *testing.T, n uint64) uint64 {
	switch {
	case testing.Short():
		return 1
	case testenv.Small(t):
		return min(n, 2)
	}
	return n
}

// Bots fight, build and train within three minutes with every seed.
func TestBotsPlay(t *testing.T) {
	for seed := range some(t, 5) {
		m := newMatch(t, seed, 4, skirmish.Defaults(4, 400))
		m.run(400)
		if m.events["death of soldier"] < 20 {
			t.Errorf("seed %d: no fight in the first 20 seconds: %v", seed, m.events)
		}
		m.run(3200)
		for _, what := range []string{"trained worker", "trained soldier", "built barracks", "death of archer"} {
			if m.events[what] == 0 {
				t.Errorf("seed %d: nobody %s in three minutes: %v", seed, what, m.events)
			}
		}
		if len(m.refused) > 0 { // a bot knows the rules; only what happens in the input delay can be in its way
			t.Errorf("seed %d: %d commands accepted, refused: %v", seed, m.accepted, m.refused)
		}
		t.Logf("seed %d: %.2f commands per player and second, %d bytes each, refused %v, %v",
			seed, float64(m.accepted)/4/180, m.bytes/m.accepted, m.refused, m.events)
	}
}

func TestLateJoiner(t *testing.T) {
	m := newMatch(t, 7, 3, skirmish.Defaults(3, 150))
	m.run(1300)
	game := lockstep.MustGame(skirmish.Rules())
	late := game.NewFollower(lockstep.FollowerOptions{})
	if err := m.log.Join(late); err != nil {
		t.Fatal(err)
	}
	if got, want := late.Simulation().Hash(), m.follower.Simulation().Hash(); late.Tick() != 1300 || got != want {
		t.Errorf("late joiner at tick %d has checksum %x, want %x", late.Tick(), got, want)
	}
}

// Eight players in two teams: no friendly fire, and a team shares the vision of its players.
func TestTeams(t *testing.T) {
	config := skirmish.Defaults(8, 320)
	config.Teams = 2
	m := newMatch(t, 2, 8, config)
	team := func(id skirmish.UnitID) int {
		for i := range m.world().Units {
			if u := &m.world().Units[i]; u.ID == id {
				return int(u.Team)
			}
		}
		return -1 // died in this tick
	}
	m.each = func(event any) {
		if e, ok := event.(skirmish.Shot); ok && team(e.By) == team(e.At) && team(e.By) >= 0 {
			t.Errorf("tick %d: unit %d hits its friend %d", m.follower.Tick(), e.By, e.At)
		}
	}
	m.run(2500)
	if m.events["shot"] < 1000 || m.events["trained worker"] == 0 {
		t.Errorf("too little happened: %v", m.events)
	}
}

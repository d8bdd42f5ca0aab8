package pace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/script"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
)

// The scripts in testdata are matches without connections or rules: only their time.
func TestPaceScripts(t *testing.T) {
	script.Run(t, "testdata/*.txt", func(t *testing.T) script.Interpreter {
		return (&table{t: t}).run
	})
}

// A table is a match that a script paces, of 20 ticks a second.
type table struct {
	t      *testing.T
	p      *Pace
	ledger *budget.Ledger
	now    lockstep.Time
	tick   lockstep.Tick
	delay  lockstep.Tick
	full   bool // the log takes no change of the speed
	seats  []Seat
	others Situation
	out    []string
}

func (m *table) print(format string, args ...any) {
	m.out = append(m.out, fmt.Sprintf("%6d ", m.now.Milliseconds())+fmt.Sprintf(format, args...))
}

func millis(s *script.Step, name string) lockstep.Time {
	return lockstep.Time(s.UintOr(name, 32, 0)) * lockstep.Millisecond
}

func (m *table) run(s *script.Step) string {
	m.out = nil
	seat := lockstep.Player(s.UintOr("p", 8, 0))
	switch s.Verb {
	case "pace":
		m.begin(s)
	case "join": // with an account, which guests of one address share
		var tab budget.Tab
		m.ledger.Welcome(m.now, &tab, budget.Holder{Subject: fmt.Sprint(seat), Address: s.String("at", ""), Guest: s.Has("at")})
		m.p.Bill(seat, tab.Payer())
		m.seats[seat] = Seat{Here: true, Live: true}
	case "lag":
		m.seats[seat].Lag = lockstep.Tick(s.Uint("ticks", 16))
	case "late":
		m.seats[seat].Measured, m.seats[seat].Late = true, millis(s, "ms")
	case "lose":
		m.seats[seat] = Seat{Away: true}
	case "back":
		m.seats[seat] = Seat{Here: true, Live: true}
	case "lobby":
		m.others.Lobby = Wait{Reason: s.String("for", "")}
		if m.others.Lobby.Reason == "" {
			m.p.Begin()
		}
	case "hold":
		w := Wait{Reason: s.String("why", ""), Until: millis(s, "until")}
		if !m.p.Hold(m.now, w) {
			m.print("as before")
		}
	case "pause":
		m.others.Paused = true
		m.p.Pause(seat)
	case "resume":
		m.others.Paused = false
	case "over":
		m.others.Over = true
	case "speed":
		m.p.SetSpeed(uint16(s.Uint("percent", 16)))
		m.print("period %d us", m.p.Period())
	case "full":
		m.full = !m.full
	case "pass":
		for end := m.now + millis(s, "ms"); m.now < end; {
			m.now += 10 * lockstep.Millisecond
			m.advance()
		}
		m.print("tick %d", m.tick)
	case "stall":
		m.now += millis(s, "ms")
		m.p.Forgive(m.now, millis(s, "ms"))
		m.advance()
		m.print("tick %d", m.tick)
	default:
		m.t.Fatalf("unknown verb %s", s.Verb)
	}
	if s.Verb != "pass" && s.Verb != "stall" {
		m.tell()
	}
	return strings.Join(m.out, "\n")
}

func (m *table) begin(s *script.Step) {
	var rates budget.Limits
	for k := range rates.Of {
		rates.Of[k] = budget.Rate{N: int(6 * lockstep.Second), Per: 60 * lockstep.Second, Burst: int(6 * lockstep.Second)}
	}
	settings := lockstep.DefaultSettings(uint8(s.UintOr("seats", 8, 2)))
	m.ledger = budget.New(rates, 100)
	*m = table{t: m.t, ledger: m.ledger, delay: 1, seats: make([]Seat, settings.Players)}
	m.p = New(settings, Policies{
		Wait:  WaitPolicy{Bound: millis(s, "wait"), Lead: 20},
		Slow:  SlowPolicy{Percent: uint16(s.UintOr("slow", 8, 0)), Lead: 40},
		Delay: DelayPolicy{Max: lockstep.Tick(s.UintOr("delay", 8, 0))},
		Every: 5 * lockstep.Second,
	}, m.ledger)
	m.p.Start(0)
}

// advance does what a host does at a time.
func (m *table) advance() {
	for range 3 {
		if m.p.Due() > m.now || m.others.Paused || m.others.Over || !m.await() {
			break
		}
		m.p.Tick()
		m.tick++
	}
	if m.p.Due() <= m.now {
		if n := m.p.Skip(m.now); n > 0 && !m.others.Paused && !m.others.Over {
			m.print("skipped %d", n)
		}
	}
	if m.now >= m.p.Next() {
		if percent, changed := m.p.Slow(m.now, m.seats); changed {
			m.print("speed %d", percent)
			if !m.full {
				m.p.Slowed(percent)
			}
		}
		if delay := m.p.Delay(m.now, m.delay, m.seats); delay != m.delay {
			m.print("delay %d", delay)
			m.delay = delay
		}
	}
	m.tell()
}

func (m *table) await() bool {
	return m.p.Await(m.now, m.others.Lobby.Reason != "", m.tick > 0, m.seats)
}

// tell prints what the peers are told.
func (m *table) tell() {
	for _, c := range m.p.Costs() {
		m.print("player %d, %d ms used: %s", c.Player, c.Used.Milliseconds(), c.Text)
	}
	before := m.p.Version
	changed, again := m.p.Tell(m.now, m.others)
	if changed != (m.p.Version != before) || changed && again != Never || again <= m.now {
		m.t.Errorf("changed %t, version %d after %d, again at %d", changed, m.p.Version, before, again)
	}
	if w := m.p.Told; changed {
		m.print("told: %q for %v, since %d ms, until %d ms", w.Reason, w.Players, w.Since.Milliseconds(), w.Until.Milliseconds())
	}
}

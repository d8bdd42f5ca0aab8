package host_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// go test ./lockstep/host -run 'Schedules|OldSessions' -v -args -exhaustive
var exhaustive = flag.Bool("exhaustive", false, "try a hundred thousand schedules and a million old sessions, not a tenth, or a hundredth")

// tries returns the number of repetitions for a test that can have any number.
func tries(t *testing.T, all int) int {
	switch {
	case *exhaustive:
		return all
	case testenv.Small(t), runtime.GOOS == "js": // which is ten times slower
		return all / 100
	}
	return all / 10
}

// random returns bytes that do not repeat.
func (d *dice) random(b []byte) {
	for len(b) > 0 {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], uint64(d.roll(1<<30))<<32|uint64(d.roll(1<<30)))
		b = b[copy(b, word[:]):]
	}
}

// A race is a match in which two connections want one seat at the same instant, again and again. Each time their steps
// are interleaved in another way.
type race struct {
	*party
	dice    *dice
	tokens  [2]string // what they show, if not the session
	guests  [3]*guest // two race; the third one may sit there
	session protocol.SessionToken
	races   *races
}

// races sums up all matches.
type races struct {
	run       int
	schedules map[string]bool // what was mixed how
	closed    map[protocol.CloseCode]int
	commands  int
}

func newRace(t *testing.T, all *races, d *dice, one, two string) *race {
	r := &race{dice: d, tokens: [2]string{one, two}, races: all}
	r.party = newParty(t, nil, func(o *host.Options) {
		o.Rates.Returns = host.Rate{N: 1 << 20, Per: lockstep.Second, Burst: 1 << 20}
		o.Random, o.KeyframeInterval = d.random, lockstep.Second/10 // short tails to join by
	})
	for i := range r.guests {
		r.guests[i] = r.guest(fmt.Sprint("racer ", i), "")
	}
	return r
}

// owners counts the connections that have a seat.
func (r *race) owners() (n int) {
	for _, info := range r.h.Info().Peers() {
		if info.Seat != lockstep.System && info.State != host.Closed {
			n++
		}
	}
	return n
}

// round lets two connections race. There are never two owners on the way; at the end there is one.
func (r *race) round(t *testing.T) error {
	racers := slices.DeleteFunc(slices.Clone(r.guests[:]), func(g *guest) bool { return g.id != 0 })[:2]
	var schedule []byte
	for i, g := range racers {
		g.auth.Token, g.auth.Session = r.tokens[i], protocol.SessionToken{}
		if r.session != (protocol.SessionToken{}) && r.dice.roll(2) == 0 {
			g.auth.Token, g.auth.Session = "", r.session // who comes second finds it used up, or not yet
			schedule = append(schedule, 's')
		}
	}
	var at [2]int
	for at[0] < len(raceSteps) || at[1] < len(raceSteps) {
		i := r.dice.roll(3)
		schedule = append(schedule, byte('0'+i))
		switch {
		case i == 2:
			r.now = max(r.now, r.next())
			r.h.Advance(r.now)
		case at[i] < len(raceSteps):
			raceSteps[at[i]](r, t, racers[i])
			at[i]++
		}
		if n := r.owners(); n > 1 {
			return fmt.Errorf("schedule %s: %d connections own the seat", schedule, n)
		}
	}
	r.deliver()
	if n := r.owners(); n != 1 {
		return fmt.Errorf("schedule %s: %d connections own the seat", schedule, n)
	}
	r.races.run++
	r.races.schedules[string(schedule)] = true
	r.conclude(racers)
	return nil
}

// raceSteps are what a racer does, in this order.
var raceSteps = []func(r *race, t *testing.T, g *guest){
	func(r *race, t *testing.T, g *guest) {
		if !g.open() {
			t.Fatal("no room")
		}
	},
	func(r *race, _ *testing.T, g *guest) {
		g.send(&protocol.Message{Kind: protocol.KindAuth, Auth: &g.auth})
	},
	func(r *race, _ *testing.T, g *guest) { g.pull() },
	func(r *race, t *testing.T, g *guest) {
		for _, other := range r.guests {
			g.sequence = max(g.sequence, other.sequence)
		}
		g.command(t, 1)
	},
	func(r *race, _ *testing.T, g *guest) { g.pull() },
}

// conclude keeps the winner's session, and may disconnect the winner.
func (r *race) conclude(racers []*guest) {
	for _, g := range racers {
		if g.id == 0 {
			r.races.closed[g.code]++
			continue
		}
		r.session = g.welcome.Session
		if r.dice.roll(2) == 0 {
			g.cut()
		}
	}
}

// Scenario 20: two connections show the same token, or the same session, at the same instant. In every interleaving of
// their steps one has the seat, and a command runs once.
func TestHostSchedules(t *testing.T) {
	n := tries(t, 100_000)
	all := &races{schedules: map[string]bool{}, closed: map[protocol.CloseCode]int{}}
	d := dice(1)
	for len(all.schedules) < n {
		r := newRace(t, all, &d, "p0", "p0")
		book := newBook(t, r.party)
		for range 500 {
			if err := r.round(t); err != nil {
				t.Fatal(err)
			}
		}
		r.pass(lockstep.Second)
		r.once(t, book)
	}
	t.Logf("%d races in %d schedules: one owner each; %d commands, closed as %v", all.run, len(all.schedules), all.commands, all.closed)
	if all.run > 2*n || all.commands < n/2 || all.closed[protocol.CloseReplaced] < n/4 || all.closed[protocol.CloseRefused] < n/20 {
		t.Error("the test shows less than it should")
	}
}

// once fails unless each acknowledged command ran once.
func (r *race) once(t *testing.T, b *book) {
	receipts := map[lockstep.Sequence]lockstep.Tick{}
	for _, g := range r.guests {
		b.audit(g, 0)
		for seq, tick := range g.receipts {
			if before, ok := receipts[seq]; ok && before != tick {
				t.Errorf("command %d was accepted for tick %d and for %d", seq, before, tick)
			}
			receipts[seq] = tick
		}
	}
	r.races.commands += len(receipts)
}

// Control: the check finds two owners where each of two tokens has a seat of its own.
func TestHostSchedulesControl(t *testing.T) {
	d := dice(1)
	r := newRace(t, &races{schedules: map[string]bool{}, closed: map[protocol.CloseCode]int{}}, &d, "p0", "p1")
	for range 20 {
		if err := r.round(t); err != nil {
			return
		}
	}
	t.Error("nothing was found")
}

// A thief shows sessions that it should not have.
type thief struct {
	*party
	auth     protocol.Auth
	w        protocol.Writer
	b        []byte
	accepted int
	refused  int
}

// try connects with a session and no token, and disconnects.
func (f *thief) try(s protocol.SessionToken) {
	id, ok := f.h.Connect(f.now, "")
	if !ok {
		f.t.Fatal("no room")
	}
	f.auth.Session = s
	f.b = f.w.Append(f.b[:0], &protocol.Message{Kind: protocol.KindAuth, Auth: &f.auth})
	f.h.Receive(f.now, id, f.b)
	if state, _ := f.h.Info().PeerState(id); state == host.Closed {
		f.refused++
	} else {
		f.accepted++
	}
	f.h.Disconnect(f.now, id)
}

func newThief(t testing.TB) (f *thief, d *dice) {
	d = new(dice)
	p := newParty(t, func(s *lockstep.Settings) { s.Players = 4 }, func(o *host.Options) {
		o.Random, o.KeyframeInterval = d.random, lockstep.Second/10 // short tails to join by
		o.Rates.Returns = host.Rate{N: 1 << 20, Per: lockstep.Second, Burst: 1 << 20}
	})
	return &thief{party: p, auth: *protocol.NewAuth(p.game)}, d
}

// Scenarios 21 and 22: only the current session of a seat is accepted, and its owner does not notice other attempts.
func TestHostOldSessions(t *testing.T) {
	n := tries(t, 1_000_000)
	f, d := newThief(t)
	elsewhere, _ := newThief(t)
	*d = 7 // not the other match's
	owner, gone, away := f.join("owner", "p0"), f.join("gone", "p1"), f.join("away", "p2")
	there := elsewhere.join("there", "p0")
	f.pass(lockstep.Second)
	gone.send(&protocol.Message{Kind: protocol.KindLeave})
	f.pass(lockstep.Second)
	away.cut()
	f.pass(31 * lockstep.Second) // the grace time
	old := []protocol.SessionToken{owner.welcome.Session}
	kinds := []struct {
		name    string
		session func() protocol.SessionToken
	}{
		{"used up", func() protocol.SessionToken { return old[d.roll(len(old)-1)] }},
		{"of another match", func() protocol.SessionToken { return there.welcome.Session }},
		{"of who has left", func() protocol.SessionToken { return gone.welcome.Session }},
		{"of who did not come back", func() protocol.SessionToken { return away.welcome.Session }},
		{"guessed", func() (s protocol.SessionToken) { d.random(s[:]); return s }},
		{"guessed but for a bit", func() protocol.SessionToken {
			s := owner.welcome.Session
			s[d.roll(len(s))] ^= 1 << d.roll(8)
			return s
		}},
		{"none", func() (s protocol.SessionToken) { return s }},
	}
	for i := range n {
		if i%500 == 0 {
			owner.cut()
			owner.resume()
			f.pass(100 * lockstep.Millisecond)
			old = append(old, owner.welcome.Session)
		}
		f.try(kinds[i%len(kinds)].session())
	}
	f.pass(lockstep.Second)
	f.unharmed(t, owner)
	t.Logf("%d of %d accepted, of %d kinds; the seat's session changed %d times", f.accepted, n, len(kinds), len(old)-1)
	if f.accepted != 0 || f.refused != n {
		t.Errorf("%d accepted, %d refused of %d", f.accepted, f.refused, n)
	}
	if f.try(owner.welcome.Session); f.accepted != 1 { // control
		t.Error("the present one is not accepted either: the test shows nothing")
	}
}

// BenchmarkHostGuess tells by how much the time of a refusal depends on what was guessed, as ratios of medians within
// one run to a guess whose first byte is wrong: all of it, from the connection on, the comparison alone, and a
// comparison that stops at the first wrong byte, which shows what would be seen.
//
//	go test ./lockstep -run '^$' -bench HostGuess -benchtime 200000x
func BenchmarkHostGuess(b *testing.B) {
	f, d := newThief(b)
	owner := f.join("owner", "p0")
	for i := range 3 {
		f.join(fmt.Sprint("p", i+1), fmt.Sprint("p", i+1))
	}
	f.pass(lockstep.Second)
	right := owner.welcome.Session
	guesses := []protocol.SessionToken{right, right, {}, {}}
	guesses[0][0] ^= 1
	guesses[1][len(right)-1] ^= 1
	d.random(guesses[2][:])
	names := []string{"first", "last", "random", "none"}
	accepted := 0
	b.Run("refusal", func(b *testing.B) { compareTimes(b, names, func(kind int) { f.try(guesses[kind]) }) })
	b.Run("comparison", func(b *testing.B) {
		compareTimes(b, names, func(kind int) {
			if _, ok := host.BySession(f.h, guesses[kind]); ok {
				accepted++
			}
		})
	})
	b.Run("control", func(b *testing.B) {
		compareTimes(b, names, func(kind int) {
			for i := range right {
				if guesses[kind][i] != right[i] {
					return
				}
			}
			accepted++
		})
	})
	if accepted+f.accepted > 0 {
		b.Errorf("%d were accepted", accepted+f.accepted)
	}
}

// compareTimes measures several things in turns, and reports each time as a ratio to the first. Other load on the
// machine affects all of them.
func compareTimes(b *testing.B, names []string, f func(kind int)) {
	const batch = 64
	times := make([][]float64, len(names))
	for range max(b.N/batch, 1) {
		for kind := range names {
			start := time.Now()
			for range batch {
				f(kind)
			}
			times[kind] = append(times[kind], float64(time.Since(start))/batch)
		}
	}
	median := func(kind int) float64 {
		slices.Sort(times[kind])
		return times[kind][len(times[kind])/2]
	}
	base := median(0)
	b.ReportMetric(base, names[0]+"-ns")
	for kind := 1; kind < len(names); kind++ {
		b.ReportMetric(median(kind)/base, names[kind]+"/"+names[0])
	}
}

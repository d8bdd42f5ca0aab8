// A browser has no clock of nanoseconds.

//go:build !js

package desync_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/planted"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// The quarry is a second game with mistakes: diggers that walk and carry gold.
type (
	quarry struct {
		Tick    uint32
		Diggers []digger
		Bank    uint64
		Walk    []uint32 `state:"derived"` // by place, how long the way to the next one takes
	}
	digger struct{ ID, At, Gold uint32 }
	shaft  struct{ Depth uint32 }
	haul   struct{ Digger, Gold uint32 }
)

// quarryRules returns the rules of the quarry with a change of its Step.
func quarryRules(after func(m *quarry, t *lockstep.Turn)) lockstep.Rules[quarry, shaft] {
	return lockstep.Rules[quarry, shaft]{
		Name: "quarry", Build: "1", Commands: []lockstep.CommandType{lockstep.Type[haul](1, "haul")},
		New: func(m *quarry, s *lockstep.Settings, c *shaft) error {
			for i := range uint32(6) {
				m.Diggers = append(m.Diggers, digger{ID: i + 1, At: i})
			}
			return nil
		},
		Derive: survey,
		Step: func(m *quarry, c *shaft, t *lockstep.Turn) {
			m.Tick++
			for i := range m.Diggers {
				d := &m.Diggers[i]
				d.At = (d.At + m.way(i)) % c.Depth
				d.Gold += d.At % 3
			}
			for i := range t.Commands {
				if h, ok := t.Commands[i].Value.(*haul); ok {
					d := &m.Diggers[int(h.Digger)%len(m.Diggers)]
					m.Bank, d.Gold = m.Bank+uint64(d.Gold), h.Gold%8
				}
			}
			if after != nil {
				after(m, t)
			}
		},
	}
}

func survey(m *quarry, c *shaft) {
	m.Walk = m.Walk[:0]
	for i := range min(c.Depth, 1000) {
		m.Walk = append(m.Walk, 1+i*i%5)
	}
}

func (m *quarry) way(i int) uint32 {
	if len(m.Walk) == 0 {
		return 1
	}
	return m.Walk[int(m.Diggers[i].At)%len(m.Walk)]
}

// A played is a live match, of several machines that compute each for itself, and its first desync.
type played struct {
	game   *lockstep.Game
	bundle []byte
	file   []byte // the whole replay
}

func (p *played) find(h *lockstep.Header) (*lockstep.Game, error) {
	return p.game, p.game.CheckIdentity(h)
}

// apart computes a job, as another process would.
func (p *played) apart(job []byte) ([]byte, error) { return desync.ComputeApart(job, p.find), nil }

// verified returns the verdict of verify on the whole replay.
func (p *played) verified(tb testing.TB, apart func([]byte) ([]byte, error)) *desync.Verdict {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "match.ssr")
	if err := os.WriteFile(path, p.file, 0o600); err != nil {
		tb.Fatal(err)
	}
	f, err := replay.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	v, err := desync.Verify(f, replay.Games{p.game}, replay.VerifyOptions{Now: time.Now, Apart: apart})
	if unfixed := v.Verdict.Party == desync.NoFixedResult; unfixed != errors.Is(err, desync.ErrUnfixed) {
		tb.Errorf("without a fixed result: %t: got the error %v", unfixed, err)
	}
	return v.Verdict
}

// A stage is a match that is played up to its first desync. The players begin with the first keyframe, and the referee with New.
type stage[S, C any] struct {
	rules   lockstep.Rules[S, C]
	config  C
	orders  func(dice *rand.Rand) any
	seed    uint64
	damaged lockstep.Tick // at which the memory of player 2 is altered; 0 for none
}

// play plays the match. It fails if no machine differs.
func (s stage[S, C]) play(tb testing.TB) *played {
	tb.Helper()
	const seats = 3
	g := lockstep.MustGame(s.rules)
	settings := lockstep.DefaultSettings(seats)
	settings.Seed, settings.KeyframeEvery = s.seed, 50
	h, err := g.NewHeader(lockstep.MatchID{9, byte(s.seed)}, settings, &s.config)
	if err != nil {
		tb.Fatal(err)
	}
	var file bytes.Buffer
	x := &copies{}
	history := lockstep.FollowerOptions{History: lockstep.HistoryOptions{Length: 64, EveryTick: true, States: true}}
	for range seats {
		x.all = append(x.all, g.NewFollower(history))
	}
	w := replay.NewWriter(&file, replay.WriterOptions{})
	c, err := coordinator.New(g, h, record.Tee(w, x), coordinator.Options{InputDelay: 2, Referee: history})
	if err != nil {
		tb.Fatal(err)
	}
	for p := range lockstep.Player(seats) {
		if _, err := c.Join(p); err != nil {
			tb.Fatal(err)
		}
	}
	var report *coordinator.DesyncReport
	dice, sequence := rand.New(rand.NewPCG(s.seed, 3)), [seats]lockstep.Sequence{}
	for report == nil && c.Now() < 400 {
		if _, err := c.Tick(); err != nil {
			tb.Fatal(err)
		}
		if c.Now() == s.damaged {
			x.damage(tb, s.damaged)
		}
		for p, f := range x.all {
			if c.Now()%lockstep.Tick(settings.CheckEvery) == 0 {
				sum, _ := f.Sum(c.Now())
				if err := c.Report(lockstep.Player(p), c.Now(), sum); err != nil {
					tb.Fatal(err)
				}
				if all := c.Desyncs(); report == nil && len(all) > 0 {
					report = all[0]
				}
			}
			if dice.IntN(8) == 0 {
				kind, payload, err := g.NewPayloads().Encode(s.orders(dice))
				if err != nil {
					tb.Fatal(err)
				}
				sequence[p]++
				c.Submit(lockstep.Player(p), sequence[p], kind, payload)
			}
		}
	}
	if report == nil {
		tb.Fatal("no machine differs")
	}
	e := &host.Evidence{Report: *report}
	for p := range lockstep.Player(seats) {
		e.Participants = append(e.Participants, host.Participant{Player: p, Name: string(rune('a' + p)), Build: "1", Platform: "linux/amd64"})
	}
	for _, t := range []lockstep.Tick{report.Agreed, report.Tick} {
		if own := x.of(report.Player); t > 0 {
			e.Exhibits = append(e.Exhibits, host.Exhibit{Tick: t, Referee: slices.Clone(c.Referee().State(t)), Player: slices.Clone(own.State(t))})
		}
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	var archive bytes.Buffer
	if err := replay.WriteBundle(&archive, h, e, bytes.NewReader(file.Bytes())); err != nil {
		tb.Fatal(err)
	}
	return &played{lockstep.MustGame(s.rules), archive.Bytes(), file.Bytes()}
}

// copies are the machines of a match.
type copies struct{ all []*lockstep.Follower }

// of returns the machine of a player; on a tie, the first one.
func (x *copies) of(p lockstep.Player) *lockstep.Follower {
	if int(p) < len(x.all) {
		return x.all[p]
	}
	return x.all[0]
}

// damage alters a number in the state of player 2.
func (x *copies) damage(tb testing.TB, t lockstep.Tick) {
	b := slices.Clone(x.all[2].State(t))
	b[len(b)-8] ^= 64 // of the last field
	if err := x.all[2].Restore(b); err != nil {
		tb.Fatal(err)
	}
}

// Append gives a record to every machine.
func (x *copies) Append(record []byte) error {
	for _, f := range x.all {
		if err := f.Append(record); err != nil && !errors.As(err, new(*lockstep.DesyncError)) {
			return err
		}
	}
	return nil
}

// quarried plays a match of the quarry.
func quarried(tb testing.TB, seed uint64, rules lockstep.Rules[quarry, shaft]) *played {
	tb.Helper()
	return stage[quarry, shaft]{rules: rules, config: shaft{Depth: 40}, seed: seed, orders: func(dice *rand.Rand) any {
		return &haul{Digger: uint32(dice.IntN(6)), Gold: uint32(dice.IntN(9))}
	}}.play(tb)
}

// marketed plays a match of the market with a change of its Step.
func marketed(tb testing.TB, seed uint64, after func(*planted.Market, *lockstep.Turn)) *played {
	tb.Helper()
	r := planted.MarketRules()
	right := r.Step
	r.Step = func(m *planted.Market, setup *planted.Setup, t *lockstep.Turn) {
		right(m, setup, t)
		after(m, t)
	}
	return stage[planted.Market, planted.Setup]{rules: r, config: planted.Setup{Stalls: 6, Prices: []uint32{3, 1, 2}}, seed: seed, orders: func(dice *rand.Rand) any {
		return &planted.Offer{Stall: uint16(dice.IntN(6)), Goods: uint16(1 + dice.IntN(9))}
	}}.play(tb)
}

// mistaken are the rules of two games with mistakes that give them no fixed result, one after the other: each machine of a live
// match, and each explanation, computes for itself.
func mistaken(tb testing.TB) map[string]*played {
	tb.Helper()
	market := func(seed uint64, after func(*planted.Market, *lockstep.Turn)) *played {
		return marketed(tb, seed, after)
	}
	digging := func(seed uint64, after func(*quarry, *lockstep.Turn)) *played {
		return quarried(tb, seed, quarryRules(after))
	}
	all := map[string]*played{}
	for seed := range uint64(2) {
		all[fmt.Sprint("market: map order ", seed)] = market(seed, func(m *planted.Market, t *lockstep.Turn) {
			goods := map[uint32]uint32{}
			for i := range m.Stalls {
				goods[m.Stalls[i].Price] += m.Stalls[i].Goods
			}
			for _, n := range goods { //samestep:allow maprange this is the mistake
				m.Drawn = m.Drawn*31 + uint64(n)
			}
		})
		all[fmt.Sprint("market: two keys, with a command ", seed)] = market(seed, func(m *planted.Market, t *lockstep.Turn) {
			if len(t.Commands) == 0 || t.Tick < 60 {
				return
			}
			for i := range map[int]bool{0: true, 1: true} { //samestep:allow maprange this is the mistake
				m.Sold = append(m.Sold[:0], uint32(i))
			}
		})
		all[fmt.Sprint("quarry: map order ", seed)] = digging(seed, func(m *quarry, t *lockstep.Turn) {
			all := map[int]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true}
			for p := range all { //samestep:allow maprange this is the mistake
				m.Diggers[0].At = m.Diggers[p].At
			}
		})
		all[fmt.Sprint("quarry: two keys, with a command ", seed)] = digging(seed, func(m *quarry, t *lockstep.Turn) {
			if len(t.Commands) == 0 || t.Tick < 60 {
				return
			}
			for p := range map[int]bool{1: true, 2: true} { //samestep:allow maprange this is the mistake
				m.Bank = m.Bank*3 + uint64(p)
			}
		})
	}
	all["market: nanoseconds"] = market(3, func(m *planted.Market, t *lockstep.Turn) {
		m.Drawn += uint64(time.Now().UnixNano()) //samestep:allow clock this is the mistake
	})
	all["quarry: nanoseconds"] = digging(3, func(m *quarry, t *lockstep.Turn) {
		m.Bank += uint64(time.Now().UnixNano()) / 64 % 3 //samestep:allow clock this is the mistake
	})
	return all
}

// An unfixed checks that bundles are judged as those of rules without a fixed result, however often they are: nobody is accused, there
// are no trials and no cause, and all bundles of a mistake have one fingerprint.
type unfixed struct {
	fingerprints map[string]string
	parties      map[desync.Party]int
}

func (x *unfixed) check(t *testing.T, name string, p *played) {
	t.Helper()
	for range 5 {
		e, err := desync.Explain(open(t, p.bundle), desync.Options{Game: p.find, Now: time.Now, Budget: 2 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		x.parties[e.Verdict.Party]++
		if e.Verdict.Party != desync.NoFixedResult || e.Cause != nil || len(e.Tried) > 0 || strings.Contains(strings.Join(e.Lines(), "\n"), "edited") {
			t.Errorf("%s: got %s: %s; cause %v", name, e.Verdict.Party, e.Verdict.Text, e.Cause)
		}
		kind := strings.TrimRight(name, " 01")
		if known := x.fingerprints[kind]; known != "" && known != e.Fingerprint.String() {
			t.Errorf("%s: got %s, and before %s", name, e.Fingerprint, known)
		}
		x.fingerprints[kind] = e.Fingerprint.String()
		if v := p.verified(t, nil); v.Party != desync.NoFixedResult || len(v.Blames) > 0 {
			t.Errorf("%s: verify: got %s: %s", name, v.Party, v.Text)
		}
		r := openReplay(t, p.file)
		reports, _ := bisect.PlayerReports(r, e.Player)
		b, err := bisect.Reports(r, reports, p.game, bisect.Options{Now: time.Now})
		if !e.Tie && (err != nil || b.Cause != bisect.OriginUnfixed || b.Fields.Total > 0) {
			t.Errorf("%s: bisect: got %+v, %v", name, b, err)
		}
	}
}

// Rules without a fixed result are called so by explain, verify and bisect, whoever differed.
func TestNoFixedResult(t *testing.T) {
	x := &unfixed{map[string]string{}, map[desync.Party]int{}}
	for name, p := range mistaken(t) {
		x.check(t, name, p)
	}
	synctest.Test(t, func(t *testing.T) { // where a second passes at once
		elapsed, live := 0, true // the clock of a machine is a second ahead of another's
		seconds := func() uint64 {
			if elapsed++; live {
				return uint64(elapsed / 200)
			}
			return uint64(time.Now().Unix())
		}
		market := marketed(t, 4, func(m *planted.Market, _ *lockstep.Turn) { m.Drawn += seconds() })
		digging := quarried(t, 4, quarryRules(func(m *quarry, _ *lockstep.Turn) { m.Bank += seconds() }))
		live = false
		x.check(t, "market: seconds", market)
		x.check(t, "quarry: seconds", digging)
	})
	t.Log(x.parties)
}

// Rules without a fixed result may compute the ticks rightly when they are asked: that names no cause.
func TestUnfixedAgain(t *testing.T) {
	p := quarried(t, 1, quarryRules(func(m *quarry, t *lockstep.Turn) {
		for p := range map[int]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true} { //samestep:allow maprange this is the mistake
			m.Diggers[0].At = m.Diggers[p].At
		}
	}))
	for known, want := range map[bool]desync.Party{true: desync.NoFixedResult, false: desync.WrongPlayer} {
		b, o := open(t, p.bundle), desync.Options{}
		if known {
			o.Game = p.find
		}
		m := &b.Manifest
		run := slices.Repeat([]string{m.Groups[0].Checksum}, int(m.Tick-m.Agreed))
		m.Resimulation = &replay.BundleResimulation{From: m.Agreed, To: m.Tick, Runs: [][]string{run, run}}
		e, err := desync.Explain(b, o)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Join(e.Again.Lines(), "\n")
		if e.Verdict.Party != want || !strings.Contains(lines, "right this time") || known == strings.Contains(lines, "\n") || !known && !strings.Contains(lines, "or its rules have no fixed result") {
			t.Errorf("got %s, and %q", e.Verdict.Party, lines)
		}
	}
}

// Where the simulation gives each checksum of the match, and the machine of the player has another result each time, verify fails as for a
// desync: that nothing differs is luck.
func TestVerifyUnfixedWithoutADifference(t *testing.T) {
	p := damaged(t, 1, 70, quarryRules(nil))
	for steady, want := range map[bool]error{true: nil, false: desync.ErrUnfixed} {
		f := openFile(t, p.bundle)
		m := &f.Bundle().Manifest
		run := slices.Repeat([]string{m.Groups[0].Checksum}, int(m.Tick-m.Agreed))
		other := slices.Clone(run)
		if !steady {
			other[1] = "00000000000000ee"
		}
		m.Resimulation = &replay.BundleResimulation{From: m.Agreed, To: m.Tick, Runs: [][]string{run, other}}
		v, err := desync.Verify(f, replay.Games{p.game}, replay.VerifyOptions{})
		got := jsonOf(t, v)
		if !errors.Is(err, want) || v.First != nil || (v.Verdict.Party == desync.NoFixedResult) == steady || (got["class"] == string(replay.ClassDesync)) == steady {
			t.Errorf("steady: %t: got %v, first %v, %s, class %v", steady, err, v.First, v.Verdict.Party, got["class"])
		}
	}
}

// The time of a verification is not that of the second for which its verdict waits.
func TestVerifyTimeWithoutTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, from := damaged(t, 1, 70, quarryRules(nil)), time.Now()
		v, err := desync.Verify(openFile(t, p.bundle), replay.Games{p.game}, replay.VerifyOptions{Now: time.Now})
		if err != nil || v.Took > 0 || time.Since(from) == 0 {
			t.Errorf("got %v, %v of %v", err, v.Took, time.Since(from))
		}
	})
}

// A machine that has got its state does not have the table that New makes and Derive does not. The trials begin with New and a state that was restored:
// each of them would lead to the other side's state.
func TestTableOfNew(t *testing.T) {
	r := quarryRules(nil)
	begin := r.New
	r.New = func(m *quarry, s *lockstep.Settings, c *shaft) error {
		survey(m, c)
		return begin(m, s, c)
	}
	r.Derive = func(*quarry, *shaft) {}
	p := quarried(t, 1, r)
	var e *desync.Explanation
	synctest.Test(t, func(t *testing.T) {
		var err error
		if e, err = desync.Explain(open(t, p.bundle), desync.Options{Game: p.find, Now: ticking()}); err != nil {
			t.Fatal(err)
		}
	})
	if w := e.Verdict.Parting; w == nil || w.Way != desync.WayNew || !strings.HasPrefix(w.Field, "Diggers[") || e.Cause != nil || e.Trials > 0 {
		t.Errorf("got %+v, parting %+v, cause %v after %d trials", e.Verdict, w, e.Cause, e.Trials)
	}
	if f := e.Fingerprint; f.Class != desync.ClassUnstable || f.Field != "Diggers[].At" {
		t.Errorf("got %v", f)
	}
}

// taxes are what New of the rules of [taxing] leaves outside of the state.
var taxes []uint32

// taxing are rules that read a table, in one tick or for 0 in each, which only New fills, for all matches of the process.
func taxing(only lockstep.Tick) lockstep.Rules[quarry, shaft] {
	r := quarryRules(func(m *quarry, t *lockstep.Turn) {
		if len(taxes) > 0 && (only == 0 || t.Tick == only) {
			m.Bank += uint64(taxes[int(t.Tick)%len(taxes)])
		}
	})
	begin := r.New
	r.New = func(m *quarry, s *lockstep.Settings, c *shaft) error {
		taxes = []uint32{1, 2, 3}
		return begin(m, s, c)
	}
	return r
}

// A table that only New fills is there in each process that has begun a match, and so wherever it computes one again: only a process that has
// begun none shows that the rules have no fixed result. Without such a one, nothing is proven.
func TestTableOfAnotherMatch(t *testing.T) { synctest.Test(t, tableOfAnotherMatch) }

func tableOfAnotherMatch(t *testing.T) {
	p := damaged(t, 1, 50, taxing(0))
	alone := func(job []byte) ([]byte, error) {
		defer func(had []uint32) { taxes = had }(taxes)
		taxes = nil
		return desync.ComputeApart(job, p.find), nil
	}
	for name, test := range map[string]struct {
		apart func([]byte) ([]byte, error)
		party desync.Party
		grade string
	}{
		"alone":      {alone, desync.NoFixedResult, "grade: no fixed result"},
		"nowhere":    {nil, desync.WrongPlayer, " simulations agree with each other, none in a process of its own"},
		"dies":       {func([]byte) ([]byte, error) { return nil, errors.New("exit status 2") }, desync.WrongPlayer, " simulations agree with each other, none in a process of its own: exit status 2"},
		"no result":  {func([]byte) ([]byte, error) { return []byte("panic"), nil }, desync.WrongPlayer, ", none in a process of its own: desync: another process: "},
		"other game": {func(job []byte) ([]byte, error) { return desync.ComputeApart(job, replay.Games{trueGame()}.Of), nil }, desync.WrongPlayer, ", none in a process of its own: lockstep: "},
	} {
		taxes = []uint32{1, 2, 3} // of another match
		e, err := desync.Explain(open(t, p.bundle), desync.Options{Game: p.find, Now: ticking(), Budget: 500 * time.Millisecond, Apart: test.apart})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(e.Lines(), "\n")
		if e.Verdict.Party != test.party || !strings.Contains(strings.Join(strings.Fields(text), " "), test.grade) || strings.Contains(text, "proven") {
			t.Errorf("%s: got %+v\n%s", name, e.Verdict, text)
		}
		if w := e.Verdict.Parting; test.party == desync.NoFixedResult && (w == nil || w.Way != desync.WayApart || w.Field != "Bank" || e.Cause != nil) {
			t.Errorf("%s: got parting %+v, cause %v", name, w, e.Cause)
		}
		if v := p.verified(t, test.apart); v.Party != test.party || test.party == desync.WrongPlayer && v.Grade != desync.GradeConsistent {
			t.Errorf("%s: verify: got %+v", name, v)
		}
	}
	taxes = nil // a program that has just started sees the same by itself
	e, err := desync.Explain(open(t, p.bundle), desync.Options{Game: p.find, Now: ticking(), Apart: alone})
	if err != nil {
		t.Fatal(err)
	}
	if w := e.Verdict.Parting; w == nil || w.Way != desync.WayApart || w.Field != "Bank" {
		t.Errorf("by hand: got %+v, parting %+v", e.Verdict, w)
	}
	// A table that is read long before the desync is found where it is read, whatever this process has done before.
	const read = 102
	p = damaged(t, 1, 350, taxing(read))
	for name, before := range map[string][]uint32{"begun": nil, "of another match": {1, 2, 3}} {
		taxes = before
		e, err := desync.Explain(open(t, p.bundle), desync.Options{Game: p.find, Now: ticking(), Apart: alone})
		if err != nil {
			t.Fatal(err)
		}
		if w := e.Verdict.Parting; w == nil || w.Way != desync.WayApart || w.Field != "Bank" || w.Tick != read || e.Tick < read+256 {
			t.Errorf("late, %s: tick %d: got %+v, parting %+v", name, e.Tick, e.Verdict, w)
		}
	}
	taxes = nil // without memory for the states before, no tick is named from the same state
	e, err = desync.Explain(open(t, p.bundle), desync.Options{Game: p.find, Now: ticking(), MaxMemory: 1})
	if err != nil {
		t.Fatal(err)
	}
	if w := e.Verdict.Parting; w == nil || w.Way != desync.WayWhole || strings.Contains(w.String(), "same state") {
		t.Errorf("no memory: got %+v, parting %+v", e.Verdict, w)
	}
}

// Rules that read a clock of whole seconds agree with themselves for a while, and with whoever had the same second: a verdict waits until it
// is over, whoever seems to be wrong.
func TestClockOfSeconds(t *testing.T) {
	for second := range 3 {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Duration(second) * time.Second)
			p := damaged(t, 1, 50, quarryRules(func(m *quarry, _ *lockstep.Turn) {
				m.Bank += uint64(time.Now().Unix() % 3) //samestep:allow clock this is the mistake
			}))
			for name, apart := range map[string]func([]byte) ([]byte, error){"apart": p.apart, "here": nil} {
				time.Sleep(time.Duration(-time.Now().Unix()%3+3+int64(second)) * time.Second) // the second of the match again
				e, err := desync.Explain(open(t, p.bundle), desync.Options{Game: p.find, Now: ticking(), Budget: time.Second, Apart: apart})
				if err != nil {
					t.Fatal(err)
				}
				if w := e.Verdict.Parting; w == nil || w.Way != desync.WayAgain || w.Field != "Bank" || e.Cause != nil {
					t.Errorf("%s: got %+v, parting %+v, cause %v", name, e.Verdict, w, e.Cause)
				}
				time.Sleep(time.Duration(-time.Now().Unix()%3+3+int64(second)) * time.Second)
				if v := p.verified(t, apart); v.Party != desync.NoFixedResult || len(v.Blames) > 0 {
					t.Errorf("%s: verify: got %s: %s", name, v.Party, v.Text)
				}
				time.Sleep(time.Duration(-time.Now().Unix()%3+3+int64(second)) * time.Second)
				r := openReplay(t, p.file)
				reports, _ := bisect.PlayerReports(r, 2)
				b, err := bisect.Reports(r, reports, p.game, bisect.Options{Now: ticking(), Apart: apart})
				if err != nil || b.Cause != bisect.OriginUnfixed {
					t.Errorf("%s: bisect: got %+v, %v", name, b, err)
				}
			}
		})
	}
}

// A clock of milliseconds often has one result in one way and another one in the other: no way is named that is not so each time.
func TestClockOfMilliseconds(t *testing.T) {
	for _, period := range []int64{3, 30} {
		synctest.Test(t, func(t *testing.T) { clockOfMilliseconds(t, period) })
	}
}

// clockOfMilliseconds explains a match whose rules read a clock, with processes that begin at once and later.
func clockOfMilliseconds(t *testing.T, period int64) {
	looks := 0
	p := damaged(t, 1, 50, quarryRules(func(m *quarry, _ *lockstep.Turn) {
		if looks++; looks%16 == 0 {
			time.Sleep(20 * time.Microsecond)
		}
		m.Diggers[0].Gold = uint32(time.Now().UnixMilli() / period % 5) //samestep:allow clock this is the mistake
	}))
	ways := map[desync.Way]int{}
	for n := range int64(40) {
		time.Sleep(7 * time.Millisecond)
		apart := func(job []byte) ([]byte, error) {
			time.Sleep(time.Duration(n%5*period) * time.Millisecond)
			return p.apart(job)
		}
		e, err := desync.Explain(open(t, p.bundle), desync.Options{Game: p.find, Now: time.Now, Budget: time.Second, Apart: apart})
		if err != nil {
			t.Fatal(err)
		}
		if e.Verdict.Party != desync.NoFixedResult {
			t.Fatalf("got %+v", e.Verdict)
		}
		ways[e.Verdict.Parting.Way]++
	}
	if ways[desync.WayAgain]+ways[desync.WayWhole] < 40 {
		t.Errorf("a clock of %d ms: got %v", period, ways)
	}
}

// ticking returns a clock in which each look takes a while, also where no time passes by itself.
func ticking() func() time.Time {
	looks := time.Duration(0)
	return func() time.Time {
		looks += 100 * time.Microsecond
		return time.Now().Add(looks)
	}
}

// No simulation sees that rules read the hour: then nobody is accused, and nothing is said to be sure.
func TestClockOfHours(t *testing.T) {
	hour, live := uint64(11), true
	p := quarried(t, 1, quarryRules(func(m *quarry, t *lockstep.Turn) {
		if m.Bank += hour; live && t.Tick == 30 {
			hour++ // on some machines first
		}
	}))
	hour, live = 20, false
	e, err := desync.Explain(open(t, p.bundle), desync.Options{Game: p.find, Budget: 100 * time.Millisecond, Apart: p.apart})
	if err != nil {
		t.Fatal(err)
	}
	if v := e.Verdict; v.Party != desync.WrongBuild || v.Grade != desync.GradeUnknown || !strings.HasSuffix(v.Text, "the file was edited, or the rules read a clock that says another hour or day now") || e.Cause != nil {
		t.Errorf("got %+v, cause %v", v, e.Cause)
	}
}

// damaged plays a match with right rules, in which the memory of player 2 is altered after a tick.
func damaged(tb testing.TB, seed uint64, at lockstep.Tick, r lockstep.Rules[quarry, shaft]) *played {
	tb.Helper()
	return stage[quarry, shaft]{rules: r, config: shaft{Depth: 40}, seed: seed, damaged: at, orders: func(dice *rand.Rand) any {
		return &haul{Digger: uint32(dice.IntN(6)), Gold: uint32(dice.IntN(9))}
	}}.play(tb)
}

// Rules with a fixed result never get another verdict: also not with caches that are filled when they are needed, and with
// memory that is used again.
func TestFixedResult(t *testing.T) {
	lazy := quarryRules(nil)
	step := lazy.Step
	lazy.Step = func(m *quarry, c *shaft, t *lockstep.Turn) {
		if len(m.Walk) == 0 {
			survey(m, c)
		}
		step(m, c, t)
	}
	lazy.Derive = func(m *quarry, _ *shaft) { m.Walk = m.Walk[:0] }
	scratch := quarryRules(nil)
	scratch.Step = func(m *quarry, c *shaft, t *lockstep.Turn) {
		survey(m, c)
		step(m, c, t)
		for i := range m.Walk {
			m.Walk[i] = uint32(t.Tick) // what is left over
		}
	}
	synctest.Test(t, func(t *testing.T) { // where a second passes at once
		for name, r := range map[string]lockstep.Rules[quarry, shaft]{"plain": quarryRules(nil), "lazy": lazy, "left over": scratch} {
			for seed := range uint64(4) {
				p := damaged(t, seed, lockstep.Tick(50+7*seed), r)
				e, err := desync.Explain(open(t, p.bundle), desync.Options{Game: p.find, Now: ticking(), Budget: 100 * time.Millisecond, Apart: p.apart})
				if err != nil {
					t.Fatal(err)
				}
				if e.Verdict.Party != desync.WrongPlayer || !slices.Equal(e.Verdict.Players, []lockstep.Player{2}) || e.Verdict.Grade != desync.GradeProven || e.Verdict.Runs < 4 || e.Cause == nil {
					t.Errorf("%s, seed %d: got %+v, cause %v", name, seed, e.Verdict, e.Cause)
				}
				if v := p.verified(t, p.apart); v.Party != desync.WrongPlayer || v.Runs < 5 || v.Grade != desync.GradeProven {
					t.Errorf("%s, seed %d: verify: got %+v", name, seed, v)
				}
			}
		}
	})
}

// Rules that no simulation of the match shows to have no fixed result may still show it to a trial: a cause whose control ends in another
// state is none.
func TestControlOfTrial(t *testing.T) {
	poisoned := false
	p := damaged(t, 1, 50, quarryRules(func(m *quarry, t *lockstep.Turn) {
		for i := range t.Commands {
			h, ok := t.Commands[i].Value.(*haul)
			poisoned = poisoned || ok && h.Gold > 1000 // as in no match
		}
		if poisoned {
			m.Bank++
		}
	}))
	e, err := desync.Explain(open(t, p.bundle), desync.Options{Game: p.find})
	if err != nil {
		t.Fatal(err)
	}
	if !poisoned || e.Verdict.Party != desync.NoFixedResult || e.Cause != nil || len(e.Tried) > 0 || e.Verdict.Parting.Field != "Bank" {
		t.Errorf("poisoned %t: got %+v, cause %v, tried %v", poisoned, e.Verdict, e.Cause, e.Tried)
	}
}

// Two builds disagree only if each program on one side is known to differ from each on the others, and none from its own side's.
func TestTwoBuilds(t *testing.T) {
	const rv1, rv2 = "example.com/hex 1111111111111111", "example.com/hex 2222222222222222"
	for _, row := range []struct {
		name     string
		recorder string
		players  []string // sources
		groups   [][]lockstep.Player
		this     string // sources of the program that simulates
		computes string // "a", the referee's, or "b"
		outcome  string
		two      bool
	}{
		{"the referee alone", rv2, []string{rv1, rv1}, [][]lockstep.Player{{}, {0, 1}}, "", "", "", true},
		{"explained by the players' build", rv2, []string{rv1, rv1}, [][]lockstep.Player{{}, {0, 1}}, rv1, "b", "", true},
		{"explained by the referee's build", rv2, []string{rv1, rv1}, [][]lockstep.Player{{}, {0, 1}}, rv2, "a", "", true},
		{"explained by a third build", rv2, []string{rv1, rv1}, [][]lockstep.Player{{}, {0, 1}}, "example.com/hex 3333", "b", "", true},
		{"the referee's build computes the other side", rv2, []string{rv1, rv1}, [][]lockstep.Player{{}, {0, 1}}, rv2, "b", "", false},
		{"the players' build computes the other side", rv2, []string{rv1, rv1}, [][]lockstep.Player{{}, {0, 1}}, rv1, "a", "", false},
		{"a shortened revision", rv2, []string{"example.com/hex 111111111111", rv1}, [][]lockstep.Player{{}, {0, 1}}, "", "", "", true},
		{"one build on both sides", rv2, []string{rv1, rv1}, [][]lockstep.Player{{0}, {1}}, "", "", "", false},
		{"two builds on one side", rv2, []string{rv1, "example.com/hex 3333"}, [][]lockstep.Player{{}, {0, 1}}, "", "", "", false},
		{"the same build", rv1, []string{rv1, rv1}, [][]lockstep.Player{{}, {0, 1}}, "", "", "", false},
		{"one is not known", rv2, []string{rv1, ""}, [][]lockstep.Player{{}, {0, 1}}, "", "", "", false},
		{"changed files", rv1, []string{rv1 + " modified"}, [][]lockstep.Player{{}, {0}}, "", "", "", true},
		{"another module", rv1, []string{"example.com/client 2222"}, [][]lockstep.Player{{}, {0}}, "", "", "", false},
		{"right this time", rv2, []string{rv1, rv1}, [][]lockstep.Player{{}, {0, 1}}, "", "", "right this time", false},
	} {
		m := &replay.Manifest{}
		for i, players := range row.groups {
			m.Groups = append(m.Groups, replay.BundleGroup{Checksum: string(rune('a' + i)), Referee: i == 0, Players: players})
		}
		for i, sources := range row.players {
			m.Participants = append(m.Participants, replay.BundleParticipant{Player: lockstep.Player(i), Build: "1", Sources: sources})
		}
		if row.outcome != "" {
			m.Resimulation = &replay.BundleResimulation{Outcome: row.outcome}
		}
		var this *desync.Program
		if row.this != "" {
			this = &desync.Program{Build: "1", Sources: record.ParseSources(row.this)}
		}
		party, text := desync.JudgeBuilds(&lockstep.Header{Build: "1", Sources: row.recorder}, m, this, row.computes)
		if (party == desync.TwoBuilds) != row.two || row.two && !strings.Contains(text, "the referee with build 1, example.com/hex at ") {
			t.Errorf("%s: got %q, %q", row.name, party, text)
		}
	}
}

// A replay does not name the programs of its players: only its recorder is known to be another one than that which verifies it.
func TestOtherRecorder(t *testing.T) {
	h := &lockstep.Header{Build: "1", Sources: "example.com/hex 2222222222222222"}
	for sources, two := range map[string]bool{"example.com/hex 1111111111111111": true, "example.com/hex 2222222222222222": false, "example.com/client 1111": false, "": false} {
		text := desync.JudgeOther(h, &desync.Program{Build: "1", Sources: record.ParseSources(sources)})
		if (text != "") != two || two && !strings.HasSuffix(text, "the recorder with build 1, example.com/hex at 222222222222; this program with build 1, example.com/hex at 111111111111") {
			t.Errorf("%q: got %q", sources, text)
		}
	}
}

// Whoever explains a bundle of two builds says so, and accuses none of them.
func TestExplainTwoBuilds(t *testing.T) {
	rules := skirmish.Rules()
	step := rules.Step
	rules.Step = func(w *skirmish.World, config *skirmish.Config, t *lockstep.Turn) {
		if step(w, config, t); t.Tick == faultTick {
			w.Units[5].Health--
		}
	}
	old := lockstep.MustGame(rules)
	x := newTableOfSeats(t, 2, "example.com/hex 2222222222222222", old, true, 1, 1, 100)
	x.play(t, 400)
	archive := packed(t, unpacked(t, x.bundle(t)), func(m *replay.Manifest) {
		for i := range m.Participants {
			m.Participants[i].Sources = "example.com/hex 1111111111111111"
		}
	})
	b, path := open(t, archive), filepath.Join(t.TempDir(), "bundle.zip")
	if err := os.WriteFile(path, archive, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]*lockstep.Game{"the referee's": old, "the players'": trueGame()} {
		e, err := desync.Explain(b, desync.Options{Game: func(*lockstep.Header) (*lockstep.Game, error) { return g, nil }})
		if err != nil {
			t.Fatal(err)
		}
		if e.Verdict.Party != desync.TwoBuilds || e.Cause != nil || e.Verdict.Grade != desync.GradeConsistent || e.Verdict.With != "" {
			t.Errorf("%s build: got %+v, cause %v", name, e.Verdict, e.Cause)
		}
		f, err := replay.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		v, _ := desync.Verify(f, replay.Games{g}, replay.VerifyOptions{})
		if f.Close(); v.Verdict.Party != desync.TwoBuilds || v.Verdict.Grade != desync.GradeConsistent {
			t.Errorf("%s build: verify: got %+v", name, v.Verdict)
		}
	}
}

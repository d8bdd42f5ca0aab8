package host_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/nullgame"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// lead is how many of our ticks come before the file's tick 0: our tick 0 is the state before any command, and in our
// tick 1 the players join, who command from tick 2 on.
const lead = 2

// loadMatch reads a match of testdata/matches, or the file named in the environment.
func loadMatch(tb testing.TB, name, env string) *testgame.Recorded {
	tb.Helper()
	if whole := os.Getenv(env); whole != "" {
		name = whole
	}
	m, err := testgame.LoadRecorded(name)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func loadTenPlayers(tb testing.TB) *testgame.Recorded {
	return loadMatch(tb, "../../testdata/matches/scfa-8604509-10-players-cut.jsonl.gz", "SAMESTEP_TEN_PLAYERS")
}

func newNullMatch(tb testing.TB, m *testgame.Recorded, checkEvery uint16, log lockstep.Log, o coordinator.Options) (*lockstep.Game, *coordinator.Coordinator) {
	tb.Helper()
	g := nullgame.New()
	s := lockstep.DefaultSettings(m.Header.Players)
	s.TickMicros, s.CheckEvery = m.Header.TickMicros, checkEvery
	h, err := g.NewHeader(lockstep.MatchID{}, s, &nullgame.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	c, err := coordinator.New(g, h, log, o)
	if err != nil {
		tb.Fatal(err)
	}
	for p := range lockstep.Player(m.Header.Players) {
		if _, err := c.Join(p); err != nil {
			tb.Fatal(err)
		}
	}
	return g, c
}

// realCommands returns the commands of a match in our form, by our tick.
func realCommands(tb testing.TB, g *lockstep.Game, m *testgame.Recorded) map[lockstep.Tick][]lockstep.Command {
	tb.Helper()
	payloads := g.NewPayloads()
	byTick := map[lockstep.Tick][]lockstep.Command{}
	for _, e := range m.Entries {
		if e.Checksum {
			continue
		}
		payload, err := payloads.EncodeAs(lockstep.Kind(e.Kind), &nullgame.Opaque{Data: e.Payload})
		if err != nil {
			tb.Fatal(err)
		}
		t := lockstep.Tick(e.Tick) + lead
		byTick[t] = append(byTick[t], lockstep.Command{
			Tick: t, Player: lockstep.Player(e.Player), Sequence: lockstep.Sequence(e.Sequence),
			Kind: lockstep.Kind(e.Kind), Payload: bytes.Clone(payload),
		})
	}
	return byTick
}

// submitAll submits the commands of one tick in the order in which they stand.
func submitAll(tb testing.TB, c *coordinator.Coordinator, commands []lockstep.Command) {
	for _, s := range commands {
		if r := c.Submit(s.Player, s.Sequence, s.Kind, s.Payload); r.Reason != lockstep.Accepted || r.Tick != s.Tick {
			tb.Fatalf("tick %d, player %d, sequence %d: %v", s.Tick, s.Player, s.Sequence, r)
		}
	}
}

// shuffle puts commands into a random order. It moves none further than a coordinator remembers: the whole match has a
// tick with 271 commands of one player.
func shuffle(rng *rand.Rand, commands []lockstep.Command) {
	for part := range slices.Chunk(commands, 200) {
		rng.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
	}
}

// All commands of a real match, in any order of arrival within their tick, go through coordinator, log and follower,
// and come back identical and in canonical order, which here is found by sorting text.
func TestRealMatch(t *testing.T) {
	m := loadTenPlayers(t)
	line := func(c *lockstep.Command) string {
		return fmt.Sprintf("%08d %03d %08d %05d %x", c.Tick, c.Player, c.Sequence, c.Kind, c.Payload)
	}
	var logs [2][]byte
	for run := range logs {
		rng := rand.New(rand.NewPCG(uint64(run), 3))
		var came []string
		var dec record.Decoder
		reader := testgame.LogFunc(func(record []byte) {
			logs[run] = append(logs[run], record...)
			r, _, err := dec.Decode(record)
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Frame.Commands {
				if c := &r.Frame.Commands[i]; c.Player != lockstep.System {
					came = append(came, line(c))
				}
			}
		})
		follower := nullgame.New().NewFollower(lockstep.FollowerOptions{})
		g, c := newNullMatch(t, m, 10, record.Tee(reader, follower), coordinator.Options{MaxPerTick: 512})
		byTick := realCommands(t, g, m)
		var went []string
		for next := lockstep.Tick(1); next <= lockstep.Tick(m.Ticks)+lead; next++ {
			commands := byTick[next]
			for i := range commands {
				went = append(went, line(&commands[i]))
			}
			shuffle(rng, commands)
			submitAll(t, c, commands)
			if _, err := c.Tick(); err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(went)
		if !slices.Equal(came, went) {
			t.Fatalf("run %d: %d commands went in, %d came out, in another order or changed", run, len(went), len(came))
		}
		if len(came) < 4000 {
			t.Fatalf("only %d commands", len(came))
		}
		a, b := follower.Simulation(), c.Referee().Simulation()
		if a.Tick() != b.Tick() || a.Hash() != b.Hash() || lockstep.World[nullgame.World](a).Count != uint64(len(came))+uint64(m.Header.Players) {
			t.Errorf("run %d: the follower at tick %d has another state than the referee at %d", run, a.Tick(), b.Tick())
		}
	}
	if !bytes.Equal(logs[0], logs[1]) {
		t.Error("two orders of arrival gave two logs")
	}
}

// reportAll gives the reports of a match to a coordinator in relay mode: a report of the file's tick t is one of our
// tick t.
func reportAll(t *testing.T, m *testgame.Recorded, checkEvery uint16) []*coordinator.DesyncReport {
	_, c := newNullMatch(t, m, checkEvery, testgame.Discard{}, coordinator.Options{Relay: true})
	for _, e := range m.Entries {
		if !e.Checksum || e.Tick == 0 {
			continue
		}
		for c.Now() < lockstep.Tick(e.Tick) {
			if _, err := c.Tick(); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Report(lockstep.Player(e.Player), lockstep.Tick(e.Tick), &checksum.Sum{Hash: e.Hash}); err != nil {
			t.Fatal(err)
		}
	}
	return c.Desyncs()
}

// The verdict on a real desync, without a referee: player 1 parts from the other seven at tick 9100.
func TestRealDesync(t *testing.T) {
	m := loadMatch(t, "../../testdata/matches/scfa-8748707-real-desync-cut.jsonl.gz", "SAMESTEP_REAL_DESYNC")
	reports := reportAll(t, m, 50)
	if len(reports) == 0 {
		t.Fatal("no desync was found")
	}
	r := reports[0]
	if r.Tick != 9100 || r.Player != 1 || r.Agreed != 9050 || r.Tie || len(r.Groups) != 2 ||
		!slices.Equal(r.Groups[0].Players, []lockstep.Player{0, 2, 3, 4, 5, 6, 7}) || !slices.Equal(r.Groups[1].Players, []lockstep.Player{1}) {
		t.Errorf("got %v, %+v", r, r.Groups)
	}
	if i := slices.IndexFunc(reports, func(r *coordinator.DesyncReport) bool { return r.Player != 1 || r.Tie }); i >= 0 {
		t.Errorf("somebody else is blamed: %v", reports[i])
	}
}

// Ten players agree, and none is blamed.
func TestRealAgreement(t *testing.T) {
	if reports := reportAll(t, loadTenPlayers(t), 50); len(reports) > 0 {
		t.Errorf("got %v", reports[0])
	}
}

func BenchmarkRealMatch(b *testing.B) {
	m := loadTenPlayers(b)
	byTick := realCommands(b, nullgame.New(), m)
	var log []byte
	total := 0
	for _, commands := range byTick {
		total += len(commands)
		slices.SortFunc(commands, func(a, b lockstep.Command) int {
			return cmp.Or(cmp.Compare(a.Player, b.Player), cmp.Compare(a.Sequence, b.Sequence))
		})
	}
	play := func(b *testing.B, log lockstep.Log, relay bool) {
		_, c := newNullMatch(b, m, 50, log, coordinator.Options{MaxPerTick: 512, Relay: relay})
		for next := lockstep.Tick(1); next <= lockstep.Tick(m.Ticks); next++ {
			submitAll(b, c, byTick[next])
			if _, err := c.Tick(); err != nil {
				b.Fatal(err)
			}
		}
	}
	play(b, testgame.LogFunc(func(r []byte) { log = append(log, r...) }), false)
	b.Run("coordinator", func(b *testing.B) {
		for b.Loop() {
			play(b, testgame.Discard{}, false)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(total), "ns/command")
	})
	b.Run("relay", func(b *testing.B) {
		for b.Loop() {
			play(b, testgame.Discard{}, true)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(total), "ns/command")
	})
	b.Run("decoder", func(b *testing.B) {
		b.SetBytes(int64(len(log)))
		for b.Loop() {
			testgame.DecodeAll(b, log, func(*record.Record) {})
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(total), "ns/command")
	})
	b.Run("decoder and encoder", func(b *testing.B) {
		b.SetBytes(int64(len(log)))
		for b.Loop() {
			var enc record.Encoder
			testgame.DecodeAll(b, log, func(r *record.Record) { enc.Record(r) })
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(total), "ns/command")
	})
	b.Run("follower", func(b *testing.B) {
		for b.Loop() {
			f := nullgame.New().NewFollower(lockstep.FollowerOptions{})
			testgame.DecodeAll(b, log, func(r *record.Record) {
				if err := f.Apply(r); err != nil {
					b.Fatal(err)
				}
			})
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(total), "ns/command")
	})
}

package flight

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A machine fills a ring as a follower does, from what a test says of each tick.
type machine struct {
	Ring
	tick     record.Tick
	sections int
	cost     int
	change   func(t record.Tick, prints []uint64)
	step     func(t record.Tick, r *Ring)
}

func newMachine() *machine {
	m := &machine{sections: 6}
	m.Begin(record.MatchID{1}, 0)
	return m
}

func (m *machine) run(ticks int, commands ...record.Command) {
	for range ticks {
		m.tick++
		m.Open()
		if m.step != nil {
			m.step(m.tick, &m.Ring)
		}
		var prints []uint64
		if m.Prints(m.tick) {
			prints = make([]uint64, m.sections)
			for i := range prints {
				prints[i] = uint64(i) * 7919
			}
			prints[0] = uint64(m.tick) * 2654435761
			prints[m.sections-1] = uint64(m.tick/16) * 40503
			if m.change != nil {
				m.change(m.tick, prints)
			}
		}
		m.Note(m.tick, commands, prints, max(m.cost, 1))
	}
}

// fight marks three phases, of which the second draws.
func fight(t record.Tick, r *Ring) {
	r.Phase("orders")
	r.Phase("combat")
	for i := range t % 5 {
		r.Drew("damage", uint32(i))
	}
	if t%7 == 0 {
		r.Drew("scatter", uint32(t))
	}
	r.Phase("end")
}

func (r *Record) String() string {
	if len(r.Ticks) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%d to %d", r.First(), r.Last())
}

// A record is written and read back, and what is read is what was noted.
func TestRecord(t *testing.T) {
	m := newMachine()
	m.step = fight
	m.run(10, record.Command{Player: 1, Sequence: 2, Kind: 3, Payload: []byte("go")})
	r := m.Record()
	if r.String() != "1 to 10" || r.Prints != 6 || r.Match != (record.MatchID{1}) {
		t.Fatalf("got %v with %d prints", r, r.Prints)
	}
	last := r.Ticks[6]
	if fmt.Sprint(last.Phases, last.Draws[0].Phase, last.Draws[0].Streams) != "[orders combat end] 2 [{damage 2} {scatter 1}]" || last.Commands != 1 {
		t.Errorf("tick 7: got %+v", last)
	}
	b := r.Append([]byte("before"))[6:]
	back, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintf("%+v", back.Ticks) != fmt.Sprintf("%+v", r.Ticks) {
		t.Errorf("got %+v\nwant %+v", back.Ticks, r.Ticks)
	}
	if again := back.Append(nil); !slices.Equal(again, b) {
		t.Error("other bytes the second time")
	}
}

// The ring keeps the latest 2,048 ticks of a game with a few sections, or fewer of one that changes much. Its memory and its
// record are bounded, and a record of a part has the same ticks as one of the whole.
func TestBounds(t *testing.T) {
	var streams []string
	for i := range 100 {
		streams = append(streams, fmt.Sprintf("stream %d", i))
	}
	for _, row := range []struct {
		name     string
		sections int
		from, to int // first tick after 5,000
	}{
		{"few sections", 6, 2953, 2953},
		{"many that change", 64, 4750, 4850},
		{"more than fit", 300, 4750, 4850},
	} {
		m := newMachine()
		m.sections = row.sections
		m.step = func(tick record.Tick, r *Ring) {
			fight(tick, r)
			for _, name := range streams {
				r.Drew(name, 1)
			}
		}
		if row.sections == 6 {
			m.step = fight
		}
		m.change = func(tick record.Tick, p []uint64) {
			if len(p) > 6 {
				for i := range p {
					p[i] = uint64(tick)*2654435761 + uint64(i)
				}
			}
		}
		var half *Record
		m.run(4990)
		half = m.Record()
		m.run(10)
		r := m.Record()
		if first := int(r.First()); first < row.from || first > row.to || r.Last() != 5000 {
			t.Errorf("%s: got ticks %v, want from %d to %d on", row.name, r, row.from, row.to)
		}
		if n := m.Memory(); n > MaxBytes {
			t.Errorf("%s: the ring holds %d bytes, want at most %d", row.name, n, MaxBytes)
		}
		b := r.Append(nil)
		if _, err := Parse(b); err != nil || len(b) > MaxBytes {
			t.Errorf("%s: %d bytes: %v", row.name, len(b), err)
		}
		for _, x := range half.Ticks {
			if i := int(x.Tick - r.First()); x.Tick >= r.First() && fmt.Sprintf("%+v", x) != fmt.Sprintf("%+v", r.Ticks[i]) {
				t.Fatalf("%s: tick %d: got %+v\nbefore %+v", row.name, x.Tick, r.Ticks[i], x)
			}
		}
		if row.sections > MaxPrints && r.Prints != MaxPrints {
			t.Errorf("%s: got %d prints", row.name, r.Prints)
		}
		t.Logf("%s: %d ticks, %d bytes, memory %d", row.name, len(r.Ticks), len(b), m.Memory())
	}
	if n := unsafe.Sizeof(Ring{}); n > fieldBytes {
		t.Errorf("a Ring has %d bytes, want at most %d", n, fieldBytes)
	}
}

// The prints of the sections that do not fit count in the last one.
func TestRestOfTheSections(t *testing.T) {
	one, other := newMachine(), newMachine()
	one.sections, other.sections = 300, 300
	other.change = func(tick record.Tick, p []uint64) {
		if tick >= 5 {
			p[200]++
		}
	}
	one.run(9)
	other.run(9)
	c, ok := Compare(one.Record(), other.Record(), 0)
	if !ok || c.Differs != 5 || !slices.Equal(c.Sections, []int{MaxPrints - 1}) {
		t.Errorf("got %+v", c)
	}
}

// Noting allocates nothing once the ring has its memory.
func TestNoteAllocatesNothing(t *testing.T) {
	m := newMachine()
	prints := make([]uint64, 8)
	commands := []record.Command{{Payload: []byte{1}}}
	note := func() {
		m.tick++
		m.Open()
		fight(m.tick, &m.Ring)
		prints[0]++
		m.Note(m.tick, commands, prints, 100)
	}
	for range 3 * MaxTicks {
		note()
	}
	if n := testing.AllocsPerRun(100, note); n > 0 {
		t.Errorf("got %v allocations", n)
	}
}

// A large state is printed in the ticks divisible by a power of two, the same on all machines from whatever tick on.
func TestSampling(t *testing.T) {
	one, other := newMachine(), newMachine()
	one.cost, other.cost = 5*SampleBytes, 5*SampleBytes
	other.Begin(record.MatchID{1}, 33)
	other.tick = 33
	one.run(100)
	other.run(67)
	for _, x := range one.Record().Ticks[1:] {
		if (x.Prints != nil) != (x.Tick%8 == 0) {
			t.Errorf("tick %d: prints %v", x.Tick, x.Prints)
		}
	}
	c, ok := Compare(one.Record(), other.Record(), 0)
	if !ok || c.From != 40 || c.To != 96 || c.Every != 8 || c.Differs != 0 || c.Same != 96 {
		t.Errorf("got %+v", c)
	}
}

// A state from elsewhere is marked. Ticks may be missing before it. One of an earlier tick drops those after it, and one of another match
// all.
func TestBegin(t *testing.T) {
	m := newMachine()
	m.run(10)
	m.Begin(record.MatchID{1}, 10)
	m.run(1)
	m.Begin(record.MatchID{1}, 20)
	m.tick = 20
	m.run(2)
	r := m.Record()
	var marked []record.Tick
	for _, x := range r.Ticks {
		if x.Restored {
			marked = append(marked, x.Tick)
		}
	}
	if !slices.Equal(marked, []record.Tick{11, 21}) || len(r.Ticks) != 13 {
		t.Errorf("got marks at %v in %d ticks", marked, len(r.Ticks))
	}
	if _, err := Parse(r.Append(nil)); err != nil {
		t.Error(err)
	}
	for _, back := range []struct{ to, first, ticks record.Tick }{{21, 1, 15}, {15, 1, 14}, {11, 1, 14}, {7, 1, 10}, {0, 1, 3}} {
		m.Begin(record.MatchID{1}, back.to)
		m.tick = back.to
		m.step = fight
		m.run(3)
		got := m.Record()
		n := len(got.Ticks)
		if got.First() != back.first || got.Last() != back.to+3 || n != int(back.ticks) || got.Ticks[n-3].Restored != (back.to > 0) || got.Ticks[n-3].Tick != back.to+1 {
			t.Errorf("back to %d: got %v with %d ticks", back.to, got, n)
		}
		want := newMachine()
		want.step = fight
		want.run(int(back.to) + 3)
		if got, want := got.Ticks[n-1], want.Record().Ticks[back.to+2]; fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("back to %d: got %+v, want %+v", back.to, got, want)
		}
		if _, err := Parse(got.Append(nil)); err != nil {
			t.Error(err)
		}
	}
	m.Begin(record.MatchID{2}, 18)
	if got := m.Record(); got.String() != "nothing" || got.Match != (record.MatchID{2}) {
		t.Errorf("another match: got %v", got)
	}
	if b := m.Record().Append(nil); len(b) != 1+16+2+4+1 {
		t.Errorf("an empty record has %d bytes", len(b))
	}
}

// Names are cut, and there is a bound on how many a ring tells apart.
func TestNames(t *testing.T) {
	m := newMachine()
	m.step = func(tick record.Tick, r *Ring) {
		r.Phase("a\nb")
		r.Phase("")
		r.Phase("ein sehr langer Name, länger als jeder andere")
		for i := range 70 {
			r.Phase(fmt.Sprintf("phase %d", i))
		}
		r.Drew("late", 1)
	}
	m.run(2)
	r := m.Record()
	x := r.Ticks[1]
	if x.Phases[0] != "a?b" || x.Phases[1] != "?" || x.Phases[2] != "ein sehr langer Name, länger al" || len(x.Phases) != MaxPhases {
		t.Errorf("got %q", x.Phases)
	}
	if d := x.Draws; len(d) != 1 || d[0].Phase != MaxPhases || d[0].Streams[0].Stream != "…" {
		t.Errorf("got %+v", d)
	}
	if _, err := Parse(r.Append(nil)); err != nil {
		t.Error(err)
	}
}

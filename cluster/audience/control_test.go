package audience

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// newWatched returns an Audience of a short match, and a spectator that has read everything.
func newWatched(t *testing.T, o Options) (a *Audience, game *lockstep.Game, records testgame.Records) {
	t.Helper()
	game, match := testgame.NewLamps(&records, coordinator.Options{})
	testgame.Ticks(match, 30)
	records = slices.Insert(records, 2, disclosure.Policy{}.Event())
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	log := NewLog(a)
	for _, r := range records {
		if err := log.Append(0, r); err != nil {
			t.Fatal(err)
		}
	}
	a.Live(0)
	join(t, a, game, "1")
	return a, game, records
}

func join(t *testing.T, a *Audience, game *lockstep.Game, from string) host.PeerID {
	t.Helper()
	id, ok := a.Connect(a.now, from)
	if !ok {
		t.Fatal("no room")
	}
	a.Receive(a.now, id, testgame.Message(&protocol.Message{Kind: protocol.KindAuth, Auth: protocol.NewAuth(game)}))
	a.Ready()
	for b := a.Send(id, nil); len(b) > 0; b = a.Send(id, nil) {
	}
	return id
}

// CheckBounds finds each kind of inconsistency.
func TestCheckBoundsControl(t *testing.T) {
	for _, row := range []struct {
		want   string
		change func(a *Audience, p *peer)
	}{
		{"", func(*Audience, *peer) {}},
		{"of memory", func(a *Audience, _ *peer) { a.frames = append(a.frames, &Keyframe{Bytes: make([]byte, 512<<20)}) }},
		{"spectators, want", func(a *Audience, _ *peer) { a.options.MaxSpectators = 0 }},
		{"ids", func(a *Audience, p *peer) { a.byID[99] = p }},
		{"bytes wait", func(_ *Audience, p *peer) { p.out = make([]byte, maxPrivate+1) }},
		{"cursor", func(_ *Audience, p *peer) { p.cursor += 99 }},
		{"beyond a cut", func(a *Audience, p *peer) { a.cuts = []cut{{p.cursor - 1, p.cursor + 1}} }},
		{"has a keyframe", func(a *Audience, p *peer) { p.sync = a.frames[0] }},
		{"by state", func(a *Audience, _ *peer) { a.count[host.Live]++ }},
		{"addresses with", func(a *Audience, _ *peer) { a.addresses.all[0].users++ }},
		{"not in order", func(a *Audience, _ *peer) {
			a.addresses.all = append(a.addresses.all, &address{key: "0"})
		}},
	} {
		a, _, _ := newWatched(t, Options{MaxSpectators: 2, MaxConnecting: 2})
		row.change(a, a.peers[0])
		if got := fmt.Sprint(a.CheckBounds(100)); !strings.Contains(got, row.want) || row.want == "" && got != "<nil>" {
			t.Errorf("got %s, want %q", got, row.want)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, row := range []struct {
		want string
		o    Options
	}{
		{"<nil>", Options{}},
		{"delay: got", Options{Delay: 1 << 20}},
		{"batch: got", Options{Batch: -1}},
		{"ring records", Options{RingRecords: -1}},
		{"rate 0", Options{Rates: Rates{Messages: host.Rate{N: 1}}}},
	} {
		if _, err := New(row.o); !strings.Contains(fmt.Sprint(err), row.want) {
			t.Errorf("got %v, want %q", err, row.want)
		}
	}
}

// An address that has used up its bytes of keyframes waits, and others do not.
func TestKeyframeBudget(t *testing.T) {
	o := Options{MaxSpectators: 300}
	o.Rates.Keyframes = host.Rate{N: 1, Per: 60 * lockstep.Second, Burst: 1}
	a, game, _ := newWatched(t, o)
	for range 40 {
		join(t, a, game, "greedy")
	}
	got := a.count[host.Syncing]
	join(t, a, game, "other")
	if got < 5 || got > 12 || a.count[host.Syncing] != got {
		t.Errorf("%d of 40 spectators of an address wait, want those beyond 32, and nobody else; with another one %d", got, a.count[host.Syncing])
	}
	ping := testgame.Message(&protocol.Message{Kind: protocol.KindPing, Nonce: 1})
	served := lockstep.Time(0)
	for a.count[host.Syncing] > 0 && a.now < 60*lockstep.Second {
		a.Advance(a.now + 100*lockstep.Millisecond)
		for _, p := range a.peers {
			if p.state == host.Syncing {
				a.Receive(a.now, p.id, ping)
				a.Send(p.id, nil)
			}
		}
		if err := a.CheckBounds(100); err != nil {
			t.Fatal(err)
		}
		served = a.now
	}
	if busy := a.stats.Closed[protocol.CloseBusy]; busy != 0 || served < 10*lockstep.Second || served > 30*lockstep.Second {
		t.Errorf("served the last of them after %v, and closed %d, want 10 to 30 s: 32 a minute", served, busy)
	}
}

// A source that comes and goes all the time does not make the Audience keep more and more keyframes.
func TestManyCuts(t *testing.T) {
	a, game, records := newWatched(t, Options{Delay: 10_000})
	header, first := records[0], slices.IndexFunc(records, func(b []byte) bool { return record.KindOf(b) == record.KindKeyframe })
	h := a.Header()
	for i := range 200 {
		state := slices.Concat(header, records[first])
		k := &Keyframe{Bytes: state, Tick: a.tick + 1, Position: a.Next() + protocol.Position(i%3)}
		if err := a.Resync(a.now, h, k); err != nil {
			t.Fatal(err)
		}
		if len(a.frames) > maxFrames {
			t.Fatalf("got %d keyframes after %d cuts", len(a.frames), i)
		}
	}
	join(t, a, game, "2")
	if err := a.CheckBounds(1 << 10); err != nil {
		t.Error(err)
	}
	if other := *h; true {
		other.Match[0]++
		if err := a.Resync(a.now, &other, a.frames[0]); err == nil {
			t.Error("took the header of another match")
		}
	}
}

// Notes that only the log has reach no spectator.
func TestHiddenNotes(t *testing.T) {
	a, _, _ := newWatched(t, Options{})
	l := NewLog(a)
	_, _, records := newWatched(t, Options{})
	for _, r := range records[:3] {
		if err := l.Append(0, r); err != nil {
			t.Fatal(err)
		}
	}
	before := a.Next()
	fresh, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	l = NewLog(fresh)
	for i, r := range records {
		if err := l.Append(0, r); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			for _, e := range record.EventTypes() {
				if !e.LogOnly || e.Name == record.EventDisclosure {
					continue
				}
				if err := l.Append(0, record.Event(0, e.Name, "secret")); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if fresh.Next() != before {
		t.Errorf("got positions up to %d, want %d", fresh.Next(), before)
	}
	if err := l.Append(0, record.Note(0, record.TopicChat, "hello")); err != nil || fresh.Next() != before+1 {
		t.Errorf("control: a line of chat has no position: %v", err)
	}
	for p := fresh.ring.First(); p < fresh.ring.Next(); p++ {
		if strings.Contains(string(fresh.ring.Record(p)), "secret") {
			t.Errorf("record %d is for the log only", p)
		}
	}
}

// A log that is read again is compared with what is there: equal records change nothing, others replace those after them.
func TestReadAgain(t *testing.T) {
	a, _, records := newWatched(t, Options{})
	next := a.Next()
	again := NewLog(a)
	for _, r := range records {
		if err := again.Append(0, r); err != nil {
			t.Fatal(err)
		}
	}
	if a.Next() != next || a.stats.Rewinds != 0 || a.stats.Resyncs != 0 {
		t.Errorf("got %+v, and position %d, want %d", a.stats, a.Next(), next)
	}
	other := NewLog(a)
	for _, r := range records[:len(records)/2] {
		if err := other.Append(0, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.Append(0, record.Note(0, record.TopicChat, "another history")); err != nil {
		t.Fatal(err)
	}
	if a.stats.Rewinds != 1 || a.stats.Resyncs != 1 || a.Next() >= next {
		t.Errorf("got %+v, and position %d", a.stats, a.Next())
	}
	if err := a.CheckBounds(100); err != nil {
		t.Error(err)
	}
}

// A run of empty ticks in a log counts as many positions, as in a live match.
func TestEmptyRun(t *testing.T) {
	_, _, records := newWatched(t, Options{})
	a, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := NewLog(a)
	for _, r := range append(records[:3:3], []byte{0x92, byte(record.KindEmpty), 100}) {
		if err := l.Append(0, r); err != nil {
			t.Fatal(err)
		}
	}
	if a.Next() != 101 || a.tick != 100 {
		t.Errorf("got position %d and tick %d, want 101 and 100", a.Next(), a.tick)
	}
}

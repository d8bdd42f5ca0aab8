package watch_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/page/watch"
	"github.com/seed-49bee653/samestep/replay"
)

// The replays are of game. The other one is a program's second game.
var game, minimalGame = lockstep.MustGame(skirmish.Rules()), lockstep.MustGame(minimal.Rules())

const goldens = "../../testdata/replays/"

func golden(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(goldens + name + ".ssr")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func open(t testing.TB, name string) *watch.Viewer {
	t.Helper()
	v, err := watch.Open(golden(t, name), game)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// at goes to a tick in small steps.
func at(t testing.TB, v *watch.Viewer, tick lockstep.Tick) {
	t.Helper()
	v.Seek(tick)
	for !v.Work(7) {
	}
	if v.Tick() != tick || v.Fault() != nil {
		t.Fatalf("got tick %d, %v, want %d", v.Tick(), v.Fault(), tick)
	}
}

func ExampleViewer() {
	file, err := os.ReadFile("../../testdata/replays/duel.ssr")
	if err != nil {
		panic(err)
	}
	var v *watch.Viewer
	v, err = watch.Open(file, game)
	if err != nil {
		panic(err)
	}
	v.Seek(900)
	for !v.Work(100) {
	}
	agreed, differing := v.Compared()
	fmt.Println(v.Tick(), v.Hash(), agreed > 0, differing)
	about := v.About()
	var first watch.Participant = about.Players[0]
	fmt.Println(about.Game, about.Last, len(about.Players), first.Name)
	var timeline watch.Timeline = v.Timeline(60)
	var wrong []watch.Mismatch = timeline.Mismatches // of players, in the log
	var desyncs []watch.Desync = v.Desyncs()         // of this viewer
	fmt.Println(len(timeline.Keyframes), len(wrong), len(desyncs))
	var entries []watch.Entry = v.Commands(900, 2)
	for _, e := range entries {
		fmt.Println(e.Tick, e.Player, e.Text)
	}
	// Output:
	// 900 0a979371a72f10b9 true 0
	// skirmish 1200 2 bot 0
	// 3 0 0
	// 865 1 player 1 lets group 1 patrol to 15.875,15.625
	// 990 0 player 0 moves unit 49 to 10.75,34.125
}

// A tick has the same checksum on every way to it.
func TestSeek(t *testing.T) {
	want := make(map[lockstep.Tick]string)
	straight := open(t, "duel")
	for tick := straight.First(); tick <= straight.Last(); tick += 50 {
		at(t, straight, tick)
		want[tick] = straight.Hash()
	}
	v := open(t, "duel")
	draw := rand.New(rand.NewPCG(1, 2))
	backwards := 0
	for range 60 {
		tick := lockstep.Tick(draw.IntN(25)) * 50
		if tick < v.Tick() {
			backwards++
		}
		at(t, v, tick)
		if v.Hash() != want[tick] {
			t.Fatalf("tick %d: got %s, want %s", tick, v.Hash(), want[tick])
		}
		before, now := v.States()
		if now.Tick() != tick || before.Tick()+1 < tick || before.Tick() > tick {
			t.Fatalf("tick %d: the states are of ticks %d and %d", tick, before.Tick(), now.Tick())
		}
	}
	if agreed, differing := v.Compared(); backwards < 10 || agreed < 30 || differing != 0 {
		t.Errorf("%d jumps back: %d checksums agreed, %d differed", backwards, agreed, differing)
	}
	fresh := open(t, "duel")
	if fresh.Seek(599); fresh.Left() != 599 {
		t.Errorf("got %d ticks left, want 599", fresh.Left())
	}
	for fresh.Seek(1 << 30); !fresh.Work(1000); {
	}
	if fresh.Tick() != fresh.Last() {
		t.Errorf("beyond the end: got tick %d, want %d", fresh.Tick(), fresh.Last())
	}
}

// The golden replays have the checksums of their list.
func TestGoldenReplays(t *testing.T) {
	f, err := os.Open(goldens + "checksums.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	compared := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) != 6 || words[0] == "match" {
			continue
		}
		v := open(t, words[0])
		at(t, v, v.Last())
		if v.Hash() != words[4] || fmt.Sprint(v.Last()) != words[2] {
			t.Errorf("%s: got %s at tick %d, want %s at %s", words[0], v.Hash(), v.Last(), words[4], words[2])
		}
		compared++
	}
	if compared < 4 {
		t.Errorf("got %d replays, want 4", compared)
	}
}

// A jump uses the nearest known state: after the first run, all jumps are short.
func TestSeekIsShort(t *testing.T) {
	v := open(t, "four") // which has no keyframe but the first
	at(t, v, v.Last())
	for _, tick := range []lockstep.Tick{150, 399, 420, 30, 599} {
		v.Seek(tick)
		if left := v.Left(); left >= 200 {
			t.Errorf("tick %d: %d ticks to simulate, want less than 200", tick, left)
		}
		at(t, v, tick)
	}
}

func TestTimeline(t *testing.T) {
	v := open(t, "duel")
	a, l := v.About(), v.Timeline(60)
	if a.Last != 1200 || a.Period != 50_000 || a.Damage != "" || a.Ended == "" {
		t.Errorf("got %+v", a)
	}
	if len(l.Keyframes) < 2 || l.Keyframes[1] != 600 || len(l.Activity) != 2 || len(l.Checked) != 60 {
		t.Errorf("got keyframes %v and %d players", l.Keyframes, len(l.Activity))
	}
	sum := float32(0)
	for p := range l.Activity {
		for _, rate := range l.Activity[p] {
			sum += rate // for a second each, as 60 columns have 60 seconds
		}
	}
	if want := float32(a.Players[0].Commands + a.Players[1].Commands); sum < want-.1 || sum > want+.1 || want == 0 {
		t.Errorf("the columns have %v commands, want %v", sum, want)
	}
	for i, column := range l.Checked {
		if column != i {
			t.Errorf("column %d has no checksum", i)
		}
	}
	if one := v.Timeline(-1); one.Columns != 1 {
		t.Errorf("got %d columns, want 1", one.Columns)
	}
	var _ watch.Timeline = l
}

func TestCommands(t *testing.T) {
	v := open(t, "duel")
	all := v.Commands(0, 1<<20)
	for _, tick := range []lockstep.Tick{0, 1, 500, 1200} {
		list := v.Commands(tick, 10)
		if len(list) != 10 {
			t.Fatalf("tick %d: got %d commands, want 10", tick, len(list))
		}
		past := 0
		for i := range list {
			if i > 0 && list[i].Tick < list[i-1].Tick {
				t.Errorf("tick %d: the list is not in order", tick)
			}
			if list[i].Tick <= tick {
				past++
			}
			if list[i].Text == "" {
				t.Errorf("tick %d: command %d has no text", tick, i)
			}
		}
		if tick == 500 && past != 5 {
			t.Errorf("%d of 10 commands are not after tick %d, want 5", past, tick)
		}
	}
	if len(all) != v.About().Commands {
		t.Errorf("got %d commands, want %d", len(all), v.About().Commands)
	}
}

// The commands of the system are sentences, too.
func TestSystemCommandsInWords(t *testing.T) {
	var texts []string
	for _, e := range open(t, "roster").Commands(0, 1<<20) {
		if e.Player == lockstep.System {
			texts = append(texts, e.Text)
		}
	}
	for _, want := range []string{
		"player 1 joins", "player 1 is disconnected", "a bot takes over for player 1", "player 0 pauses the match", "player 2 resumes the match",
		"the match runs at 150 % of its speed", "player 2 leaves for good",
	} {
		if !slices.Contains(texts, want) {
			t.Errorf("got %q, want %q among them", texts, want)
		}
	}
}

// A torn file plays up to its end, and says so. Damage in the middle costs the part after it.
func TestDamage(t *testing.T) {
	whole := golden(t, "duel")
	cuts, flips := 23, 61
	if testing.Short() {
		cuts, flips = 7, 13
	}
	for cut := 0; cut < len(whole); cut += len(whole)/cuts + 1 {
		v, err := watch.Open(whole[:cut], game)
		if err != nil {
			continue
		}
		if v.About().Damage == "" {
			t.Errorf("cut at byte %d: no damage", cut)
		}
		at(t, v, v.Last())
	}
	opened := 0
	for at := 0; at < len(whole); at += len(whole)/flips + 1 {
		b := append([]byte{}, whole...)
		b[at] ^= 0x40
		if v, err := watch.Open(b, game); err == nil {
			opened++
			for v.Seek(v.Last()); !v.Work(1 << 20); {
			}
			if v.About().Damage == "" && v.Fault() == nil {
				t.Errorf("a bit of byte %d: nothing is wrong", at)
			}
		}
	}
	if opened == 0 {
		t.Error("no damaged file was opened")
	}
	for _, junk := range []string{"", "hello", strings.Repeat("\x00", 4096)} {
		if _, err := watch.Open([]byte(junk), game); !errors.Is(err, replay.ErrFormat) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%.10q: got %v", junk, err)
		}
	}
}

// After a wrong checksum in the log, the viewer names the tick and continues.
func TestDesync(t *testing.T) {
	v, err := watch.Open(forged(t, golden(t, "duel"), 200), game)
	if err != nil {
		t.Fatal(err)
	}
	if v.Desyncs() == nil {
		t.Error("a match without desyncs has no list, want an empty one: the page reads its length")
	}
	at(t, v, 400)
	found := v.Desyncs()
	if _, differing := v.Compared(); differing != 1 || len(found) != 1 || found[0].Tick != 200 || found[0].Got == found[0].Want {
		t.Errorf("got %+v, want one at tick 200", found)
	}
	var _ watch.Desync = found[0]

	if v, err = watch.Open(forged(t, golden(t, "duel"), 600), game); err != nil { // a jump to the keyframe of that tick
		t.Fatal(err)
	}
	at(t, v, 600)
	if found := v.Desyncs(); len(found) != 1 || found[0].Tick != 600 {
		t.Errorf("at a keyframe: got %+v, want one at tick 600", found)
	}
}

// forged returns a replay with a false checksum at a tick.
func forged(t *testing.T, file []byte, tick lockstep.Tick) []byte {
	t.Helper()
	r, err := replay.NewReader(strings.NewReader(string(file)), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	w := replay.NewWriter(&out, replay.WriterOptions{})
	var enc record.Encoder
	done := false
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.Kind == record.KindChecksum && rec.Tick == tick {
			rec.Hash ^= 1
			done = true
		}
		if err := w.Append(enc.Record(rec)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil || !done {
		t.Fatalf("forged %v: %v", done, err)
	}
	return []byte(out.String())
}

// A replay of another build is refused, with the difference.
func TestOtherBuild(t *testing.T) {
	rules := skirmish.Rules()
	rules.Build = "another"
	g := lockstep.MustGame(rules)
	config := skirmish.Defaults(2, 100)
	h, err := g.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &config)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	w := replay.NewWriter(&out, replay.WriterOptions{})
	c, err := coordinator.New(g, h, w, coordinator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Tick(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = watch.Open([]byte(out.String()), minimalGame, game)
	if identity := (*lockstep.IdentityError)(nil); !errors.As(err, &identity) || !strings.Contains(err.Error(), "another") {
		t.Errorf("got %v, want an IdentityError that names the build", err)
	}
}

// The latest known state is that of the last keyframe, and beyond it that of the present tick. It is told once.
func TestLatest(t *testing.T) {
	v := open(t, "duel")
	timeline := v.Timeline(1000)
	last := timeline.Keyframes[len(timeline.Keyframes)-1]
	s := v.Latest(0)
	if s == nil || s.Tick() != last || v.Tick() != v.First() {
		t.Fatalf("got %v, want the state of tick %d without going there", s, last)
	}
	known := lockstep.World[skirmish.World](s).History(0)
	if n := int(last / 100); len(known) < n {
		t.Errorf("got %d samples, want at least %d", len(known), n)
	}
	end := v.Last()
	for _, row := range []struct{ at, after, want lockstep.Tick }{
		{0, last, 0}, {100, 50, last}, {end, last, max(end, last)}, {end, end, 0}, {0, end, 0},
	} {
		if row.want <= row.after {
			row.want = 0
		}
		at(t, v, row.at)
		var got lockstep.Tick
		if s := v.Latest(row.after); s != nil {
			got = s.Tick()
		}
		if got != row.want {
			t.Errorf("at tick %d, after %d: got tick %d, want %d", row.at, row.after, got, row.want)
		}
	}
}

// A keyframe that is damaged is no state.
func TestLatestDamaged(t *testing.T) {
	file := golden(t, "duel")
	for cut := len(file) - 1; cut > len(file)/2; cut -= len(file) / 40 {
		bad := append([]byte{}, file...)
		bad[cut] ^= 0x55
		v, err := watch.Open(bad, game)
		if err != nil {
			continue
		}
		if s := v.Latest(0); s != nil && s.Tick() > v.Last() {
			t.Errorf("byte %d: got tick %d of %d", cut, s.Tick(), v.Last())
		}
	}
}

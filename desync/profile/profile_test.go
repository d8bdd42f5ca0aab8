package profile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync/profile"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func phaseOf(p *profile.Profile, name string) profile.Phase {
	i := slices.IndexFunc(p.Phases, func(x profile.Phase) bool { return x.Name == name })
	if i < 0 {
		return profile.Phase{}
	}
	return p.Phases[i]
}

// The times are those of the clock, from mark to mark, and what the worst ticks and the tenths have is that of the match.
func TestTimes(t *testing.T) {
	t.Parallel()
	slow := func(b *bench, _ *workday, turn *lockstep.Turn, phase string) {
		if turn.Tick == 20 && phase == "hire" {
			b.clock += time.Second
		}
	}
	p := measured(t, &bench{odd: slow}, day(t), profile.Options{Worst: 3})
	if p.From != 1 || p.To != workTicks || p.Runs != 1 || p.Err() != nil || p.Agreed < workTicks/5 {
		t.Errorf("got ticks %d to %d, %d runs, %d agreed, %v", p.From, p.To, p.Runs, p.Agreed, p.Err())
	}
	var names []string
	for _, x := range p.Phases {
		names = append(names, x.Name)
	}
	if got := strings.Join(names, ","); got != ",hire,work" {
		t.Errorf("got the phases %q", got)
	}
	if x := phaseOf(p, "hire"); x.Max != 1000002 || x.At != 20 || x.P50 != 2 || x.Ticks != workTicks || x.Share < 0.99 {
		t.Errorf("got %+v of the slow phase", x)
	}
	if x := phaseOf(p, "work"); x.Max != 40 || x.At != workTicks || x.Share > 0.01 {
		t.Errorf("got %+v of work", x)
	}
	if x := phaseOf(p, ""); x.Max != 1 || x.P99 != 1 {
		t.Errorf("got %+v of the part before the first mark", x)
	}
	w := p.Worst[0]
	if w.Tick != 20 || w.US != 1000033 || w.Phases[0].Name != "hire" || w.Phases[0].US != 1000002 {
		t.Errorf("got %+v as the worst tick", w)
	}
	if want := []profile.Count{{Name: "hire", N: 11}}; !slices.Equal(w.Commands, want) {
		t.Errorf("got the commands %v, want %v", w.Commands, want)
	}
	if want := []profile.Count{{Name: "Workers[].Tools", N: 60}, {Name: "Workers", N: 20}}; !slices.Equal(w.Lists, want) {
		t.Errorf("got the lists %v, want %v", w.Lists, want)
	}
	if got := p.Worst[1].Tick; got != workTicks || len(p.Worst) != 3 {
		t.Errorf("got tick %d of %d as the second", got, len(p.Worst))
	}
	if first, last := p.Tenths[0], p.Tenths[9]; first.From != 1 || first.To != 4 || last.To != workTicks || first.P50 >= last.P50 || first.Bytes >= last.Bytes || last.Lists[1].N != 30 || len(p.Tenths) != 10 {
		t.Errorf("got the tenths %+v", p.Tenths)
	}
}

// What only one run was slow at is not the rules'. A run that would take longer than the limit does not begin.
func TestQuickestRunCounts(t *testing.T) {
	t.Parallel()
	runs, file := 0, day(t)
	noise := func(b *bench, _ *workday, turn *lockstep.Turn, phase string) {
		if turn.Tick == 1 && phase == "" {
			runs++
		}
		if runs < 3 && turn.Tick == lockstep.Tick(10*runs) && phase == "work" {
			b.clock += time.Millisecond
		}
	}
	p := measured(t, &bench{odd: noise}, file, profile.Options{Repeat: 6 * time.Millisecond})
	if x := phaseOf(p, "work"); p.Step.Max != 43 || x.Max != 40 || p.Runs != 2 {
		t.Errorf("got %+v and %+v in %d runs", p.Step, x, p.Runs)
	}
	runs = 0
	p = measured(t, &bench{odd: noise}, file, profile.Options{Repeat: time.Millisecond})
	if p.Runs != 1 || p.Step.Max < 1000 || p.Step.At != 10 {
		t.Errorf("got %+v in %d runs", p.Step, p.Runs)
	}
}

var sink []byte

// A phase that allocates is named, with the tick; others allocate nothing.
func TestAllocations(t *testing.T) {
	leak := func(_ *bench, _ *workday, turn *lockstep.Turn, phase string) {
		if phase == "work" && turn.Tick%4 == 0 {
			for range turn.Tick {
				sink = make([]byte, 5000)
			}
		}
	}
	p := measured(t, &bench{odd: leak}, day(t), profile.Options{})
	work, before := phaseOf(p, "work"), phaseOf(p, "")
	if work.Allocations.At != workTicks || work.Allocations.Most < workTicks || work.Allocations.Most > 2*workTicks || work.Allocations.Bytes < 5*5000 || p.Counted != workTicks {
		t.Errorf("got %+v of %d ticks", work.Allocations, p.Counted)
	}
	if before.Allocations.Objects > 1 {
		t.Errorf("got %+v before the first mark", before.Allocations)
	}
	if all := p.Allocations; all.At != workTicks || all.Objects < work.Allocations.Objects {
		t.Errorf("got %+v of Step, with %+v of work", all, work.Allocations)
	}
}

// A part of a match begins at the keyframe before it, and has the same times.
func TestRange(t *testing.T) {
	t.Parallel()
	file := day(t)
	p := measured(t, &bench{}, file, profile.Options{From: 13, To: 37, Worst: 1})
	if p.From != 13 || p.To != 37 || p.Step.Ticks != 25 || p.Worst[0].Tick != 36 || p.Tenths[0].From != 13 || p.Tenths[9].To != 37 {
		t.Errorf("got %+v", p)
	}
	if p = measured(t, &bench{}, file, profile.Options{From: 40, To: 40}); p.Step.Ticks != 1 || len(p.Tenths) != 1 || p.Tenths[0].Bytes == 0 {
		t.Errorf("got %+v", p)
	}
	for _, o := range []profile.Options{{From: 41}, {To: 41}, {From: 50, To: 60}} {
		var missing *replay.TickError
		if _, err := profile.Measure(reader(t, file), lockstep.MustGame((&bench{}).rules()), o); !errors.As(err, &missing) || missing.Last != workTicks || missing.First != 1 {
			t.Errorf("%+v: got %v", o, err)
		}
	}
	if _, err := profile.Measure(reader(t, file), lockstep.MustGame((&bench{}).rules()), profile.Options{From: 3, To: 2}); err == nil {
		t.Error("got a profile of the ticks 3 to 2")
	}
	if _, err := profile.Measure(reader(t, file), lockstep.MustGame((&bench{}).rules()), profile.Options{MaxTicks: 30}); !errors.Is(err, replay.ErrLimit) {
		t.Errorf("got %v of 40 ticks, want at most 30", err)
	}
	other := (&bench{}).rules()
	other.Build = "2"
	if _, err := profile.Measure(reader(t, file), lockstep.MustGame(other), profile.Options{}); !errors.As(err, new(*lockstep.IdentityError)) {
		t.Errorf("got %v of another build", err)
	}
}

// A file that is cut short, a match that contradicts its file and a panic are measured as far as they go, and the profile says so.
func TestFaults(t *testing.T) {
	t.Parallel()
	file := day(t)
	whole := measured(t, &bench{}, file, profile.Options{})
	torn := measured(t, &bench{}, file[:len(file)*2/3], profile.Options{})
	if torn.To >= workTicks || torn.To < 2 || torn.Damage == "" || replay.ClassOf(torn.Err()) != replay.ClassTorn || torn.Step.Ticks != int(torn.To) {
		t.Errorf("torn: got ticks up to %d, %q", torn.To, torn.Damage)
	}
	if early := measured(t, &bench{}, file[:len(file)*2/3], profile.Options{To: 2}); early.Err() != nil {
		t.Errorf("before the end of a torn file: got %v", early.Err())
	}
	changed := measured(t, &bench{odd: func(_ *bench, w *workday, turn *lockstep.Turn, _ string) {
		if turn.Tick == 12 {
			w.Sum++
		}
	}}, file, profile.Options{Repeat: time.Hour})
	if !strings.Contains(changed.Desync, "desync at tick 15") || replay.ClassOf(changed.Err()) != replay.ClassDesync || changed.To != workTicks || changed.Agreed >= whole.Agreed {
		t.Errorf("desync: got %q, %v, ticks up to %d", changed.Desync, changed.Err(), changed.To)
	}
	panicked := measured(t, &bench{odd: func(_ *bench, _ *workday, turn *lockstep.Turn, _ string) {
		if turn.Tick == 12 {
			panic("no")
		}
	}}, file, profile.Options{Repeat: time.Hour})
	if panicked.To != 11 || panicked.Panic == "" || replay.ClassOf(panicked.Err()) != replay.ClassPanic || panicked.Step.Ticks != 11 {
		t.Errorf("panic: got ticks up to %d, %q", panicked.To, panicked.Panic)
	}
	for name, p := range map[string]*profile.Profile{"only: ": torn, "contradicts the file": changed, "end with a panic": panicked} {
		var text strings.Builder
		if p.WriteText(&text); !strings.Contains(strings.Join(strings.Fields(text.String()), " "), strings.TrimSpace(name)) {
			t.Errorf("%s: got %s", name, &text)
		}
	}
}

// A match without ticks has no profile, and the error says so, with what the file has.
func TestWithoutTicks(t *testing.T) {
	t.Parallel()
	measure := func(file []byte, o profile.Options) error {
		p, err := profile.Measure(reader(t, file), lockstep.MustGame((&bench{}).rules()), o)
		if p != nil {
			t.Errorf("got %+v", p)
		}
		return err
	}
	empty := dayOf(t, 0)
	for _, o := range []profile.Options{{}, {From: 1}, {To: 1, Worst: 3}} {
		if err := measure(empty, o); err == nil || err.Error() != "profile: no ticks to measure: the match ends at tick 0, where it begins" {
			t.Errorf("%+v: got %v", o, err)
		}
	}
	whole, torn := day(t), 0
	for n := range whole {
		r, err := replay.NewReader(bytes.NewReader(whole[:n]), int64(n))
		if err != nil {
			continue
		}
		p, err := profile.Measure(r, lockstep.MustGame((&bench{}).rules()), profile.Options{})
		if p != nil {
			break
		}
		if replay.ClassOf(err) == replay.ClassTorn && strings.Contains(err.Error(), "no ticks to measure: the match ends at tick 0, where it begins: ") {
			torn++
		}
	}
	if torn == 0 {
		t.Error("no torn file without ticks says so")
	}
	if p := measured(t, &bench{}, dayOf(t, 1), profile.Options{Worst: 3}); p.Step.Ticks != 1 || len(p.Worst) != 1 || len(p.Tenths) != 1 {
		t.Errorf("of one tick: got %+v", p)
	}
}

// Rules without marks have only whole ticks, and so have those in a module, of which nothing is said that is not known.
func TestWithoutPhases(t *testing.T) {
	t.Parallel()
	file := day(t)
	for _, elsewhere := range []bool{false, true} {
		p := measured(t, &bench{plain: true}, file, profile.Options{Elsewhere: elsewhere, Worst: 1})
		if len(p.Phases) != 0 || p.Step.Max != 43 || len(p.Worst[0].Phases) != 0 || len(p.Worst[0].Lists) != 2 || (p.Allocations == nil) != elsewhere {
			t.Errorf("got %+v", p)
		}
		var text, page strings.Builder
		if p.WriteText(&text); !strings.Contains(text.String(), map[bool]string{true: "rules run in a module", false: "mark no phases"}[elsewhere]) {
			t.Errorf("got %s", &text)
		}
		if err := p.WriteHTML(&page); err != nil || strings.Contains(page.String(), "Allocated") == elsewhere {
			t.Errorf("%v: got %s", err, &page)
		}
		b, err := json.Marshal(p)
		if err != nil || strings.Contains(string(b), "null") {
			t.Errorf("%v: got %s", err, b)
		}
	}
}

// Names of phases are bounded in number and size.
func TestManyPhases(t *testing.T) {
	t.Parallel()
	many := func(b *bench, _ *workday, turn *lockstep.Turn, phase string) {
		if phase == "work" {
			turn.Phase(strings.Repeat("long", 100) + string(rune('a'+turn.Tick%20)))
			for i := range 100 {
				turn.Phase("step " + string(rune('A'+i)))
				b.clock += time.Microsecond
			}
		}
	}
	p := measured(t, &bench{odd: many}, day(t), profile.Options{})
	total := 0.0
	for _, x := range p.Phases {
		if total += x.Total; len(x.Name) > 80 {
			t.Errorf("got a name of %d bytes", len(x.Name))
		}
	}
	if n := len(p.Phases); n != 64 || p.Phases[n-1].Name != "all others" || p.Phases[n-1].Max < 40 || total < p.Step.Total*0.999 {
		t.Errorf("got %d phases, %+v, %v of %v", n, p.Phases[n-1], total, p.Step.Total)
	}
}

// The page has the phases and the chart, and no markup of the game's names.
func TestPage(t *testing.T) {
	t.Parallel()
	p := measured(t, &bench{odd: func(b *bench, _ *workday, turn *lockstep.Turn, phase string) {
		if phase == "work" {
			turn.Phase("<b>")
			b.clock += time.Second
		}
	}}, day(t), profile.Options{Worst: 2})
	var page strings.Builder
	if err := p.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"&lt;b&gt;", "<title>hire</title>", "before the first", "The worst ticks", "upper edge 1 s"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %s in %s", want, &page)
		}
	}
	if strings.Contains(page.String(), "<b>") {
		t.Error("a name is markup")
	}
}

// go tool pprof finds the samples of a phase that is slow by its label, and those of a tick.
func TestCPUProfile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cpu.pprof")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	burn := func(_ *bench, w *workday, turn *lockstep.Turn, phase string) {
		if phase == "hire" && turn.Tick == 20 {
			for until := time.Now().Add(200 * time.Millisecond); time.Now().Before(until); {
				w.Sum++
				w.Sum--
			}
		}
	}
	p := measured(t, &bench{odd: burn}, day(t), profile.Options{CPU: out})
	if err := out.Close(); err != nil || p.CPURuns < 2 {
		t.Fatalf("%v after %d runs", err, p.CPURuns)
	}
	ask := func(args ...string) string {
		b, err := exec.Command("go", append(append([]string{"tool", "pprof"}, args...), path)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		return string(b)
	}
	tags := ask("-tags")
	for _, want := range []string{"phase: Total", "hire", "tick: Total", "20", "game: Total", "work", "match: Total", p.Match} {
		if !strings.Contains(tags, want) {
			t.Errorf("no %q in %s", want, tags)
		}
	}
	if got := ask("-top", "-tagfocus", "phase=hire"); !strings.Contains(got, "TestCPUProfile.func") {
		t.Errorf("the phase that is slow: got %s", got)
	}
	if got := ask("-top", "-tagfocus", "phase=hire", "-tagignore", "tick=^20$"); strings.Contains(got, "TestCPUProfile.func") {
		t.Errorf("the phase in other ticks: got %s", got)
	}
}

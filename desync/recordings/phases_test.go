package recordings_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync/recordings"
)

// traced are the texts of notes of phases, by tick.
type traced map[int][]string

// steps are the phases move, collide and trade and the draws of dice in ticks 1 to 9. From tick wrong on, the sum of one of them differs;
// 0 is never.
func steps(wrong int, name string) traced {
	all := traced{}
	for t := 1; t < 10; t++ {
		sums := map[string]int{"move": t, "collide": t, "trade": t}
		dice := 2
		if wrong > 0 && t >= wrong {
			sums[name]++
			if name == "dice" {
				dice++
			}
		}
		all[t] = []string{fmt.Sprintf("move=%016x collide=%016x", sums["move"], sums["collide"]), fmt.Sprintf("trade=%016x dice#%d map#0", sums["trade"], dice)}
	}
	return all
}

// at has only the texts of a tick.
func at(t int, texts ...string) traced { return traced{t: texts} }

// The first phase and the first draws that differ are named, if both sides have them, and else who lacks them.
func TestPhases(t *testing.T) {
	type side = recorded
	plain := steps(0, "")
	for name, c := range map[string]struct {
		a, b  side
		cause recordings.DivergenceCause
		phase string // its tick, name and lone one
		draws string
		text  []string
	}{
		"a phase":                  {side{phases: plain}, side{by: 1, wrong: 6, phases: steps(6, "collide")}, recordings.CauseStates, "6 collide ", "", []string{"X differs at tick 6 in phase collide, player 0 | player 1", "phase collide at tick 6, the first phase that differs: 0000000000000006 in A, 0000000000000007 in B", "draws none: 2 streams are equal, all of tick 6 that both have"}},
		"a later phase":            {side{phases: plain}, side{by: 1, wrong: 6, phases: steps(6, "trade")}, recordings.CauseStates, "6 trade ", "", []string{"in phase trade"}},
		"draws":                    {side{phases: plain}, side{by: 1, wrong: 6, phases: steps(6, "dice")}, recordings.CauseStates, "", "6 dice ", []string{"X differs at tick 6 with other draws of dice, player", "draws dice at tick 6, the first stream that differs: 2 in A, 3 in B", "phase none: 3 phases are equal, all of tick 6 that both have"}},
		"nothing of the step":      {side{phases: plain}, side{by: 1, wrong: 6, phases: plain}, recordings.CauseStates, "", "", []string{"phase none: 3 phases are equal, all of tick 6"}},
		"A has none":               {side{}, side{by: 1, wrong: 6, phases: plain}, recordings.CauseStates, "", "", []string{"phase unknown: A has recorded no phase", "draws unknown: A has recorded no stream"}},
		"B has none":               {side{phases: plain}, side{by: 1, wrong: 6}, recordings.CauseStates, "", "", []string{"phase unknown: B has recorded no phase"}},
		"B has no draws":           {side{phases: plain}, side{by: 1, wrong: 6, phases: at(6, "move=0000000000000006")}, recordings.CauseStates, "", "", []string{"phase none: 1 phase is equal, the only one of tick 6 that both have; only one side has 2 more phases", "draws unknown: B has recorded no stream"}},
		"not at that tick":         {side{phases: plain}, side{by: 1, wrong: 6, phases: at(5, "move=0000000000000005")}, recordings.CauseStates, "", "", []string{"phase unknown: one side has no phase of tick 6"}},
		"other names":              {side{phases: plain}, side{by: 1, wrong: 6, phases: at(6, "run=0000000000000005")}, recordings.CauseStates, "", "", []string{"phase unknown: there is no phase of tick 6 that both have"}},
		"one that only A has":      {side{phases: plain}, side{by: 1, wrong: 6, phases: at(6, "collide=0000000000000007")}, recordings.CauseStates, "6 collide move", "", []string{"before it, only one side has move"}},
		"one that only B has":      {side{phases: at(6, "move=0000000000000006")}, side{by: 1, wrong: 6, phases: at(6, "fly=0000000000000006 move=0000000000000007")}, recordings.CauseStates, "6 move fly", "", []string{"before it, only one side has fly"}},
		"a name twice":             {side{phases: at(6, "move=0000000000000001 move=0000000000000002")}, side{by: 1, wrong: 6, phases: at(6, "move=0000000000000001 move=0000000000000003")}, recordings.CauseStates, "6 move ", "", []string{"0000000000000002 in A"}},
		"streams in another order": {side{phases: at(6, "a#1 b#2")}, side{by: 1, wrong: 6, phases: at(6, "b#2 a#1")}, recordings.CauseStates, "", "", []string{"draws none: 2 streams are equal, all of tick 6"}},
		"few checksums":            {side{every: 4, phases: plain}, side{by: 1, every: 4, wrong: 6, phases: steps(6, "collide")}, recordings.CauseStates, "6 collide ", "", []string{"after tick 4, at tick 8 at the latest in phase collide"}},
		"after the states":         {side{phases: plain}, side{by: 1, wrong: 6, phases: steps(7, "collide")}, recordings.CauseStates, "", "", []string{"phase none: 3 phases are equal"}},
		"before equal states":      {side{phases: at(3, "move=0000000000000001 dice#1")}, side{by: 1, wrong: 6, phases: at(3, "move=0000000000000002 dice#2")}, recordings.CauseStates, "", "", []string{"note the sums of phase move differ at tick 3, but the states agree at tick 5", "note the draws of dice differ at tick 3, but the states agree at tick 5"}},
		"again after equal states": {side{phases: plain}, side{by: 1, wrong: 6, phases: steps(3, "move")}, recordings.CauseStates, "6 move ", "", []string{"the sums of phase move differ at tick 3, but"}},
		"no state of that tick":    {side{every: 4, phases: plain}, side{by: 1, every: 4, phases: steps(9, "trade")}, recordings.CausePhases, "9 trade ", "", []string{"verdict the steps to tick 9 differ: they part in phase trade; no state is known to differ"}},
		"no states, other draws":   {side{every: 4, phases: plain}, side{by: 1, every: 4, phases: steps(9, "dice")}, recordings.CausePhases, "", "9 dice ", []string{"they part with other draws of dice"}},
		"equal":                    {side{phases: plain}, side{by: 1, phases: plain}, recordings.CauseNone, "", "", []string{"verdict nothing differs"}},
		"healed":                   {side{phases: plain}, side{by: 1, phases: steps(9, "dice")}, recordings.CauseNone, "", "", []string{"the draws of dice differ at tick 9, but the states agree at tick 9"}},
		"notes of another form":    {side{phases: at(6, "move=0000000000000006", "fly\x1b=0000000000000001", "trade=0000000000000001")}, side{by: 1, wrong: 6, phases: at(6, "fly\x1b=0000000000000002", "move=0000000000000007")}, recordings.CauseStates, "6 move ", "", []string{"in phase move"}},
		"a note of another form":   {side{phases: traced{5: {"move=0000000000000005"}, 6: {"move", "move=0000000000000006"}}}, side{by: 1, wrong: 6, phases: traced{5: {"move=0000000000000005"}, 6: {"move=0000000000000007"}}}, recordings.CauseStates, "6 move ", "", nil},
		"a torn one":               {side{phases: plain}, side{by: 1, wrong: 6, torn: 7, phases: steps(6, "collide")}, recordings.CauseStates, "6 collide ", "", []string{"in phase collide"}},
		"with other commands":      {side{phases: plain}, side{by: 1, command: "Ag==", wrong: 5, phases: steps(5, "move")}, recordings.CauseCommands, "5 move ", "", []string{"phase move at tick 5"}},
	} {
		a, b := c.a.read(t, "a"), c.b.read(t, "b")
		d, err := recordings.Compare([]*recordings.Recording{a}, []*recordings.Recording{b}, recordings.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		shown := func(p *recordings.PhaseDifference) string {
			if p == nil {
				return ""
			}
			return fmt.Sprint(p.Tick, " ", p.Name, " ", p.Lone)
		}
		if d.Cause != c.cause || shown(d.Traces.Phase) != c.phase || shown(d.Traces.Draws) != c.draws {
			t.Errorf("%s: got %s, phase %q, draws %q", name, d.Cause, shown(d.Traces.Phase), shown(d.Traces.Draws))
		}
		var text, page bytes.Buffer
		if err := errors.Join(d.WriteText(&text), d.WriteHTML(&page)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range c.text {
			if !strings.Contains(strings.Join(strings.Fields(text.String()), " "), want) {
				t.Errorf("%s: got\n%s\nwant %s", name, &text, want)
			}
		}
		for _, line := range d.TraceLines() {
			if !strings.Contains(page.String(), line[1]) {
				t.Errorf("%s: the page does not say %q", name, line[1])
			}
		}
	}
}

// Control: recordings without phases say nothing of them.
func TestNoPhases(t *testing.T) {
	a, b := recorded{}.read(t, "a"), recorded{by: 1, wrong: 6}.read(t, "b")
	d, err := recordings.Compare([]*recordings.Recording{a}, []*recordings.Recording{b}, recordings.Options{})
	if err != nil || d.Traces != nil || d.TraceLines() != nil {
		t.Errorf("got %+v, %v", d.Traces, err)
	}
}

// A second run of a machine has the phases that its first one lacks, up to where it is another run.
func TestPhasesOfSecondRun(t *testing.T) {
	a, b := recorded{}.read(t, "a"), recorded{by: 1, wrong: 6}.read(t, "b")
	a2, b2 := recorded{phases: steps(0, "")}.read(t, "a2"), recorded{by: 1, wrong: 6, phases: steps(6, "trade")}.read(t, "b2")
	d, err := recordings.Compare([]*recordings.Recording{a, a2}, []*recordings.Recording{b, b2}, recordings.Options{})
	if err != nil || d.Traces.Phase == nil || d.Traces.Phase.Name != "trade" {
		t.Errorf("got %+v, %v", d.Traces, err)
	}
	other := recorded{by: 1, wrong: 6, shaky: 8, phases: steps(6, "trade"), command: "Ag=="}.read(t, "other")
	if d, err = recordings.Compare([]*recordings.Recording{a, a2}, []*recordings.Recording{b, other}, recordings.Options{}); err != nil || d.Traces.Phase != nil {
		t.Errorf("the run of other commands from tick 5 on counts: %+v, %v", d.Traces, err)
	}
}

// The notes of other players, and of the match, are not of the machine.
func TestPhasesOfOthers(t *testing.T) {
	a := recorded{by: -1, phases: steps(0, "")}.read(t, "a") // the notes are of player 0
	if a.Phases+a.Draws != 0 {
		t.Errorf("got %d phases and %d draws of a server", a.Phases, a.Draws)
	}
	if b := (recorded{phases: steps(0, "")}).read(t, "b"); b.Phases != 27 || b.Draws != 18 {
		t.Errorf("got %d phases and %d draws, want 27 and 18", b.Phases, b.Draws)
	}
}

// The case of a triage names the phase, so that two bugs that show first in one field are two.
func TestPhaseInFingerprint(t *testing.T) {
	var ids []string
	for _, name := range []string{"move", "trade", "trade", "dice", ""} {
		a, b := recorded{phases: steps(0, "")}.read(t, "a"), recorded{by: 1, wrong: 6, phases: steps(len(name)*6, name)}.read(t, "b")
		if name != "" {
			b = recorded{by: 1, wrong: 6, phases: steps(6, name)}.read(t, "b")
		}
		d, err := recordings.Compare([]*recordings.Recording{a}, []*recordings.Recording{b}, recordings.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c, _ := d.Case(time.Time{})
		want := map[string]string{"dice": "draws of dice"}[name]
		if want == "" {
			want = name
		}
		if c.Fingerprint.Phase != want || strings.Contains(c.Fingerprint.About(), "phase") != (want != "") {
			t.Errorf("%s: got %s", name, c.Fingerprint)
		}
		ids = append(ids, c.Fingerprint.ID)
	}
	if ids[1] != ids[2] || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 4 || !strings.HasPrefix(ids[0], ids[4]) {
		t.Errorf("got the fingerprints %v", ids)
	}
}

// A hostile recording has as many phases in a tick as it likes: they cost bounded work and memory.
func TestHostilePhases(t *testing.T) {
	many := at(6)
	for range 20_000 {
		many[6] = append(many[6], strings.Repeat("move=0000000000000001 ", 40)+"dice#1")
	}
	a, b := recorded{phases: many}.read(t, "a"), recorded{by: 1, wrong: 6, phases: many}.read(t, "b")
	begin := time.Now()
	d, err := recordings.Compare([]*recordings.Recording{a}, []*recordings.Recording{b}, recordings.Options{})
	if err != nil || d.Traces.Phase != nil || d.Traces.Ticks != 1 {
		t.Errorf("got %+v, %v", d.Traces, err)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	if line := d.TraceLines()[0][1]; line != "none: 64 phases are equal, all of tick 6 that both have" {
		t.Errorf("got %s", line)
	}
}

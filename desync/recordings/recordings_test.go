package recordings_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/recordings"
	"github.com/seed-49bee653/samestep/desync/triage"
	"github.com/seed-49bee653/samestep/internal/nullgame"
	"github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// recorded are the recordings of one machine: of ticks 0 to 9, with checksums of two sections and a command of tick 4.
type recorded struct {
	by      int           // the player; -1 for none
	wrong   int           // from this tick on X is one ulp more; 0 for never
	shaky   int           // the same, in other bits
	every   int           // checksums; 0 for one a tick
	states  []int         // ticks with states
	command string        // payload in base64, which may be empty
	torn    lockstep.Tick // only up to this tick; 0 for all
	untold  bool          // the checksums do not cover X
	extra   []string      // lines after the header
	typed   string        // of the states; "" for recordedType
	phases  traced        // notes of phases by tick
}

const recordedType = "struct { Tick uint32; X float32 }"

// replay returns the recording as import writes it.
func (m recorded) replay() []byte {
	g, err := nullgame.Of([]lockstep.Kind{12})
	if err != nil {
		panic(err)
	}
	settings := lockstep.DefaultSettings(2)
	settings.CheckEvery, settings.KeyframeEvery = 1, 0
	h, err := g.NewHeader(lockstep.MatchID{9}, settings, &nullgame.Config{})
	if err != nil {
		panic(err)
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		panic(err)
	}
	h.Engine, h.Platform = replay.ForeignEngine, "plan9/mips"
	var file bytes.Buffer
	var enc record.Encoder
	w := replay.NewWriter(&file, replay.WriterOptions{})
	add := func(b []byte) {
		if err := w.Append(b); err != nil {
			panic(err)
		}
	}
	line := func(format string, args ...any) { add(enc.Foreign(fmt.Appendf(nil, format, args...))) }
	add(enc.Header(h))
	add(enc.Keyframe(0, sim.Hash(), nil, sim.AppendState(nil)))
	by := ""
	if m.by >= 0 {
		by = fmt.Sprintf(`,"by":%d`, m.by)
	}
	line(`{"log":1,"title":"x","tick_rate_hz":60,"players":2,"match":"m"%s,"sections":["Tick","X"],"state":%q}`, by, cmp.Or(m.typed, recordedType))
	for _, text := range m.extra {
		line("%s", text)
	}
	player := max(m.by, 0)
	for tick := range lockstep.Tick(10) {
		bits := math.Float32bits(1.5 * float32(tick))
		if m.wrong != 0 && int(tick) >= m.wrong {
			bits++
		}
		if m.shaky != 0 && int(tick) >= m.shaky {
			bits += 2
		}
		for _, text := range m.phases[int(tick)] {
			add(enc.Note(lockstep.Player(player), "phases", text))
		}
		if told := uint64(bits); int(tick)%max(m.every, 1) == 0 {
			if m.untold {
				told = 0
			}
			hash := uint64(tick)<<32 | told
			line(`{"t":%d,"p":%d,"sum":"%016x","sections":["%016x","%016x"]}`, tick, player, hash, tick, told)
			add(enc.Checksum(tick, hash))
		}
		if slices.Contains(m.states, int(tick)) {
			b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(tick)), bits)
			line(`{"t":%d,"p":%d,"state":"%s","more":true}`, tick, player, base64.StdEncoding.EncodeToString(b[:3]))
			line(`{"t":%d,"p":%d,"state":"%s"}`, tick, player, base64.StdEncoding.EncodeToString(b[3:]))
		}
		f := record.Frame{Tick: tick + 1}
		if m.torn > 0 && tick == m.torn { // its commands are missing
			add(enc.Frame(&f))
			break
		}
		if tick == 4 {
			data, err := base64.StdEncoding.DecodeString(m.command)
			if err != nil {
				panic(err)
			}
			payload, err := g.NewPayloads().EncodeAs(12, &nullgame.Opaque{Data: data})
			if err != nil {
				panic(err)
			}
			f.Commands = []lockstep.Command{{Tick: 5, Player: 1, Sequence: 1, Kind: 12, Payload: payload}}
		}
		add(enc.Frame(&f))
	}
	reason := "imported"
	if m.torn > 0 {
		reason = replay.ForeignTorn
	}
	add(enc.End(reason))
	if err := w.Close(); err != nil {
		panic(err)
	}
	return file.Bytes()
}

// read writes the lines of the recording as a replay, as import does, and reads it.
func (m recorded) read(t testing.TB, file string) *recordings.Recording {
	t.Helper()
	r, err := recordings.Read(dots.Open(t, m.replay()), file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// order is the line of a tick whose players did not stand by number.
func order(t int) string { return fmt.Sprintf(`{"t":%d,"order":"%016x"}`, t, t+1) }

func TestCompareRecordings(t *testing.T) {
	a, a2 := recorded{by: 0}, recorded{by: 0, states: []int{4, 5, 6}}
	b, b2 := recorded{by: 1, wrong: 6}, recorded{by: 1, wrong: 6, states: []int{4, 5, 6}}
	for name, c := range map[string]struct {
		a, b    []recorded
		cause   recordings.DivergenceCause
		tick    lockstep.Tick
		exact   bool
		section string
		field   string
		missing string
		text    string // in the text
	}{
		"equal":                     {[]recorded{a}, []recorded{{by: 1}}, recordings.CauseNone, 0, false, "", "", "", "nothing differs"},
		"few in common":             {[]recorded{a}, []recorded{{by: 1, every: 4}}, recordings.CauseNone, 0, false, "", "", "", "nothing differs up to tick 8, the last that both know"},
		"states are missing":        {[]recorded{a}, []recorded{b}, recordings.CauseStates, 6, true, "X", "", "5,6", "run both games again"},
		"a second run has them":     {[]recorded{a, a2}, []recorded{b, b2}, recordings.CauseStates, 6, true, "X", "X: 9 != 9.000001 (1 ulp)", "", "from the same commands"},
		"the second run alone":      {[]recorded{a2}, []recorded{b2}, recordings.CauseStates, 6, true, "X", "X: 9 != 9.000001 (1 ulp)", "", ""},
		"B lacks one":               {[]recorded{a2}, []recorded{{by: 1, wrong: 6, states: []int{5}}}, recordings.CauseStates, 6, true, "X", "", "6", "the state of tick 6; run the game of B again"},
		"each lacks another":        {[]recorded{{by: 0, states: []int{6}}}, []recorded{{by: 1, wrong: 6, states: []int{5}}}, recordings.CauseStates, 6, true, "X", "", "5,6", "the state of tick 5 of A, and the state of tick 6 of B"},
		"few checksums":             {[]recorded{{every: 4}}, []recorded{{by: 1, wrong: 6, every: 4}}, recordings.CauseStates, 8, false, "X", "", "4-8", "after tick 4, at tick 8 at the latest"},
		"few checksums, all states": {[]recorded{{every: 4, states: []int{5, 6, 7, 8}}}, []recorded{{by: 1, wrong: 6, every: 4, states: []int{5, 6, 7, 8}}}, recordings.CauseStates, 6, true, "X", "X: 9 != 9.000001 (1 ulp)", "", ""},
		"a later state":             {[]recorded{{states: []int{9}}}, []recorded{{by: 1, wrong: 6, states: []int{9}}}, recordings.CauseStates, 6, true, "X", "X: 13.5 != 13.500001 (1 ulp)", "5,6", "the next state that both have"},
		"from the beginning":        {[]recorded{a}, []recorded{{by: 1, wrong: -1}}, recordings.CauseStart, 0, true, "X", "", "0", "they begin with different states"},
		"other commands":            {[]recorded{a}, []recorded{{by: 1, command: "Ag==", wrong: 5}}, recordings.CauseCommands, 5, true, "X", "", "4,5", "different commands in tick 5"},
		"only other commands":       {[]recorded{a}, []recorded{{by: 1, command: "Ag=="}}, recordings.CauseNone, 0, false, "", "", "", "no state differs, though the commands of tick 5 do"},
		"commands that did nothing": {[]recorded{a}, []recorded{{by: 1, command: "Ag==", wrong: 6}}, recordings.CauseStates, 6, true, "X", "", "5,6", "the commands of tick 5 differ (t 4 in the recordings), but the states agree at tick 5"},
		"a stated gap":              {[]recorded{a}, []recorded{{by: 1, command: "Ag==", wrong: 5, extra: []string{`{"t":3,"gap":6}`}}}, recordings.CauseStates, 5, true, "X", "", "4,5", "B has nothing of ticks 3 to 6: look for what its state after that lacks"},
		"a later gap":               {[]recorded{a}, []recorded{{by: 1, command: "Ag==", wrong: 5, extra: []string{`{"t":6,"gap":7}`}}}, recordings.CauseCommands, 5, true, "X", "", "4,5", "different commands in tick 5"},
		"just before a gap":         {[]recorded{a}, []recorded{{by: 1, command: "Ag==", wrong: 5, extra: []string{`{"t":5,"gap":7}`}}}, recordings.CauseCommands, 5, true, "X", "", "4,5", "different commands in tick 5"},
		"another order":             {[]recorded{a}, []recorded{{by: 1, wrong: 5, extra: []string{order(4)}}}, recordings.CauseOrder, 5, true, "X", "", "4,5", "the same commands of tick 5 with the players in another order"},
		"the same order":            {[]recorded{{extra: []string{order(4)}}}, []recorded{{by: 1, wrong: 5, extra: []string{order(4)}}}, recordings.CauseStates, 5, true, "X", "", "4,5", "from the same commands"},
		"an order that did nothing": {[]recorded{a}, []recorded{{by: 1, wrong: 5, extra: []string{order(2), order(4)}}}, recordings.CauseStates, 5, true, "X", "", "4,5", "the order of the players in tick 3 differs (t 2 in the recordings), and the states do not, up to tick 4"},
		"the last commands":         {[]recorded{{every: 20}}, []recorded{{by: 1, command: "Ag==", every: 20}}, recordings.CauseCommands, 0, false, "", "", "", "and no state is known to differ"},
		"commands after the states": {[]recorded{a}, []recorded{{by: 1, command: "Ag==", wrong: 3}}, recordings.CauseStates, 3, true, "X", "", "2,3", ""},
		"A is shaky":                {[]recorded{a, {by: 0, shaky: 3}}, []recorded{b}, recordings.CauseRerun, 6, true, "X", "", "5,6", "A is not deterministic: a second run of the same commands differs"},
		"B is shaky, later":         {[]recorded{a}, []recorded{b, {by: 1, wrong: 6, shaky: 8}}, recordings.CauseStates, 6, true, "X", "", "5,6", "rerun"},
		"another run of A":          {[]recorded{a, {by: 0, command: "Ag==", states: []int{4, 5, 6}}}, []recorded{b2}, recordings.CauseStates, 6, true, "X", "", "5,6", "has other commands"},
		"states of a shaky run":     {[]recorded{a, {by: 0, shaky: 3, states: []int{5, 6}}}, []recorded{b2}, recordings.CauseRerun, 6, true, "X", "", "5,6", ""},
		"a torn one":                {[]recorded{a}, []recorded{{by: 1, wrong: 6, torn: 7}}, recordings.CauseStates, 6, true, "X", "", "5,6", "torn"},
		"a torn command":            {[]recorded{a}, []recorded{{by: 1, torn: 4}}, recordings.CauseNone, 0, false, "", "", "", "nothing differs up to tick 4, where B ends early"},
		"unknown commands":          {[]recorded{a}, []recorded{{by: 1, wrong: 6, extra: []string{`{"t":5,"gap":5}`}}}, recordings.CauseStates, 6, true, "X", "", "5,6", "so whether they were the same is unknown"},
		"checksums with less":       {[]recorded{{untold: true, states: []int{6}}}, []recorded{{by: 1, untold: true, wrong: 6, states: []int{6}}}, recordings.CauseStates, 6, true, "X", "X: 9 != 9.000001 (1 ulp)", "", "their checksums are equal: the checksums do not"},
	} {
		var sides [2][]*recordings.Recording
		for i, list := range [][]recorded{c.a, c.b} {
			for n, r := range list {
				sides[i] = append(sides[i], r.read(t, string("ab"[i])+string(rune('1'+n))))
			}
		}
		d, err := recordings.Compare(sides[0], sides[1], recordings.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		field, missing := "", ""
		if len(d.Fields.List) > 0 {
			field = d.Fields.List[0].String()
		}
		if d.Missing != nil {
			missing = d.Missing.Dump
		}
		if d.Cause != c.cause || d.Tick != c.tick || d.Exact != c.exact || strings.Join(d.Sections, " ") != c.section || field != c.field || missing != c.missing {
			t.Errorf("%s: got %s, tick %d, exact %t, %v, %q, missing %q", name, d.Cause, d.Tick, d.Exact, d.Sections, field, missing)
		}
		if err := d.Uncompared(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var text, page bytes.Buffer
		if err := errors.Join(d.WriteText(&text), d.WriteHTML(&page)); err != nil || !strings.Contains(strings.Join(strings.Fields(text.String()), " "), c.text) {
			t.Errorf("%s: %v, got\n%s\nwant %s", name, err, &text, c.text)
		}
		for line := range strings.Lines(text.String()) {
			if n := len([]rune(line)) - 1; n > 80 {
				t.Errorf("%s: a line of %d columns: %s", name, n, line)
			}
		}
	}
}

// The states of a tick that the caller asks for, before, at and after the first difference.
func TestCompareAskedTick(t *testing.T) {
	states := []int{0, 6, 8}
	a, b := recorded{states: states}.read(t, "a"), recorded{by: 1, wrong: 6, states: states}.read(t, "b")
	for tick, want := range map[lockstep.Tick]string{
		0: "state      tick 0: nothing differs\n",
		5: "missing    the state of tick 5; run both games again with\n           SAMESTEP_DUMP=5\n",
		6: "state      tick 6: 1 field differs in 1 place\n",
		8: "state      tick 8: 1 field differs in 1 place\n",
	} {
		d, err := recordings.Compare([]*recordings.Recording{a}, []*recordings.Recording{b}, recordings.Options{Tick: &tick})
		var text bytes.Buffer
		if err = errors.Join(err, d.WriteText(&text)); err != nil || !strings.Contains(text.String(), want) {
			t.Errorf("tick %d: %v, got\n%s\nwant %s", tick, err, &text, want)
		}
	}
}

func TestSidesOf(t *testing.T) {
	r := func(by int, file string) *recordings.Recording { return recorded{by: by}.read(t, file) }
	for _, c := range []struct {
		all  []*recordings.Recording
		want string
	}{
		{[]*recordings.Recording{r(0, "a"), r(1, "b"), r(1, "b2"), r(0, "a2"), r(1, "b3")}, "a a2|b b2 b3"},
		{[]*recordings.Recording{r(0, "a"), r(0, "b"), r(0, "a2"), r(0, "b2"), r(0, "a3")}, "a a2 a3|b b2"},
		{[]*recordings.Recording{r(-1, "a"), r(1, "b"), r(-1, "a2")}, "a a2|b"},
		{[]*recordings.Recording{r(-1, "a"), r(1, "b"), r(0, "c")}, "c has another player, build or platform than a and b"},
		{[]*recordings.Recording{r(0, "a")}, "got 1 recordings, want at least two"},
	} {
		a, b, err := recordings.SidesOf(c.all)
		names := func(all []*recordings.Recording) string {
			var list []string
			for _, r := range all {
				list = append(list, r.File)
			}
			return strings.Join(list, " ")
		}
		got := names(a) + "|" + names(b)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// A replay may hold any lines: reading them gives an error, or a recording that can be compared.
func TestHostileLines(t *testing.T) {
	honest := recorded{by: 0, states: []int{5, 6}}.read(t, "a")
	for _, line := range []string{
		`{`, `null`, `{"t":1,"end":true}`, `{"t":9,"p":1,"sum":"0000000000000001","sections":["1"]}`, `{"t":1,"p":1,"state":"AA=="}`,
		`{"t":1,"p":1,"state":"AAAAAAAAAAA="}`, `{"log":1,"tick_rate_hz":1,"players":2}`, `{"t":1,"p":1,"state":"AAAA","more":true}`,
	} {
		r, err := recordings.Read(dots.Open(t, recorded{by: 1, extra: []string{line}, states: []int{1}}.replay()), "b")
		if err != nil {
			continue
		}
		if _, err := recordings.Compare([]*recordings.Recording{honest}, []*recordings.Recording{r}, recordings.Options{}); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	_, file := dots.Short()
	if _, err := recordings.Read(dots.Open(t, file), "own"); !errors.Is(err, recordings.ErrNoRecording) {
		t.Errorf("a match of our own: got %v", err)
	}
	var log []record.Kind
	r := dots.Open(t, recorded{by: 1, states: []int{1}}.replay())
	if err := replay.Play(r, nil, func(rec *record.Record) error { log = append(log, rec.Kind); return nil }); err != nil || !slices.Contains(log, record.KindForeign) {
		t.Errorf("got %v, %v", log, err)
	}
}

// Any lines in a replay give an error or a recording, and any two recordings give a result that can be printed.
func FuzzRecording(f *testing.F) {
	f.Add(`{"t":3,"p":1,"sum":"0000000300000000","sections":["0000000000000003","0000000000000000"]}`, uint8(6))
	f.Add("{\"t\":3,\"p\":1,\"state\":\"AwAA\",\"more\":true}\n{\"t\":3,\"p\":1,\"state\":\"AAAAkEA=\"}", uint8(1))
	f.Add(`{"t":9,"p":1,"state":"AAAAAAAAAAA="}`, uint8(0))
	honest := recorded{by: 0, states: []int{1, 2, 3, 9}}.read(f, "a")
	f.Fuzz(func(t *testing.T, lines string, wrong uint8) {
		m := recorded{by: 1, wrong: int(wrong), states: []int{2, 3}, extra: strings.Split(lines, "\n")}
		r, err := recordings.Read(dots.Open(t, m.replay()), "b")
		if err != nil {
			return
		}
		d, err := recordings.Compare([]*recordings.Recording{honest}, []*recordings.Recording{r, r}, recordings.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := errors.Join(d.WriteText(&text), d.WriteHTML(&text)); err != nil || len(d.Reruns) > 0 {
			t.Fatalf("%v, %v", err, d.Reruns)
		}
		if d.Differs && d.Known && (d.Agreed >= d.Tick || d.Exact != (d.Agreed+1 == d.Tick)) {
			t.Fatalf("got %+v", d)
		}
	})
}

// Three machines have recorded a match of another engine. The first two agree.
func ExampleCompareMachines() {
	var all []*recordings.Recording
	for i, m := range []recorded{{by: 0}, {by: -1}, {by: 1, wrong: 6}} {
		all = append(all, readRecording(m, fmt.Sprintf("%d.jsonl", i)))
	}
	d, err := recordings.CompareMachines(all, recordings.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	found, differs := d.Case(time.Time{})
	fmt.Println(differs, found.Name, found.Fingerprint.About(), found.First)
	var left []desync.LeftOut = d.LeftOut
	fmt.Printf("%s: %s\n", left[0].Name, left[0].Why)
	t := &triage.Triage{}
	t.Add(found)
	t.Agree(1)
	fmt.Println(t.Summary())
	// Output:
	// true 0.jsonl 2.jsonl null, unknown, X {6 6}
	// 1.jsonl: of another machine, compared with 0.jsonl: nothing differs
	// 3 files: 1 desync with 1 fingerprint, 0 not explained; nothing differs in 1 file
}

// The pair that diverges first is found whatever machines there are, and its cause, class and ticks are those of the evidence.
func TestCompareMachines(t *testing.T) {
	states := []int{5, 6, 7, 8}
	for name, c := range map[string]struct {
		all   []recorded
		files string
		class desync.Class
		field string
		first desync.Span
	}{
		"nothing":              {[]recorded{{by: 0}, {by: 1}, {by: -1}}, "", "", "", desync.Span{}},
		"the last one":         {[]recorded{{by: 0}, {by: 1}, {by: -1, wrong: 6}}, "0 2", desync.ClassUnknown, "X", desync.Span{From: 6, To: 6}},
		"the earlier one":      {[]recorded{{by: 0}, {by: 1, wrong: 7}, {by: -1, wrong: 3}}, "0 2", desync.ClassUnknown, "X", desync.Span{From: 3, To: 3}},
		"the first one":        {[]recorded{{by: 0, wrong: 6}, {by: 1}, {by: -1}}, "0 1", desync.ClassUnknown, "X", desync.Span{From: 6, To: 6}},
		"few checksums":        {[]recorded{{by: 0, every: 4}, {by: 1, wrong: 6, every: 4}}, "0 1", desync.ClassUnknown, "X", desync.Span{From: 5, To: 8}},
		"with states":          {[]recorded{{by: 0, states: states}, {by: 1, wrong: 6, states: states}}, "0 1", desync.ClassUnknown, "X", desync.Span{From: 6, To: 6}},
		"one machine, one run": {[]recorded{{by: 0}, {by: 0, wrong: 6}}, "0 1", desync.ClassUnknown, "X", desync.Span{From: 6, To: 6}},
		"commands":             {[]recorded{{by: 0}, {by: 1, command: "Ag==", wrong: 5}}, "0 1", desync.ClassCommands, "X", desync.Span{From: 5, To: 5}},
		"only commands":        {[]recorded{{by: 0, every: 20}, {by: 1, command: "Ag==", every: 20}}, "0 1", desync.ClassCommands, "", desync.Span{From: 5, To: 5}},
		"beginning":            {[]recorded{{by: 0}, {by: 1, wrong: -1}}, "0 1", desync.ClassBeginning, "X", desync.Span{}},
		"two runs":             {[]recorded{{by: 0}, {by: 1}, {by: 0, shaky: 3}}, "0 1 2", desync.ClassUnstable, "X", desync.Span{From: 3, To: 3}},
	} {
		var all []*recordings.Recording
		for i, m := range c.all {
			all = append(all, m.read(t, fmt.Sprint(i)))
		}
		d, err := recordings.CompareMachines(all, recordings.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, differs := d.Case(time.Time{})
		where := got.Fingerprint.Field
		if where == "" {
			where = got.Fingerprint.Section
		}
		if differs != (c.files != "") || got.Name != c.files || got.Fingerprint.Class != c.class || where != c.field || got.First != c.first {
			t.Errorf("%s: got %v %+v, want %q, %s, %s, %v", name, differs, got, c.files, c.class, c.field, c.first)
		}
	}
	if _, err := recordings.CompareMachines(nil, recordings.Options{}); err == nil {
		t.Error("nothing was compared")
	}
}

// The same bug has the same fingerprint in another match, and other evidence another one.
func TestDivergenceFingerprint(t *testing.T) {
	of := func(a, b recorded) string {
		d, err := recordings.CompareMachines([]*recordings.Recording{a.read(t, "a"), b.read(t, "b")}, recordings.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c, _ := d.Case(time.Time{})
		return c.Fingerprint.ID
	}
	one := of(recorded{by: 0}, recorded{by: 1, wrong: 6})
	if other := of(recorded{by: -1}, recorded{by: 0, wrong: 8}); other != one {
		t.Errorf("got %s and %s of one bug", one, other)
	}
	if other := of(recorded{by: 0}, recorded{by: 1, wrong: 5, command: "Ag=="}); other == one {
		t.Errorf("got %s of commands and of states", one)
	}
}

// A single flipped bit of a state is called so, and neither a rounding, nor a bool, nor two bits.
func TestSingleFlippedBit(t *testing.T) {
	of := func(by int, x float32, n uint32, on byte) recorded {
		b := append(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)), n), on)
		return recorded{
			by: by, typed: "struct { X float32; N uint32; On bool }",
			extra: []string{fmt.Sprintf(`{"t":6,"p":%d,"state":"%s"}`, by, base64.StdEncoding.EncodeToString(b))},
		}
	}
	a := of(0, 9, 4000, 0)
	for name, c := range map[string]struct {
		b       recorded
		flipped bool
	}{
		"a bit of a number":        {of(1, 9, 4000^1<<20, 0), true},
		"its lowest bit":           {of(1, 9, 4001, 0), true},
		"a bit of a float":         {of(1, math.Float32frombits(math.Float32bits(9)^1<<30), 4000, 0), true},
		"a rounding":               {of(1, math.Nextafter32(9, 10), 4000, 0), false},
		"a bool":                   {of(1, 9, 4000, 1), false},
		"two bits":                 {of(1, 9, 4003, 0), false},
		"two bits of two fields":   {of(1, math.Float32frombits(math.Float32bits(9)^1<<30), 4001, 0), false},
		"a bit that carries along": {of(1, 9, 3999, 0), false},
	} {
		d, err := recordings.Compare([]*recordings.Recording{a.read(t, "a")}, []*recordings.Recording{c.b.read(t, "b")}, recordings.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := d.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(text.String(), "in 1 place: a single flipped bit"); d.Flipped != c.flipped || said != c.flipped {
			t.Errorf("%s: got %v, want %v:\n%s", name, d.Flipped, c.flipped, &text)
		}
	}
}

// So is one of a command, which a machine has received otherwise.
func TestSingleFlippedBitOfCommand(t *testing.T) {
	for command, want := range map[string]bool{"Aw==": true, "Ag==": false, "AQE=": false} { // the other machine has 01
		a, b := recorded{by: 0, command: "AQ=="}, recorded{by: 1, command: command, wrong: 5}
		d, err := recordings.Compare([]*recordings.Recording{a.read(t, "a")}, []*recordings.Recording{b.read(t, "b")}, recordings.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(d.Notes, "\n"), "the commands of tick 5 differ in a single flipped bit"); got != want || d.Cause != recordings.CauseCommands {
			t.Errorf("%s: got %v, %s, want %v", command, d.Notes, d.Cause, want)
		}
	}
}

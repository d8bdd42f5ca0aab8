//go:build !js

package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// said runs a verb, and returns its exit code and all that it prints, with a space between the words.
func said(t *testing.T, args ...string) (code int, text string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = tooltest.Run(t.Context(), append([]string{"samestep"}, args...), &out, &errs)
	return code, strings.Join(strings.Fields(out.String()+errs.String()), " ")
}

// Situations that people of the trade reported in public, built anew by hand.
func TestRecordingsFromTheField(t *testing.T) {
	t.Parallel()
	file := func(name string) string { return filepath.Join("testdata", "field", name) }
	for name, c := range map[string]struct {
		args  []string
		code  int
		says  []string
		never []string
	}{
		"a player who rejoined": {
			[]string{"replay", "bisect", file("late0.jsonl"), file("late1.jsonl")}, console.ExitDesync,
			[]string{"100 ticks from tick 100 on", "commands the same from tick 101 on up to tick 200", "diverged at tick 130", "SAMESTEP_DUMP=100,129,130", "B begins at tick 100: look for what its first state lacks"},
			[]string{"different commands"},
		},
		"a gap": {
			[]string{"replay", "bisect", file("gap0.jsonl"), file("gap1.jsonl")}, console.ExitDesync,
			[]string{"nothing of ticks 50 to 99", "commands the same up to tick 200, where both have them", "diverged at tick 130", "SAMESTEP_DUMP=100,129,130", "B has nothing of ticks 50 to 99"},
			[]string{"different commands"},
		},
		"both, in triage": {
			[]string{"desync", "triage", file("late0.jsonl"), file("late1.jsonl")}, console.ExitDesync,
			[]string{"1 desync: G, unknown"}, []string{"the commands differ"},
		},
		"two groups": {
			[]string{"replay", "verify", file("specs.jsonl")}, console.ExitDesync,
			[]string{"groups 00000000000005dd players 2, 3 and 4 00000000000005dc players 0 and 1", "first at tick 150: players 0 and 1 differ from the majority, players 2, 3 and 4: 3 of 5"}, nil,
		},
		"later ties": {
			[]string{"replay", "verify", file("tie.jsonl")}, console.ExitDesync,
			[]string{"players 0 (ann) and 2 (cat)", "first at tick 50: player 1 (bob) differs from the majority, players 0 (ann) and 2 (cat): 2 of 3"}, []string{"no verdict"},
		},
		"one file with the checksums of all": {
			[]string{"desync", "triage", file("specs.jsonl")}, console.ExitDesync,
			[]string{"1 desync: G, unknown", "00000000000005dc players 0 and 1", "next: samestep replay verify", "in all 1 file", "0 not explained"}, []string{"no other recording"},
		},
		"a byte order mark": {[]string{"replay", "verify", file("bom.jsonl")}, console.ExitError, []string{"compared 0 checks", "alone 100 checks", "nothing to compare"}, nil}, // of one player
	} {
		code, text := said(t, c.args...)
		if code != c.code {
			t.Errorf("%s: got exit code %d, want %d", name, code, c.code)
		}
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: got %s\nwant %s", name, text, want)
			}
		}
		for _, wrong := range c.never {
			if strings.Contains(text, wrong) {
				t.Errorf("%s: got %s\nwhich has %s", name, text, wrong)
			}
		}
	}
}

// The groups have the same form for verify and triage.
func TestGroupsInJSON(t *testing.T) {
	t.Parallel()
	type group struct {
		Checksum string   `json:"checksum"`
		Players  []int    `json:"players"`
		Names    []string `json:"names"`
	}
	var verified struct {
		First    int     `json:"first"`
		Majority bool    `json:"majority"`
		Groups   []group `json:"groups"`
	}
	var triaged struct {
		Groups []struct {
			Who []group `json:"who"`
		} `json:"groups"`
	}
	for _, c := range []struct {
		args []string
		into any
	}{
		{[]string{"replay", "verify", "testdata/field/tie.jsonl", "--json"}, &verified},
		{[]string{"desync", "triage", "testdata/field/tie.jsonl", "--json"}, &triaged},
	} {
		var out, errs bytes.Buffer
		if code := tooltest.Run(t.Context(), append([]string{"samestep"}, c.args...), &out, &errs); code != console.ExitDesync {
			t.Fatalf("%v: exit code %d: %s", c.args, code, &errs)
		}
		if err := json.Unmarshal(out.Bytes(), c.into); err != nil {
			t.Fatal(err)
		}
	}
	want := "[{0000000000000033 [0 2] [ann cat]} {0000000000000038 [1] [bob]}]"
	if got := fmt.Sprint(verified.Groups); got != want || verified.First != 50 || !verified.Majority {
		t.Errorf("got %s, %+v, want %s", got, verified, want)
	}
	if len(triaged.Groups) != 1 || fmt.Sprint(triaged.Groups[0].Who) != want {
		t.Errorf("got %+v, want %s", triaged, want)
	}
}

// linesOf writes lines below a header of two players, and returns the name of the file.
func linesOf(t *testing.T, header string, lines ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "in.jsonl")
	text := `{"log":1,"title":"x","tick_rate_hz":60,"players":2` + header + "}\n" + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Before the first tick, a match of another engine has as many commands as its lines, also in a replay.
func TestLobbyBurst(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 14_248 { // of a public demo
		lines = append(lines, fmt.Sprintf(`{"t":0,"p":%d,"s":%d,"k":50,"d":"AQ=="}`, i%2, i+1))
	}
	out := importedAgain(t, readText(t, linesOf(t, "", append(lines, `{"t":30,"end":true}`)...)))
	if got := strings.Count(out, `"k":50`); got != len(lines) {
		t.Errorf("got %d commands, want %d", got, len(lines))
	}
	name := linesOf(t, "", append([]string{strings.Join(lines[:8193], "\n")}, `{"t":30,"end":true}`)...)
	text := strings.ReplaceAll(readText(t, name), `"t":0`, `"t":1`)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, said := said(t, "replay", "verify", name); code != console.ExitCorrupt || !strings.Contains(said, "line 8194: malformed match: tick 1: got 8193 commands") {
		t.Errorf("a later tick: got exit code %d, %s", code, said)
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Errors that are found after a line was read name it, too.
func TestLateErrorsNameTheLine(t *testing.T) {
	t.Parallel()
	const end = `{"t":9,"end":true}`
	for want, lines := range map[string][]string{
		"line 4: malformed match: tick 3: player 0: got two checksums": {`{"t":3,"p":0,"sum":"0000000000000001"}`, `{"t":3,"p":1,"sum":"0000000000000001"}`, `{"t":3,"p":0,"sum":"0000000000000002"}`, end},
		"line 3: malformed match: tick 2: player 1: got sequence 1":    {`{"t":1,"p":1,"s":1,"k":1,"d":""}`, `{"t":2,"p":1,"s":1,"k":1,"d":""}`, end},
	} {
		code, text := said(t, "replay", "verify", linesOf(t, "", lines...))
		if code != console.ExitCorrupt || !strings.Contains(text, want) {
			t.Errorf("got exit code %d, %s\nwant %s", code, text, want)
		}
	}
}

// A check that has found nothing to compare fails, and a sentence about two recordings says of the commands what both have.
func TestPartsOfRecordings(t *testing.T) {
	t.Parallel()
	// part records ticks from one on to below another, with other sums from tick wrong on, a command in each tick that ran names, and more lines.
	part := func(by, from, to, wrong int, ran func(int) bool, more ...string) string {
		var lines []string
		for i := from; i < to; i++ {
			sum := i
			if i >= wrong {
				sum += 1000 + by
			}
			lines = append(lines, fmt.Sprintf(`{"t":%d,"p":%d,"sum":"%016x"}`, i, by, sum))
			if ran(i) {
				lines = append(lines, fmt.Sprintf(`{"t":%d,"p":0,"s":%d,"k":1,"d":""}`, i, i+1))
			}
		}
		if len(more) == 0 {
			more = []string{fmt.Sprintf(`{"t":%d,"end":true}`, to-1)}
		}
		return linesOf(t, fmt.Sprintf(`,"match":"m","by":%d`, by), append(lines, more...)...)
	}
	every, none := func(int) bool { return true }, func(int) bool { return false }
	but := func(t int) func(int) bool { return func(i int) bool { return i != t } }
	const never = 1 << 20
	const other, after = `{"t":29,"p":0,"s":30,"k":1,"d":"Ag=="}`, `{"t":36,"p":1,"sum":"0000000000000999"}`
	whole := part(0, 0, 60, never, every)
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no tick in common":       {[]string{whole, part(1, 100, 160, never, every)}, console.ExitError, "nothing to compare: A has ticks 0 to 59, and B has ticks 100 to 159"},
		"equal":                   {[]string{whole, part(1, 20, 60, never, every)}, console.ExitOK, "verdict nothing differs"},
		"parted before it begins": {[]string{whole, part(1, 20, 60, 0, every)}, console.ExitDesync, "differs at tick 20, the first that both know, player 0 | player 1 verdict the states differ at tick 20, the first that both know; B begins"},
		"the same since":          {[]string{whole, part(1, 20, 60, 40, every)}, console.ExitDesync, "verdict the states agree at tick 39 and differ at tick 40, from the same commands;"},
		"other ones before":       {[]string{whole, part(1, 0, 60, 40, but(10))}, console.ExitDesync, "commands the same from tick 40 on up to tick 60"},
		"a gap":                   {[]string{whole, part(1, 0, 30, never, every, `{"t":30,"gap":35}`, `{"t":36,"p":1,"sum":"0000000000000999"}`, `{"t":40,"end":true}`)}, console.ExitDesync, "the states agree at tick 29 and differ at tick 36; B does not have the commands of ticks 31 to 36, so whether they were the same is unknown"},
		"another before a gap":    {[]string{whole, part(1, 0, 30, never, but(29), other, `{"t":30,"gap":35}`, after, `{"t":40,"end":true}`)}, console.ExitDesync, "the machines ran different commands in tick 30"},
		"before an inferred one":  {[]string{whole, part(1, 0, 30, never, but(29), other, after, `{"t":40,"end":true}`)}, console.ExitDesync, "the machines ran different commands in tick 30"},
		"none before a gap":       {[]string{whole, part(1, 0, 30, never, but(29), `{"t":30,"gap":35}`, after, `{"t":40,"end":true}`)}, console.ExitDesync, "the machines ran different commands in tick 30"},
		"maybe away before":       {[]string{whole, part(1, 0, 30, never, but(29), after, `{"t":40,"end":true}`)}, console.ExitDesync, "; B does not have the commands of ticks 30 to 36, so whether they were the same is unknown"},
		"a shorter one":           {[]string{whole, part(1, 0, 30, never, every)}, console.ExitOK, "verdict nothing differs up to tick 29, the last that both know"},
		"one in common":           {[]string{whole, linesOf(t, `,"match":"m","by":1`, `{"t":7,"p":1,"sum":"0000000000000007"}`, `{"t":59,"end":true}`)}, console.ExitOK, "verdict nothing differs up to tick 7, the last that both know"},
		"a named build":           {[]string{whole, linesOf(t, `,"match":"m","by":1,"build":"2","platform":"ps5"`, `{"t":7,"p":1,"sum":"0000000000000008"}`, `{"t":59,"end":true}`)}, console.ExitDesync, "B has no commands, so whether they were the same is unknown missing"},
		"B has none":              {[]string{whole, part(1, 0, 60, 40, none)}, console.ExitDesync, "; B has no commands, so whether they were the same is unknown"},
		"no commands at all":      {[]string{part(0, 0, 60, never, none), part(1, 0, 60, 40, none)}, console.ExitDesync, "; no commands were recorded"},
	} {
		if code, text := said(t, append([]string{"replay", "bisect"}, c.args...)...); code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%s: got exit code %d, %s\nwant %s", name, code, text, c.want)
		}
	}
	late := part(1, 100, 160, never, every)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"verify of one player": {[]string{"replay", "verify", whole}, "verdict unknown: nothing to compare: no check was reported by two players"},
		"its JSON":             {[]string{"replay", "verify", "--json", whole}, `"class": "failed"`},
		"bisect's JSON":        {[]string{"replay", "bisect", "--json", whole, late}, `"same": false`},
		"triage":               {[]string{"desync", "triage", whole, late}, "2 not explained"},
	} {
		if code, text := said(t, c.args...); code != console.ExitError || !strings.Contains(text, c.want) {
			t.Errorf("%s: got exit code %d, %s\nwant %s", name, code, text, c.want)
		}
	}
}

// What only one player reported was not compared.
func TestComparedChecks(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 8 {
		lines = append(lines, fmt.Sprintf(`{"t":%d,"p":0,"sum":"%016x"}`, i, i))
		if i < 3 {
			lines = append(lines, fmt.Sprintf(`{"t":%d,"p":1,"sum":"%016x"}`, i, i))
		}
	}
	name := linesOf(t, "", append(lines, `{"t":8,"end":true}`)...)
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{name}, []string{"compared 3 checks that", "alone 5 checks", "verdict the players agree where two or more reported"}},
		{[]string{name, name}, []string{"3 checks that players reported compared, 5 not"}},
		{[]string{"--json", name}, []string{`"checks": 3, "alone": 5,`}},
	} {
		code, text := said(t, append([]string{"replay", "verify"}, c.args...)...)
		for _, want := range c.want {
			if code != console.ExitOK || !strings.Contains(text, want) {
				t.Errorf("got exit code %d, %s\nwant %s", code, text, want)
			}
		}
	}
}

// Triage says which recordings no group shows and why, and two desyncs of which nothing is known are not one bug.
func TestTriageLeavesOut(t *testing.T) {
	t.Parallel()
	file := func(name string) string { return "testdata/field/" + name }
	code, text := said(t, "desync", "triage", file("gap0.jsonl"), file("gap1.jsonl"), file("late0.jsonl"), file("late1.jsonl"))
	if code != console.ExitDesync || !strings.Contains(text, "left out "+file("late0.jsonl")+": of another machine, compared with "+file("gap0.jsonl")+": nothing differs") ||
		!strings.Contains(text, file("late1.jsonl")+": of another machine, compared with "+file("gap0.jsonl")+": the states agree at tick 129 and differ at tick 130") {
		t.Errorf("got exit code %d, %s", code, text)
	}
	more := filepath.Join(t.TempDir(), "more.jsonl")
	if err := os.WriteFile(more, []byte(readText(t, file("late1.jsonl"))), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, text = said(t, "desync", "triage", file("late0.jsonl"), file("late1.jsonl"), more); !strings.Contains(text, more+": a further recording of the machine of "+file("late1.jsonl")) {
		t.Errorf("got %s", text)
	}
	dir := t.TempDir()
	for name, from := range map[string]string{"specs.jsonl": file("specs.jsonl"), "match.ssr": "../../../examples/minimal/testdata/golden/minimal-1.ssr"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(readText(t, from)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, text = said(t, "desync", "triage", dir)
	if code != console.ExitDesync || !strings.Contains(text, "in all 2 files") || !strings.Contains(text, "1 desync in 2 files") || strings.Contains(text, "in 2 files, explained") {
		t.Errorf("with a replay that is left out: got exit code %d, %s", code, text)
	}
	code, text = said(t, "desync", "triage", file("specs.jsonl"), file("tie.jsonl"))
	if code != console.ExitDesync || strings.Count(text, "1 desync: G, unknown, no field known") != 2 || !strings.Contains(text, "2 desyncs with 0 fingerprints and 2 without one") {
		t.Errorf("got exit code %d, %s", code, text)
	}
}

// Sums of 128 bits, a stated gap and the order of the players stay in a replay, and ticks of a world cost what its own ticks cost.
func TestImportKeeps(t *testing.T) {
	t.Parallel()
	const long = "00112233445566778899aabbccddeeff"
	var lines []string
	for i := range 50 {
		lines = append(lines, fmt.Sprintf(`{"t":%d,"p":0,"sum":"%032x"}`, 2_000_000_000+i, i))
	}
	lines = append(lines, `{"t":2000000050,"gap":2000000999}`, `{"t":2000001000,"p":1,"s":1,"k":1,"d":""}`, `{"t":2000001000,"p":0,"s":1,"k":1,"d":""}`,
		`{"t":2000001000,"p":0,"sum":"`+long+`"}`, `{"t":2000001000,"p":1,"sum":"10112233445566778899aabbccddeeff"}`,
		`{"t":2000001001,"p":0,"sum":"20112233445566778899aabbccddeeff"}`, `{"t":2000001001,"end":true}`) // a line of a later check, too
	name := linesOf(t, `,"match":"m","by":0`, lines...)
	out := importedAgain(t, readText(t, name))
	for _, want := range []string{`"sum":"` + long + `"`, `{"t":2000000050,"gap":2000000999}`, `{"t":2000001000,"order":"`, `{"t":2000001001,"end":true}`} {
		if !strings.Contains(out, want) {
			t.Errorf("the exported match lacks %s", want)
		}
	}
	code, text := said(t, "replay", "verify", name)
	if code != console.ExitDesync || !strings.Contains(text, "groups "+long+" player 0 10112233445566778899aabbccddeeff player 1") || !strings.Contains(text, "no majority") {
		t.Errorf("got exit code %d, %s", code, text)
	}
}

// Recordings of one match whose players stand in another order in a tick have equal commands, but not the same order.
func TestOrderOfPlayers(t *testing.T) {
	t.Parallel()
	record := func(by, wrong int, swapped ...int) string {
		var lines []string
		for i := range 20 {
			sum := i
			if wrong >= 0 && i >= wrong {
				sum += 100
			}
			lines = append(lines, fmt.Sprintf(`{"t":%d,"p":%d,"sum":"%016x"}`, i, by, sum))
			first := 0
			for _, at := range swapped {
				if i == at {
					first = 1
				}
			}
			for _, p := range []int{first, 1 - first} {
				lines = append(lines, fmt.Sprintf(`{"t":%d,"p":%d,"s":%d,"k":1,"d":""}`, i, p, i+1))
			}
		}
		return linesOf(t, fmt.Sprintf(`,"match":"m","by":%d`, by), append(lines, `{"t":20,"end":true}`)...)
	}
	for name, c := range map[string]struct {
		a, b string
		code int
		want string
	}{
		"the cause":             {record(0, -1), record(1, 10, 9), console.ExitDesync, "verdict the machines ran the same commands of tick 10 with the players in another order"},
		"without an effect":     {record(0, -1), record(1, -1, 9), console.ExitOK, "the order of the players in tick 10 differs (t 9 in the recordings), and the states do not, up to tick 19"},
		"it did nothing before": {record(0, -1), record(1, 10, 5, 9), console.ExitDesync, "from the same commands"},
		"after the states":      {record(0, -1), record(1, 10, 15), console.ExitDesync, "from the same commands"},
		"the same order":        {record(0, -1, 9), record(1, 10, 9), console.ExitDesync, "from the same commands"},
	} {
		if code, text := said(t, "replay", "bisect", c.a, c.b); code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%s: got exit code %d, %s\nwant %s", name, code, text, c.want)
		}
	}
}

package recorder_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/recorder"
)

// A script is a recording as text: a call on each line, its texts and payloads as x and hexadecimal digits, or *N for N
// letters a. Programs in testdata make the same calls in other languages.
//
//	header TITLE RATE PLAYERS BY MATCH BUILD PLATFORM STATE [SECTION…]
//	command TICK PLAYER KIND PAYLOAD
//	sum TICK PLAYER SUM [SUM…]
//	note TICK PLAYER TOPIC TEXT
//	phase TICK NAME SUM            draws TICK STREAM COUNT
//	state TICK PLAYER BYTES        values TICK: the state everyValue of player 0
//	end TICK                       flush TICKS   want TICKS   wanted TICK
//	kill                           the program ends at once

// everyValue is the state of the call values.
type everyValue struct {
	Bool bool
	I8   int8
	I16  int16
	I32  int32
	I64  int64
	U8   uint8
	U16  uint16
	U32  uint32
	U64  uint64
	F32  float32
	F64  float64
	Text string
	List []uint8
}

var everySchema, _ = recorder.SchemaOf(everyValue{})

var everyValues = everyValue{true, -2, -300, -70000, -5000000000, 250, 65000, 4000000000, 18000000000000000000, -0.1, 1e300, "hé", []uint8{1, 2}}

// play makes the calls of a script. It returns the recording, and what the other programs print: the answers of
// wanted, and the error.
func play(t testing.TB, script string) (recording []byte, output string) {
	t.Helper()
	var file, out bytes.Buffer
	var r *recorder.Recorder
	for line := range strings.Lines(script) {
		w := strings.Fields(line)
		tick, player := uint32(0), 0
		if len(w) > 1 && w[0] != "header" && w[0] != "want" {
			tick = uint32(number(t, w[1]))
			if len(w) > 2 && w[0] != "phase" && w[0] != "draws" {
				player = number(t, w[2])
			}
		}
		switch w[0] {
		case "header":
			rate, err := strconv.ParseFloat(w[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			h := recorder.Header{
				Title: text(w[1]), TickRate: rate, Players: number(t, w[3]), By: number(t, w[4]),
				Match: text(w[5]), Build: text(w[6]), Platform: text(w[7]), State: text(w[8]),
			}
			for _, s := range w[9:] {
				h.Sections = append(h.Sections, text(s))
			}
			r = recorder.New(&file, h)
		case "flush":
			r.FlushEvery(tick)
		case "want":
			r.Want(w[1])
		case "wanted":
			if r.Wanted(tick) {
				out.WriteString("1\n")
			} else {
				out.WriteString("0\n")
			}
		case "command":
			r.Command(tick, uint8(player), uint16(number(t, w[3])), []byte(text(w[4])))
		case "sum":
			var sums []uint64
			for _, s := range w[3:] {
				sum, err := strconv.ParseUint(s, 16, 64)
				if err != nil {
					t.Fatal(err)
				}
				sums = append(sums, sum)
			}
			r.Sum(tick, uint8(player), sums[0], sums[1:]...)
		case "note":
			r.Note(tick, player, text(w[3]), text(w[4]))
		case "phase", "draws":
			base := map[string]int{"phase": 16, "draws": 10}[w[0]]
			n, err := strconv.ParseUint(w[3], base, 64)
			if err != nil {
				t.Fatal(err)
			}
			if w[0] == "phase" {
				r.Phase(tick, text(w[2]), n)
			} else {
				r.Draws(tick, text(w[2]), n)
			}
		case "state":
			r.State(tick, uint8(player), []byte(text(w[3])))
		case "values":
			r.State(tick, 0, everySchema.Append(nil, &everyValues))
		case "end":
			r.End(tick)
		case "kill":
			return file.Bytes(), out.String()
		default:
			t.Fatalf("no call %q", w[0])
		}
	}
	if err := r.Close(); err != nil {
		fmt.Fprintln(&out, err)
	}
	return file.Bytes(), out.String()
}

func number(t testing.TB, word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func text(word string) string {
	if size, ok := strings.CutPrefix(word, "*"); ok {
		n, _ := strconv.Atoi(size)
		return strings.Repeat("a", n)
	}
	b, _ := hex.DecodeString(word[1:])
	return string(b)
}

// word is the opposite of text.
func word(text string) string { return "x" + hex.EncodeToString([]byte(text)) }

// header is a header with everything.
func header(players int) string {
	return fmt.Sprintf("header %s 59.94 %d 0 %s %s %s %s %s %s\n", word("Pöng \"2\"\\\n"), players, word("lobby 7"), word("v1.2"), word("linux/amd64"), word(everySchema.String()), word("Ball"), word("Paddles"))
}

// randomScript returns a script of a whole match, with calls of all kinds in a random order.
func randomScript(random *rand.Rand) string {
	var b strings.Builder
	players := 1 + random.IntN(4)
	b.WriteString(header(players))
	fmt.Fprintf(&b, "flush %d\nwant 3,5-9\n", random.IntN(4))
	tick := 0
	for range 20 + random.IntN(60) {
		for p := range players {
			for range random.IntN(3) {
				payload := make([]byte, random.IntN(40))
				for i := range payload {
					payload[i] = byte(random.Uint32())
				}
				fmt.Fprintf(&b, "command %d %d %d %s\n", tick, p, random.IntN(3)*random.IntN(30000), word(string(payload)))
			}
		}
		if random.IntN(8) == 0 {
			fmt.Fprintf(&b, "note %d %d %s %s\n", tick, random.IntN(players+1)-1, word("com.example.x\x7f"), word("tab\t\"q\" \\ \x01 ✓ 𝄞"))
		}
		tick += 1 + random.IntN(3)*random.IntN(50)
		for range random.IntN(3) * random.IntN(3) * random.IntN(8) {
			name := word(strings.Repeat("m", random.IntN(60)) + "Z9._/:-"[random.IntN(7):])
			if random.IntN(2) == 0 {
				fmt.Fprintf(&b, "phase %d %s %x\n", tick, name, random.Uint64()>>random.IntN(64))
			} else {
				fmt.Fprintf(&b, "draws %d %s %d\n", tick, name, random.Uint64()>>random.IntN(64))
			}
		}
		for p := range players {
			fmt.Fprintf(&b, "sum %d %d %x", tick, p, random.Uint64()>>random.IntN(64))
			if random.IntN(4) != 0 {
				fmt.Fprintf(&b, " %x %x", random.Uint64(), 0)
			}
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "wanted %d\n", tick)
		switch random.IntN(10) {
		case 0:
			fmt.Fprintf(&b, "values %d\n", tick)
		case 1:
			sizes := []int{51, 52, 12287, 12288, 12289, 24576, 30000} // 51 is that of an empty value
			v := everyValue{Text: strings.Repeat("a", sizes[random.IntN(len(sizes))]-51)}
			fmt.Fprintf(&b, "state %d 0 %s\n", tick, word(string(everySchema.Append(nil, &v))))
		}
	}
	if random.IntN(4) != 0 {
		fmt.Fprintf(&b, "end %d\n", tick)
	}
	return b.String()
}

// A refusal is a script whose last call is an error, with its text.
type refusal struct{ name, script, want string }

// long reports whether only .ci/run has the time for the script.
func (r *refusal) long(t *testing.T) bool {
	return len(r.script) > 1<<20 && testenv.Small(t)
}

var refusals = []refusal{
	{"title", "header x 60 2 0 x x x x\n", "header: got a title of 0 bytes, want 1 to 128 bytes of UTF-8"},
	{"long title", "header *129 60 2 0 x x x x\n", "header: got a title of 129 bytes, want 1 to 128 bytes of UTF-8"},
	{"text that is not UTF-8", "header xeda080 60 2 0 x x x x\n", "header: got a title of 3 bytes, want 1 to 128 bytes of UTF-8"},
	{"long match", "header x61 60 2 0 *129 x x x\n", "header: got a match of 129 bytes, want 0 to 128 bytes of UTF-8"},
	{"long schema", "header x61 60 2 0 x x x *65537\n", "header: got a schema of 65537 bytes, want 0 to 65536 bytes of UTF-8"},
	{"tick rate", "header x61 0 2 0 x x x x\n", "header: want a tick rate above 0, at most 1000"},
	{"small tick rate", "header x61 1e-7 2 0 x x x x\n", "header: want a tick rate above 0, at most 1000"},
	{"large tick rate", "header x61 1000.5 2 0 x x x x\n", "header: want a tick rate above 0, at most 1000"},
	{"no number", "header x61 NaN 2 0 x x x x\n", "header: want a tick rate above 0, at most 1000"},
	{"players", "header x61 60 251 0 x x x x\n", "header: got 251 players, want 1 to 250"},
	{"by", "header x61 60 2 2 x x x x\n", "header: got 2 as the player that records, want 0 to 1, or -1 for none"},
	{"sections", "header x61 60 2 0 x x x x" + numbered(65) + "\n", "header: got 65 sections, want at most 64"},
	{"equal sections", "header x61 60 2 0 x x x x x61 x62 x61\n", "header: sections 0 and 2 have the same name"},
	{"large tick", header(2) + "sum 2147483648 0 1\n", "sum at tick 2147483648: want at most tick 2147483647"},
	{"order", header(2) + "sum 9 0 1\ncommand 8 1 1 x\n", "command at tick 8: want at least tick 9"},
	{"note before", header(2) + "command 9 0 1 x\nnote 8 1 x61 x\n", "note at tick 8: want at least tick 9"},
	{"player", header(2) + "command 9 2 1 x\n", "command at tick 9: got player 2, want 0 to 1"},
	{"player of a sum", header(2) + "sum 9 2 1\n", "sum at tick 9: got player 2, want 0 to 1"},
	{"player of a note", header(2) + "note 9 2 x61 x\n", "note at tick 9: got player 2, want 0 to 1"},
	{"player of a state", header(2) + "state 9 2 x\n", "state at tick 9: got player 2, want 0 to 1"},
	{"payload", header(2) + "command 9 0 1 *16381\n", "command at tick 9: got a payload of 16381 bytes, want at most 16380"},
	{"commands", header(2) + strings.Repeat("command 9 0 1 x\n", 8193), "command at tick 9: want at most 8192 commands in a tick"},
	{"payloads", header(2) + strings.Repeat("command 9 0 1 *16380\n", 257), "command at tick 9: want at most 4194304 bytes of payloads in a tick"},
	{"kinds", header(2) + kinds(4097), "command at tick 4096: want at most 4096 kinds"},
	{"second sum", header(2) + "sum 9 0 1\nsum 9 1 1\nsum 9 0 1\n", "sum at tick 9: want at least tick 10"},
	{"sections of a sum", header(2) + "sum 9 0 1 2\n", "sum at tick 9: got 1 sections, want 2"},
	{"sums of sections", "header x61 60 2 0 x x x x" + numbered(64) + "\n" + manySums(5<<13+1), "sum at tick 40960: want at most 2621440 sums of sections"},
	{"topic", header(2) + "note 9 0 x x\n", "note at tick 9: got a topic of 0 bytes, want 1 to 128 bytes of UTF-8"},
	{"text", header(2) + "note 9 0 x61 *1025\n", "note at tick 9: got a text of 1025 bytes, want 0 to 1024 bytes of UTF-8"},
	{"a phase before", header(2) + "sum 9 0 1\nphase 8 x61 1\n", "phase at tick 8: want at least tick 9"},
	{"a phase before a phase", header(2) + "phase 9 x61 1\nphase 8 x61 1\n", "phase at tick 8: want at least tick 9"},
	{"a command before a phase", header(2) + "phase 9 x61 1\ncommand 8 0 1 x\n", "command at tick 8: want at least tick 9"},
	{"a phase after the end", header(2) + "end 9\nphase 9 x61 1\n", "phase at tick 9: after the end"},
	{"a phase of a large tick", header(2) + "phase 2147483648 x61 1\n", "phase at tick 2147483648: want at most tick 2147483647"},
	{"state without schema", "header x61 60 2 0 x x x x\nstate 9 0 x\n", "state at tick 9: the header has no schema"},
	{"second state", header(2) + "values 9\nvalues 9\n", "state at tick 9: want at least tick 10"},
	{"states", typed("struct { X uint32 }") + manyStates(1<<16+1), "state at tick 65536: want at most 65536 states"},
	{"short state", typed("struct { X, Y uint16 }") + "state 9 0 x000000\n", "state at tick 9: got 3 bytes, want 4"},
	{"empty state", typed("struct { X, Y uint16 }") + "state 9 0 x\n", "state at tick 9: got 0 bytes, want 4"},
	{"long state", typed("struct { X [2]struct { Y, Z byte } }") + "values 8\n", "state at tick 8: got 56 bytes, want 4"},
	{"state with a count too large", typed("struct { X []uint16 }") + "state 9 0 x020000000000\n", "state at tick 9: got 6 bytes, want at least 8"},
	{"state with a count too small", typed("struct { X []uint16 }") + "state 9 0 x0000000000\n", "state at tick 9: got 5 bytes, want 4"},
	{"state without a count", typed("struct { X bool; Y []struct { Z string } }") + "state 9 0 x0100\n", "state at tick 9: got 2 bytes, want at least 5"},
	{"state with huge counts", typed("struct { X []struct { Y []struct { Z [1000]uint64 } } }") + "state 9 0 xffffffffffffffff\n", "state at tick 9: got 8 bytes, want at least 34359738360008"},
	{"wrong state after a right one", typed("struct { X string }") + "state 8 0 x0100000061\nstate 9 0 x0100000061ff\n", "state at tick 9: got 6 bytes, want 5"},
	{"schema that is no struct", typed(" int32"), "header: the schema is no struct type from byte 1 on"},
	{"schema with a map", typed("struct { X map[int8]bool }"), "header: the schema is no struct type from byte 11 on"},
	{"schema without an end", typed("struct { X bool"), "header: the schema is no struct type from byte 15 on"},
	{"schema with more", typed("struct { X bool } y"), "header: the schema is no struct type from byte 18 on"},
	{"after the end", header(2) + "end 9\nsum 9 0 1\n", "sum at tick 9: after the end"},
	{"want", header(2) + "want 9-8\n", "SAMESTEP_DUMP: want at most 64 ticks or ranges, such as 77,78 or 70-80"},
	{"want nothing", header(2) + "want 9,\n", "SAMESTEP_DUMP: want at most 64 ticks or ranges, such as 77,78 or 70-80"},
	{"want much", header(2) + "want 9" + strings.Repeat(",9", 64) + "\nwanted 9\n", "0\nrecorder: SAMESTEP_DUMP: want at most 64 ticks or ranges, such as 77,78 or 70-80"},
	{"want a word", header(2) + "want x\nwanted 9\n", "0\nrecorder: SAMESTEP_DUMP: want at most 64 ticks or ranges, such as 77,78 or 70-80"},
	{"want a long number", header(2) + "want 99999999999999999999\n", "SAMESTEP_DUMP: want at most 64 ticks or ranges, such as 77,78 or 70-80"},
}

// An omission is a call of phase or draws that is left out, and why. What is recorded before and after it is as without it.
type omission struct{ name, before, call, want string }

const afterOmission = "sum 9 0 1\nphase 10 x62 2\ndraws 10 x63 3\nsum 10 0 1\nend 10\n"

func (o *omission) script() string { return header(2) + o.before + o.call + afterOmission }

var omissions = []omission{
	{"a phase without a name", "", "phase 9 x 1\n", "phase at tick 9: got a name of 0 bytes, want 1 to 64 ASCII letters, digits or ._-/:; calls left out: 1"},
	{"a long name of a phase", "phase 9 *60 1\n", "phase 9 *65 1\n", "phase at tick 9: got a name of 65 bytes, want 1 to 64 ASCII letters, digits or ._-/:; calls left out: 1"},
	{"a name longer than a note", "phase 9 *60 1\n", "phase 9 *2000 1\n", "phase at tick 9: got a name of 2000 bytes, want 1 to 64 ASCII letters, digits or ._-/:; calls left out: 1"},
	{"a name with a space", "", "phase 9 x6120 1\n", "phase at tick 9: got a name of 2 bytes, want 1 to 64 ASCII letters, digits or ._-/:; calls left out: 1"},
	{"a name with a sign", "draws 9 x61 1\n", "draws 9 x3d 1\n", "draws at tick 9: got a name of 1 bytes, want 1 to 64 ASCII letters, digits or ._-/:; calls left out: 1"},
	{"a name that is not ASCII", "", "draws 9 xc3a9 1\n", "draws at tick 9: got a name of 2 bytes, want 1 to 64 ASCII letters, digits or ._-/:; calls left out: 1"},
	{"a name with a space after a full note", strings.Repeat("draws 9 *60 1\n", 16), "draws 9 x6120 1\n", "draws at tick 9: got a name of 2 bytes, want 1 to 64 ASCII letters, digits or ._-/:; calls left out: 1"},
	{"phases", strings.Repeat("phase 9 *60 1\ndraws 9 x61 1\n", 64), "phase 9 x61 1\n", "phase at tick 9: want at most 64 in a tick; calls left out: 1"},
	{"streams", strings.Repeat("draws 9 x61 1\n", 64) + "note 9 -1 x61 x\n", "draws 9 x61 1\n", "draws at tick 9: want at most 64 in a tick; calls left out: 1"},
	{"many calls", strings.Repeat("draws 9 x61 1\n", 64), strings.Repeat("draws 9 x61 1\nphase 9 x 1\n", 50), "draws at tick 9: want at most 64 in a tick; calls left out: 100"},
	{"another error after it", "", "phase 9 x 1\nnote 9 0 x x\nphase 9 x 1\n", "note at tick 9: got a topic of 0 bytes, want 1 to 128 bytes of UTF-8"},
}

// typed is a header with a schema.
func typed(schema string) string { return "header x61 60 2 0 x x x " + word(schema) + "\n" }

// busy is a script with many commands in each of two ticks, which is no error, because each tick has its own limit.
var busy = header(1) + strings.Repeat("command 9 0 1 x\n", 8192) + "sum 10 0 1\n" + strings.Repeat("command 10 0 1 x\n", 8192) + "end 11\n"

// numbered returns n words that differ.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" " + word(strconv.Itoa(i)))
	}
	return b.String()
}

// manySums returns sums of n ticks, each with 64 sections.
func manySums(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "sum %d 0 1%s\n", i, strings.Repeat(" 2", 64))
	}
	return b.String()
}

// manyStates returns states of n ticks.
func manyStates(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "state %d 0 x00000000\n", i)
	}
	return b.String()
}

// kinds returns commands of n kinds.
func kinds(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "command %d 0 %d x\n", i, i)
	}
	return b.String()
}

func TestBusy(t *testing.T) {
	if file, output := play(t, busy); output != "" || bytes.Count(file, []byte("\n")) != 2*8192+3 {
		t.Errorf("got %d lines and the error %q", bytes.Count(file, []byte("\n")), output)
	}
}

// A wrong call is an error. What was recorded before stays, and later calls do nothing.
func TestRefusals(t *testing.T) {
	for _, row := range refusals {
		if row.long(t) {
			continue
		}
		t.Run(row.name, func(t *testing.T) {
			file, output := play(t, row.script)
			want := "recorder: " + row.want
			if strings.HasPrefix(row.want, "0\n") {
				want = row.want
			}
			if strings.TrimSpace(output) != want {
				t.Errorf("got %q, want %q", output, want)
			}
			if isHeader := strings.HasPrefix(row.want, "header"); isHeader != (len(file) == 0) {
				t.Errorf("got %d bytes", len(file))
			}
			if !strings.HasPrefix(row.script, "header x61 60 2 0 x x x x\nst") && !strings.HasPrefix(row.want, "header") {
				later, again := play(t, row.script+"end 2147483647\n")
				if !bytes.Equal(later, file) || again != output {
					t.Errorf("after the error, a call wrote %q, with the error %q", later[len(file):], again)
				}
			}
		})
	}
}

// A phase or draws that a tick may not have are left out, and all that follows is recorded.
func TestOmissions(t *testing.T) {
	for _, row := range omissions {
		t.Run(row.name, func(t *testing.T) {
			file, output := play(t, row.script())
			if want := "recorder: " + row.want + "\n"; output != want {
				t.Errorf("got %q, want %q", output, want)
			}
			without, none := play(t, header(2)+row.before+afterOmission)
			if none != "" {
				t.Fatal(none)
			}
			if strings.Contains(row.call, "note") {
				without, _ = play(t, header(2)+row.before)
			}
			if !bytes.Equal(file, without) {
				t.Errorf("got\n%s\nwant\n%s", file, without)
			}
		})
	}
}

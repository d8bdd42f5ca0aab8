package conformance

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep/flight"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

func flightCase(id, verdict, about, text string, rules ...string) Built {
	id = "flight-" + id
	return Built{Case{ID: id, Kind: "flight", File: "flight/" + id + ".hex", Rules: rules, Verdict: verdict, About: about}, []byte("# " + about + "\n" + text)}
}

// flightLines writes what a machine computed, and its record.
type flightLines struct {
	bytes.Buffer
	schema   *state.Schema
	ring     flight.Ring
	tick     record.Tick
	commands []record.Command
}

func newFlightLines(text string) *flightLines {
	s, err := state.ParseType(text)
	if err != nil {
		panic(err) // a constant
	}
	f := &flightLines{schema: s}
	f.line("schema", s.AppendDescription(nil))
	f.ring.Begin(record.MatchID{7, 8}, 0)
	f.ring.Open()
	return f
}

func (f *flightLines) line(label string, b []byte) { fmt.Fprintf(f, "%s: %x\n", label, b) }

func (f *flightLines) command(c record.Command) {
	b := append([]byte{byte(c.Player)}, byte(c.Kind), byte(c.Kind>>8))
	f.line("command", append(binary.LittleEndian.AppendUint32(b, uint32(c.Sequence)), c.Payload...))
	f.commands = append(f.commands, c)
}

func (f *flightLines) phase(name string) {
	f.line("phase", []byte(name))
	f.ring.Phase(name)
}

func (f *flightLines) draw(stream string, entity uint32) {
	f.line("draw", append(binary.LittleEndian.AppendUint32(nil, entity), stream...))
	f.ring.Drew(stream, entity)
}

// value ends a tick with the canonical bytes of its state.
func (f *flightLines) value(b []byte) {
	f.line("value", b)
	f.tick++
	prints, err := f.schema.AppendPrints(nil, b)
	if err != nil {
		panic(err) // of this file
	}
	f.ring.Note(f.tick, f.commands, prints, len(b))
	f.ring.Open()
	f.commands = nil
}

func (f *flightLines) text() string {
	f.line("record", f.ring.Record().Append(nil))
	return f.String()
}

// flightMatch has three ticks with everything that a record can say.
func flightMatch() *flightLines {
	f := newFlightLines("struct { Tick uint32; Coins []int32; Name string }")
	value := func(coins int32) []byte {
		b := binary.LittleEndian.AppendUint32(nil, uint32(f.tick+1))
		b = binary.LittleEndian.AppendUint32(b, 2)
		b = binary.LittleEndian.AppendUint32(b, uint32(coins))
		return append(b, "\x05\x00\x00\x00\x02\x00\x00\x00hi"...)
	}
	f.command(record.Command{Player: 1, Kind: 2, Sequence: 3, Payload: []byte{4, 5}})
	f.command(record.Command{Player: 255, Kind: 65535, Sequence: 1<<32 - 1})
	f.draw("early", 9)
	f.phase("move")
	f.phase("combat")
	f.draw("damage", 1)
	f.draw("miss", 4)
	f.draw("damage", 1<<32-1)
	f.value(value(1))
	f.phase("move")
	f.phase("combat")
	f.value(value(1))
	f.phase("größe")
	f.value(value(-1))
	return f
}

// flights are the records of the suite.
func flights() []Built {
	whole := flightMatch().text()
	at := strings.LastIndex(whole, "record: ") + len("record: ")
	lines, body := whole[:at], strings.TrimSpace(whole[at:])
	sizes := newFlightLines("struct { A, B, C, D, E, F, G, H, I, J string }")
	for _, shift := range []int{0, 1} {
		var b []byte
		for _, n := range []int{1, 4, 5, 13, 14, 120, 236, 237, 1100, 20000} { // with their length: those of each way of XXH3
			b = binary.LittleEndian.AppendUint32(b, uint32(n-shift))
			for i := range n - shift {
				b = append(b, byte(i*(i+shift)>>3))
			}
		}
		sizes.value(b)
	}
	many := newFlightLines("struct { A uint8; " + manyFields(66) + " }")
	for i := range 3 {
		b := make([]byte, 67)
		b[0], b[65] = byte(i), byte(i/2)
		many.value(b)
	}

	all := []Built{
		flightCase("whole", "ok", "Three ticks with commands, phases and draws, and what they were computed from.", whole, "L-commands", "L-draws", "L-names", "L-phases", "L-print", "L-prints", "L-sum", "L-version"),
		flightCase("sizes", "ok", "Prints of sections of all sizes that XXH3 treats apart, and of three blocks.", sizes.text(), "L-print"),
		flightCase("sections", "ok", "67 sections: the last of 64 prints is that of four.", many.text(), "L-print", "L-prints"),
	}
	for _, other := range []struct{ id, about, old, new string }{
		{"value", "The state of a tick is another one.", "value: 01", "value: 02"},
		{"command", "A command has another payload.", "0405\n", "0406\n"},
		{"draw", "A draw is for another entity.", "draw: 09", "draw: 08"},
	} {
		all = append(all, flightCase("other-"+other.id, "other", other.about, strings.Replace(whole, other.old, other.new, 1), "L-print", "L-sum"))
	}

	empty := (&flight.Record{}).Append(nil)
	record := func(names string, prints byte, first uint32, ticks ...string) string {
		b := append([]byte{1}, make([]byte, 16)...)
		b = append(b, prints, byte(len(strings.Fields(names))))
		for _, name := range strings.Fields(names) {
			b = append(append(b, byte(len(name))), name...)
		}
		b = binary.AppendUvarint(binary.LittleEndian.AppendUint32(b, first), uint64(len(ticks)))
		return fmt.Sprintf("record: %x%s\n", b, strings.Join(ticks, ""))
	}
	const printed = "01" + "78563412" + "01" + "0500" // section 0 has the print 5
	c := func(id, verdict, about, text string, rules ...string) {
		all = append(all, flightCase(id, verdict, about, text, rules...))
	}
	c("empty", "ok", "No ticks.", fmt.Sprintf("record: %x\n", empty), "L-version")
	c("restored", "ok", "The state before the second tick came from elsewhere, and two ticks are missing.", record("", 1, 5, printed, "10"+"02"), "L-restored")
	c("restored-first", "ok", "The state before the first tick came from elsewhere.", record("", 1, 5, "10"+"00"), "L-restored")
	c("sampled", "ok", "Of ten ticks, the eighth has prints.", record("", 1, 1, "00", "00", "00", "00", "00", "00", "00", printed, "00", "00"), "L-sampled")
	c("same-prints", "ok", "Two ticks with equal prints.", record("", 1, 1, printed, "01"+"78563412"+"00"), "L-prints")
	c("last-tick", "ok", "The last tick that a match can have.", record("", 0, uint32(maxTick), "00"), "L-restored")

	bad := func(id, about, text string, rules ...string) { c(id, "malformed", about, text, rules...) }
	bad("version", "Version 2.", strings.Replace(record("", 1, 1, "00"), "record: 01", "record: 02", 1), "L-version")
	bad("cut", "It ends in its last tick.", "record: "+body[:len(body)-2]+"\n", "L-size")
	bad("longer", "A byte follows.", "record: "+body+"00\n", "L-size")
	bad("too-large", "65,537 bytes.", "record: "+hex.EncodeToString(append(bytes.Clone(empty), make([]byte, flight.MaxBytes+1-len(empty))...))+"\n", "L-size")
	bad("too-many-ticks", "2,049 ticks.", record("", 1, 1, strings.Split(strings.Repeat("00 ", flight.MaxTicks)+"00", " ")...), "L-size")
	bad("no-first", "Ticks from tick 0 on.", record("", 1, 0, "00"), "L-size")
	bad("first-of-none", "A first tick, and no ticks.", record("", 1, 1), "L-size")
	bad("beyond", "A tick beyond the last one of a match.", record("", 0, uint32(maxTick), "00", "00"), "L-restored")
	bad("gap-first", "Ticks are missing before the first.", record("", 1, 5, "10"+"01"), "L-restored")
	bad("prints-65", "65 prints.", record("", 65, 1, "00"), "L-prints")
	bad("prints-section", "A print of a section that is none.", record("", 1, 1, "01"+"78563412"+"02"+"0500"), "L-prints")
	bad("prints-same", "A print that changed is the one before.", record("", 1, 1, printed, printed), "L-prints")
	bad("prints-zero", "A first print of 0 as a changed one.", record("", 1, 1, "01"+"78563412"+"01"+"0000"), "L-prints")
	bad("number-long", "A number that is not in its shortest form.", record("", 1, 1, "01"+"78563412"+"8100"+"0500"), "L-prints")
	bad("commands-none", "No commands, but said so.", record("", 1, 1, "02"+"00"+"0000"), "L-commands")
	bad("commands-many", "2^32 commands.", record("", 1, 1, "02"+"8080808010"+"0000"), "L-commands")
	bad("flags", "An unknown bit.", record("", 1, 1, "20"), "L-version")
	bad("phases-same", "The phases are those of the tick before.", record("move", 1, 1, "04"+"01"+"00", "04"+"01"+"00"), "L-phases")
	bad("phases-none", "The first tick has none, but says so.", record("", 1, 1, "04"+"00"), "L-phases")
	bad("phases-many", "64 phases.", record("move", 1, 1, "04"+"40"+strings.Repeat("00", 64)), "L-phases")
	bad("phase-unnamed", "A phase without a name.", record("move", 1, 1, "04"+"02"+"0001"), "L-phases", "L-names")
	bad("draws-none", "No phase draws, but said so.", record("", 1, 1, "08"+"00"), "L-draws")
	bad("draws-phase", "Draws of a phase that is none.", record("dice", 1, 1, "08"+"02"+"01"+"0001"+"0000"), "L-draws")
	bad("draws-zero", "No draws of a stream.", record("dice", 1, 1, "08"+"01"+"01"+"0000"+"0000"), "L-draws")
	bad("draws-twice", "A stream twice.", record("dice", 1, 1, "08"+"01"+"02"+"00010001"+"0000"), "L-draws")
	bad("draws-no-stream", "Draws without a stream.", record("dice", 1, 1, "08"+"01"+"00"+"0000"), "L-draws")
	bad("name-unused", "A name that is not used.", record("move", 1, 1, "00"), "L-names")
	bad("name-order", "The names are not in the order of use.", record("move act", 1, 1, "04"+"02"+"0100"), "L-names")
	bad("name-twice", "A name twice.", record("move move", 1, 1, "04"+"02"+"0001"), "L-names")
	bad("name-long", "A name of 33 bytes.", record(strings.Repeat("x", 33), 1, 1, "04"+"01"+"00"), "L-names")
	bad("name-control", "A name with a control character.", record("a\u0001", 1, 1, "04"+"01"+"00"), "L-names")
	bad("name-c1", "A name with U+009B.", record("a\u009bb", 1, 1, "04"+"01"+"00"), "L-names")
	bad("name-utf8", "A name that is not UTF-8.", record("a\xff", 1, 1, "04"+"01"+"00"), "L-names")
	bad("no-lines", "Lines of a tick, and a record that is cut.", lines+body[:40]+"\n", "L-size")
	return all
}

const maxTick = record.MaxTick

// manyFields returns the fields of a type by number.
func manyFields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "F%d uint8; ", i)
	}
	return b.String()
}

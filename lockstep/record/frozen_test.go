package record

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/frozen"
)

// The records, the header, the commands of the system, events and topics stay as version 1 has them.
func TestFrozen(t *testing.T) {
	rows := []string{fmt.Sprintf("version records and messages: %d", Protocol), "engine log: " + Engine}
	e := &Encoder{}
	h := &Header{
		Protocol: Protocol, Engine: Engine, Game: "g", Build: "b", Match: MatchID{1}, Platform: "p", Config: []byte{2}, ConfigSchema: []byte{3}, StateSchema: []byte{4},
		Settings: Settings{Seed: 5, Players: 6, TickMicros: 7000, CheckEvery: 8, KeyframeEvery: 9}, Commands: []CommandDescription{{10, "c", []byte{11}}}, ResultSchema: []byte{12},
	}
	f := &Frame{Tick: 2, Commands: []Command{{Tick: 2, Player: 3, Kind: 10, Sequence: 4, Payload: []byte{13}}}}
	written := map[Kind][]string{} // by the encoder, in the order of a log
	for _, b := range [][]byte{
		clone(e.Header(h)), clone(e.Keyframe(0, 1, []LastSequence{{1, 2}}, []byte{3})), clone(e.Empty(1)), clone(e.Frame(f)), clone(e.Checksum(1, 2)), clone(e.Mismatch(1, 2, 3)),
		clone(e.Note(1, TopicChat, "t")), clone(e.Foreign([]byte("{}"))), clone(e.Event(1, EventPace, "t")),
		clone(e.Panic(&Panic{Where: InStep, Text: "t", Stack: "s", Frame: *f})), clone(e.End("r")),
	} {
		k := KindOf(b)
		written[k] = append(written[k], fmt.Sprintf("%x", b))
	}
	byRules := &Encoder{}
	byRules.stage = running
	written[KindEnd] = append(written[KindEnd], fmt.Sprintf("%x", byRules.EndByRules("r", []byte{1})))
	for _, c := range frozen.Constants(t, "record.go", "Kind") {
		bytes := written[Kind(c.Number)]
		if bytes == nil {
			t.Fatalf("%s is not written here", c.Name)
		}
		rows = append(rows, fmt.Sprintf("record %d: %s %v", c.Number, c.Name, bytes))
	}
	for i, f := range (&Header{}).fields() {
		rows = append(rows, fmt.Sprintf("header %d: %s", i, f.name))
	}
	for _, d := range SystemDescriptions() {
		rows = append(rows, fmt.Sprintf("system %d: %s %x", d.Kind, d.Name, d.Schema))
	}
	for _, e := range EventTypes() {
		rows = append(rows, fmt.Sprintf("event %s: seat %v, by %s, log only %v", e.Name, e.Seat, e.By, e.LogOnly))
	}
	for _, c := range frozen.Constants(t, "record.go", "Topic") {
		rows = append(rows, fmt.Sprintf("topic %s: %s", c.Text, c.Name))
	}
	frozen.Check(t, "../../testdata/frozen/records.txt", rows)
}

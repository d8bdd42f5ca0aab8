package conformance

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// recordCase returns a case of kind record: a record and the records before it.
func recordCase(id, verdict, about string, before *match, rec []byte, rules ...string) Built {
	var text strings.Builder
	fmt.Fprintf(&text, "# %s\n", about)
	if before != nil {
		for _, r := range before.records {
			fmt.Fprintln(&text, hex.EncodeToString(r))
		}
		fmt.Fprintln(&text, "# the record that this case is about:")
	}
	fmt.Fprintln(&text, hex.EncodeToString(rec))
	return Built{Case{ID: id, Kind: "record", File: "record/" + id + ".hex", Rules: rules, Verdict: verdict, About: about}, []byte(text.String())}
}

// goodRecords are records of every kind, with their values at the limits.
func goodRecords() []Built {
	ok := func(id, about string, before *match, rec []byte, rules ...string) Built {
		return recordCase(id, "ok", about, before, rec, rules...)
	}
	played := func() *match { return begun().frame(adds(0, 5), says(1, "hi")) }
	last := func(m *match) []byte { return m.records[len(m.records)-1] }
	key := played().keyframe()
	big := setup{platform: strings.Repeat("p", 128), settings: array{uint64(1<<64 - 1), 250, 60_000_000, 65535, uint64(1<<32 - 1), true}}
	return []Built{
		ok("record-header", "A header: a flat array of 13 values.", nil, pack(setup{platform: "any"}.header()), "F-header"),
		ok("record-header-limits", "A header whose settings and platform are as large as they may be.", nil, pack(big.header()), "F-header-settings", "F-header-names"),
		ok("record-header-smallest", "A header of a game without names, commands and fields.", nil,
			recordBytes(1, 1, "", "", "", []byte(matchID), "", array{0, 1, 1000, 1, 0, false}, []byte{}, describe(root(0)), describe(root(0)), array{}, []byte{}), "F-header"),
		ok("record-keyframe-first", "The first keyframe, without sequences.", &match{records: newMatch(setup{}).records[:1]}, newMatch(setup{}).records[1], "F-keyframe"),
		ok("record-keyframe", "A keyframe: the sequences are one flat array of pairs.", played(), last(key), "F-keyframe"),
		ok("record-frame", "A frame: the commands are flat, four values each.", begun(), last(played()), "F-frame"),
		ok("record-frame-system", "A frame with two commands of the system.", newMatch(setup{}), last(begun()), "F-frame", "F-system"),
		ok("record-frame-order", "Commands stand by player and sequence, and those of the system last.", begun(),
			last(begun().frame(adds(0, 1), adds(0, 2), says(1, "x"), systems(lost, 0))), "F-frame-order"),
		ok("record-empty", "A run of three empty ticks.", begun(), recordBytes(4, 3), "F-empty"),
		ok("record-empty-longest", "The longest run of empty ticks.", begun(), recordBytes(4, 65536), "F-empty"),
		ok("record-checksum", "A checksum of the last tick.", played(), recordBytes(5, 0, uint64(0x0e41343dab85fea1)), "F-checksum"),
		ok("record-checksum-ago", "A checksum of the first tick of the log.", played(), recordBytes(5, 2, uint64(1<<64-1)), "F-checksum"),
		ok("record-mismatch", "A checksum of player 1.", played(), recordBytes(6, 1, 1, 0), "F-mismatch"),
		ok("record-mismatch-ago", "A checksum of player 1, two ticks ago.", played(), recordBytes(6, 2, 1, uint64(0x1122334455667788)), "F-mismatch"),
		ok("record-end", "The end.", played(), recordBytes(7, "player 0 has won"), "F-end"),
		ok("record-end-empty", "An end without words.", played(), recordBytes(7, ""), "F-end"),
		ok("record-note", "A note: its array stands in a byte string.", played(), recordBytes(64, recordBytes(1, "name", "Ann")), "F-note"),
		ok("record-note-private", "A note of player 255, with a topic of the game.", played(), recordBytes(64, recordBytes(system, "org.example.rank", "")), "F-note"),
		ok("record-event", "An event of the match.", played(), recordBytes(67, recordBytes(system, "referee", "")), "F-event"),
		ok("record-event-unknown", "An event that nobody knows.", played(), recordBytes(67, recordBytes(77, "weather", "rain")), "F-event"),
		ok("record-panic", "A panic in a tick with a command of player 0 and one of the system.", played(),
			recordBytes(66, recordBytes("Step", "index out of range", "main.step\n\t/rules.go:9", 0, 3, 1, addPayload(5), system, 3, 3, []byte{0})), "F-panic"),
		ok("record-panic-bare", "A panic without a stack in a tick without commands.", played(), recordBytes(66, recordBytes("Step", "", "")), "F-panic"),
		ok("record-unknown", "A record that is passed over.", played(), recordBytes(200, []byte{1, 2, 3}), "F-optional"),
		ok("record-frame-joined", "Player 0 joined.", newMatch(setup{}), systemFrame(joined, 0), "F-system"),
		ok("record-frame-left", "Player 0 left.", begun(), systemFrame(left, 0), "F-system"),
		ok("record-frame-lost", "Player 0 lost the connection.", begun(), systemFrame(lost, 0), "F-system"),
		ok("record-frame-taken-over", "A bot plays for player 0.", begun(), systemFrame(takenOver, 0), "F-system"),
		ok("record-frame-paused", "Player 0 paused.", begun(), systemFrame(paused, 0), "F-system"),
		ok("record-frame-resumed", "Player 0 resumed.", begun(), systemFrame(resumed, 0), "F-system"),
		ok("record-frame-speed", "The speed is 150 percent.", begun(), systemFrame(speedSet, 150), "F-system"),
		ok("record-frame-delay", "The input delay is 250 ticks.", begun(), systemFrame(inputDelaySet, 250), "F-system"),
	}
}

func systemFrame(kind, value int) []byte {
	return recordBytes(3, system, 1, kind, systems(kind, value).payload)
}

// brokenRecords are records that each break one rule.
func brokenRecords() []Built {
	bad := func(id, verdict, about string, rec []byte, rules ...string) Built {
		return recordCase(id, verdict, about, begun(), rec, rules...)
	}
	headerBad := func(id, verdict, about string, change func(h array) array, rules ...string) Built {
		return recordCase(id, verdict, about, nil, pack(change(setup{}.header())), rules...)
	}
	set := func(i int, v any) func(h array) array { return func(h array) array { h[i] = v; return h } }
	payload := addPayload(5)
	long := strings.Repeat("n", 129)
	return []Built{
		bad("bad-array-form", "corrupt", "An array of two values has three bytes before them.", []byte("\xdc\x00\x02\x04\x01"), "F-smallest"),
		bad("bad-integer-form", "corrupt", "An integer is written with a byte too many.", []byte("\x92\x04\xcc\x01"), "F-smallest"),
		bad("bad-kind-form", "corrupt", "A kind is written with a byte too many.", []byte("\x92\xcc\x04\x01"), "F-smallest"),
		bad("bad-text-form", "corrupt", "A text is written with a byte too many.", []byte("\x92\x07\xd9\x01x"), "F-smallest"),
		bad("bad-bytes-form", "corrupt", "Bytes are written with a byte too many.", []byte("\x92\x41\xc5\x00\x01x"), "F-smallest"),
		bad("bad-text-utf8", "corrupt", "A text is not UTF-8.", []byte("\x92\x07\xa1\xff"), "F-smallest"),
		bad("bad-type-float", "corrupt", "A number is a float.", []byte("\x92\x04\xca\x3f\x80\x00\x00"), "F-smallest"),
		bad("bad-type-nil", "corrupt", "A value is nil.", []byte("\x92\x04\xc0"), "F-smallest"),
		bad("bad-type-map", "corrupt", "A record is a map.", []byte("\x81\x04\x01"), "F-record"),
		bad("bad-type-negative", "corrupt", "A number is negative.", []byte("\x92\x04\xff"), "F-smallest"),
		bad("bad-array-empty", "corrupt", "A record is an empty array.", []byte{0x90}, "F-record"),
		bad("bad-array-kind-only", "corrupt", "A record has nothing but a kind.", recordBytes(4), "F-record"),
		bad("bad-value-missing", "corrupt", "A checksum has two values.", recordBytes(5, 0), "F-record"),
		bad("bad-value-more", "corrupt", "A run of empty ticks has three values.", recordBytes(4, 1, 1), "F-record"),
		bad("bad-frame-no-commands", "corrupt", "A frame has no commands.", recordBytes(3), "F-frame"),
		bad("bad-frame-values", "corrupt", "A frame has three values and a half command.", recordBytes(3, 0, 1), "F-record"),
		bad("bad-frame-step-zero", "corrupt", "A command has the sequence of the one before.", recordBytes(3, 0, 0, kindAdd, payload), "F-frame-step"),
		bad("bad-frame-step-range", "corrupt", "A step exceeds 32 bits.", recordBytes(3, 0, uint64(1<<32), kindAdd, payload), "F-frame-step"),
		bad("bad-frame-player", "corrupt", "A player is 250.", recordBytes(3, 250, 1, kindAdd, payload), "F-player"),
		bad("bad-frame-player-range", "corrupt", "A player is 256.", recordBytes(3, 256, 1, kindAdd, payload), "F-player"),
		bad("bad-frame-order", "corrupt", "Commands of two players stand in the wrong order.", recordBytes(3, 1, 1, kindAdd, payload, 0, 1, kindAdd, payload), "F-frame-order"),
		bad("first-form", "corrupt", "A command is of a player without a seat, and the next one stands in the wrong order.", recordBytes(3, 2, 1, kindAdd, payload, 0, 1, kindAdd, payload), "F-first"),
		bad("first-order", "invalid", "A second header has too few values.", recordBytes(1, 1, "samestep/1"), "F-first"),
		bad("bad-frame-kind", "corrupt", "A kind of command exceeds 16 bits.", recordBytes(3, 0, 1, 65536, payload), "F-frame"),
		bad("bad-frame-payload", "limit", "A payload has more than 16 KiB.", recordBytes(3, 0, 1, kindAdd, make([]byte, 16<<10+1)), "F-limits"),
		bad("bad-empty-zero", "corrupt", "A run of empty ticks has none.", recordBytes(4, 0), "F-empty"),
		bad("bad-empty-long", "corrupt", "A run of empty ticks is longer than 65,536.", recordBytes(4, 65537), "F-empty"),
		bad("bad-checksum-ago", "corrupt", "A checksum is of a tick before tick 0.", recordBytes(5, 2, 1), "F-checksum"),
		bad("bad-mismatch-player", "corrupt", "A mismatch is of the system.", recordBytes(6, 0, system, 1), "F-mismatch"),
		bad("bad-end-long", "limit", "A reason has more than 1,024 bytes.", recordBytes(7, strings.Repeat("x", 1025)), "F-limits"),
		bad("bad-keyframe-order", "corrupt", "Sequences of a keyframe are not by player.", recordBytes(2, 1, 1, array{255, 2, 0, 1}, []byte{}), "F-keyframe"),
		bad("bad-keyframe-many", "corrupt", "A keyframe has more sequences than there are players.", recordBytes(2, 1, 1, slices.Repeat(array{0, 1}, 300), []byte{}), "F-keyframe"),
		bad("bad-keyframe-zero", "corrupt", "A sequence of a keyframe is 0.", recordBytes(2, 1, 1, array{0, 0, 255, 2}, []byte{}), "F-keyframe"),
		bad("bad-keyframe-half", "corrupt", "The sequences of a keyframe are no pairs.", recordBytes(2, 1, 1, array{255}, []byte{}), "F-keyframe"),
		bad("bad-tick-range", "corrupt", "A tick exceeds 32 bits.", recordBytes(2, uint64(1<<32), 1, array{255, 2}, []byte{}), "F-smallest"),
		bad("bad-frame-cut", "corrupt", "A payload reaches beyond the batch.", []byte("\x95\x03\x00\x01\x01\xc4\x09\x05\x00"), "F-batch"),
		bad("bad-array-cut", "corrupt", "An array has more values than there are bytes.", []byte("\x95\x03\x00\x01"), "F-batch"),
		bad("bad-array-huge", "limit", "An array claims 2^32-1 values.", []byte("\xdd\xff\xff\xff\xff"), "F-limits"),
		bad("bad-note-form", "corrupt", "A note has two values.", recordBytes(64, recordBytes(0, "chat")), "F-note"),
		bad("bad-note-trailing", "corrupt", "A byte stands after the array of a note.", recordBytes(64, append(recordBytes(0, "chat", "hi"), 0)), "F-note"),
		bad("bad-note-bare", "corrupt", "The values of a note stand in no byte string.", recordBytes(64, 0, "chat", "hi"), "F-optional"),
		bad("bad-note-long", "limit", "The text of a note has more than 1,024 bytes.", recordBytes(64, recordBytes(0, "chat", strings.Repeat("x", 1025))), "F-limits"),
		bad("bad-note-topic", "limit", "The topic of a note has more than 128 bytes.", recordBytes(64, recordBytes(0, long, "")), "F-limits"),
		bad("bad-event-form", "corrupt", "An event has two values.", recordBytes(67, recordBytes(system, "resumed")), "F-event"),
		bad("bad-event-trailing", "corrupt", "A byte stands after the array of an event.", recordBytes(67, append(recordBytes(system, "resumed", ""), 0)), "F-event"),
		bad("bad-event-bare", "corrupt", "The values of an event stand in no byte string.", recordBytes(67, system, "resumed", ""), "F-optional"),
		bad("bad-event-long", "limit", "The text of an event has more than 1,024 bytes.", recordBytes(67, recordBytes(0, "pace", strings.Repeat("x", 1025))), "F-limits"),
		bad("bad-event-name", "limit", "The name of an event has more than 128 bytes.", recordBytes(67, recordBytes(0, long, "")), "F-limits"),
		bad("bad-panic-form", "corrupt", "A panic has no stack.", recordBytes(66, recordBytes("Step", "oh")), "F-panic"),
		bad("bad-panic-half", "corrupt", "A panic has half a command.", recordBytes(66, recordBytes("Step", "oh", "", 0, 3)), "F-panic"),
		bad("bad-panic-trailing", "corrupt", "A byte stands after the array of a panic.", recordBytes(66, append(recordBytes("Step", "oh", ""), 0)), "F-panic"),
		bad("bad-panic-order", "corrupt", "The commands of a panic are not in order.", recordBytes(66, recordBytes("Step", "oh", "", 1, 5, 1, payload, 0, 5, 1, payload)), "F-panic"),
		bad("bad-panic-sequence", "corrupt", "A command of a panic has sequence 0.", recordBytes(66, recordBytes("Step", "oh", "", 0, 0, 1, payload)), "F-panic"),
		bad("bad-panic-payload", "invalid", "A command of a panic has a payload of another form.", recordBytes(66, recordBytes("Step", "oh", "", 0, 3, 1, []byte{})), "F-panic"),
		bad("bad-panic-seat", "invalid", "A command of a panic is of a player without a seat.", recordBytes(66, recordBytes("Step", "oh", "", 2, 3, 1, payload)), "F-panic"),
		bad("bad-panic-long", "limit", "The stack of a panic has more than 16,384 bytes.", recordBytes(66, recordBytes("Step", "oh", strings.Repeat("x", 16385))), "F-limits"),
		bad("bad-optional-text", "corrupt", "A record of a kind from 64 on has a text.", recordBytes(65, "x"), "F-optional"),
		headerBad("bad-header-values", "corrupt", "A header has 12 values.", func(h array) array { return h[:12] }, "F-header"),
		headerBad("bad-header-id", "corrupt", "A match's id has 15 bytes.", set(5, []byte("fifteen bytes id")[:15]), "F-header"),
		headerBad("bad-header-name", "limit", "The name of a game has more than 128 bytes.", set(3, long), "F-limits"),
		headerBad("bad-header-no-players", "corrupt", "A match has no seats.", set(7, array{1, 0, 50_000, 5, 10, false}), "F-header-settings"),
		headerBad("bad-header-players", "corrupt", "A match has 251 seats.", set(7, array{1, 251, 50_000, 5, 10, false}), "F-header-settings"),
		headerBad("bad-header-period", "corrupt", "A tick has 999 microseconds.", set(7, array{1, 2, 999, 5, 10, false}), "F-header-settings"),
		headerBad("bad-header-period-long", "corrupt", "A tick has 60,000,001 microseconds.", set(7, array{1, 2, 60_000_001, 5, 10, false}), "F-header-settings"),
		headerBad("bad-header-check", "corrupt", "There are 0 ticks between two checks.", set(7, array{1, 2, 50_000, 0, 10, false}), "F-header-settings"),
		headerBad("bad-header-check-range", "corrupt", "There are 65,536 ticks between two checks.", set(7, array{1, 2, 50_000, 65_536, 10, false}), "F-header-settings"),
		headerBad("bad-header-keyframe-range", "corrupt", "There are 2^32 ticks between two keyframes.", set(7, array{1, 2, 50_000, 5, uint64(1 << 32), false}), "F-header-settings"),
		headerBad("bad-header-settings", "corrupt", "The settings have five values.", set(7, array{1, 2, 50_000, 5, 10}), "F-header-settings"),
		headerBad("bad-header-kinds", "corrupt", "Kinds of commands do not ascend.", set(11, array{2, "a", addSchema, 1, "b", addSchema}), "F-header-commands"),
		headerBad("bad-header-kind-twice", "corrupt", "A kind of command stands twice.", set(11, array{1, "a", addSchema, 1, "b", addSchema}), "F-header-commands"),
		headerBad("bad-header-commands", "corrupt", "A command has no schema.", set(11, array{1, "a"}), "F-header-commands"),
	}
}

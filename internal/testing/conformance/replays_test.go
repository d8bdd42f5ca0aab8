package conformance

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/seed-49bee653/samestep/replay"
)

// replayCase returns a case of kind replay.
func replayCase(id, verdict, about string, content []byte, rules ...string) Built {
	return Built{Case{ID: id, Kind: "replay", File: "replay/" + id + ".ssr", Rules: rules, Verdict: verdict, About: about}, content}
}

// begun returns a match with one tick, in which both players join.
func begun() *match { return newMatch(setup{}).frame(systems(joined, 0), systems(joined, 1)) }

// standard returns a match with every kind of record but a mismatch.
func standard() *match {
	return begun().note(0, "name", "Ann").
		frame(adds(0, 5), says(1, "hi")).empty(2).
		frame(adds(0, -7), adds(1, 300)).checksum().
		empty(5).checksum().keyframe().
		frame(says(1, "bye")).frame(systems(left, 1)).end()
}

// split returns the records before the last keyframe, and the rest.
func (m *match) split() (before, after [][]byte) {
	last := 0
	for i, r := range m.records {
		if bytes.HasPrefix(r, []byte{0x95, 2}) {
			last = i
		}
	}
	return m.records[:last], m.records[last:]
}

// sealed returns the standard match in two segments, without an index.
func sealed() *file {
	before, after := standard().split()
	return newFile().segment(segment{ticks: 10, records: join(before)}).segment(segment{first: 10, ticks: 2, records: join(after)})
}

// index returns the body of an index: for each keyframe the differences of its tick and
// its block's offset to those before, and its place in the block.
func index(self int, marks ...[3]uint64) []byte {
	b := binary.AppendUvarint(nil, uint64(len(marks)))
	for _, m := range marks {
		for _, v := range m {
			b = binary.AppendUvarint(b, v)
		}
	}
	return binary.LittleEndian.AppendUint64(b, uint64(self))
}

// standardMarks are the marks of the file that sealed returns.
func standardMarks() (first, second [3]uint64) {
	m := standard()
	before, _ := m.split()
	offset := len(newFile().segment(segment{ticks: 10, records: join(before)}).b)
	return [3]uint64{0, 32, uint64(len(m.records[0]))}, [3]uint64{10, uint64(offset - 32), 0}
}

// indexed appends the index of the standard match.
func (f *file) indexed() *file {
	first, second := standardMarks()
	return f.block(64, index(len(f.b), first, second))
}

// signature returns the body of a signature of a match's content, and of rules unless they are nil.
func signature(seed byte, m *match, rules ...byte) []byte {
	key := signer(seed)
	r, err := openFile(m.file())
	if err != nil {
		panic(err) // it is a good file
	}
	hash, _, err := replay.HashContent(r, replay.WholeMatch)
	if err != nil {
		panic(err) // as above
	}
	kind := byte(1)
	if rules != nil {
		kind = 2
	}
	text := append(fmt.Appendf(nil, "samestep replay %d\n%s", kind, matchID), hash[:]...)
	if rules != nil {
		text = append(text, rules[1:33]...)
	}
	return append(append([]byte{kind}, key.Public().(ed25519.PublicKey)...), ed25519.Sign(key, text)...)
}

// rules returns the body of a block of rules: of a module that is in the file, or elsewhere.
func rules(inside bool) []byte {
	module := []byte("\x00asm\x01\x00\x00\x00")
	sum := sha256.Sum256(module)
	body := append([]byte{1}, sum[:]...)
	if !inside {
		return append(body, 0)
	}
	return append(append(body, byte(len(module))), frame(module)...)
}

// spoiled returns bytes with one of them changed.
func spoiled(b []byte, at int) []byte {
	b[at] ^= 1
	return b
}

// goodReplays are files that every reader must accept.
func goodReplays() []Built {
	ok := func(id, about string, content []byte, rules ...string) Built {
		return replayCase(id, "ok", about, content, rules...)
	}
	signed := sealed().block(65, signature(1, standard()))
	late := newMatch(setup{})
	late.model = model{ticks: 5, coins: []int32{7, -8}, system: 2, last: "ä"}
	late.tick, late.last, late.records = 5, [256]int64{0: 3, 255: 2}, late.records[:1]
	late.keyframe().frame(adds(0, 1)).end()
	return []Built{
		ok("annotated", "The file that annotated.md has byte by byte.", annotated().file(), "F-prefix", "F-block", "F-batch", "F-state-hash", "F-content"),
		ok("standard", "One batch with every kind of record but a mismatch.", standard().file(), "F-order", "F-empty", "F-checksum", "F-content"),
		ok("batches", "Each record stands in a batch of its own.", batches(standard()).b, "F-batch", "F-chain"),
		ok("sealed", "Two segments and an index.", sealed().indexed().b, "F-segment", "F-index"),
		ok("sealed-without-index", "An index is optional.", sealed().b, "F-index"),
		ok("segment-then-batch", "Segments and batches may follow each other.", mixed().b, "F-blocks"),
		ok("signed", "A signature stands between the end record and the index.", signed.indexed().b, "F-signature"),
		ok("signed-twice", "Two keys may sign one match.", sealed().block(65, signature(1, standard())).block(65, signature(2, standard())).b, "F-signature-key"),
		ok("signed-other-content", "A signature that does not hold leaves the verdict on the match as it is.",
			newFile().batch(standard().records...).block(65, signature(1, begun().end())).b, "F-signature-check"),
		ok("signature-unknown-kind", "A signature of an unknown kind is passed over.", newFile().batch(standard().records...).block(65, []byte{9, 1, 2}).b, "F-signature-unknown"),
		ok("rules", "The module of the rules stands between the end record and the index.", sealed().block(66, rules(true)).indexed().b, "F-rules"),
		ok("rules-elsewhere", "A file names the module of its rules, and does not have it.", sealed().block(66, rules(false)).b, "F-rules-form"),
		ok("rules-unknown-kind", "Rules of an unknown kind are passed over.", sealed().block(66, []byte{9, 1, 2}).b, "F-rules-unknown"),
		ok("rules-other-module", "A module that is another one leaves the verdict on the match as it is.", sealed().block(66, spoiled(rules(true), 5)).b, "F-rules-check"),
		ok("signed-with-rules", "A signature covers the match and the sum of its rules.",
			sealed().block(66, rules(true)).block(65, signature(1, standard(), rules(true)...)).indexed().b, "F-signature-rules"),
		ok("signed-with-other-rules", "A signature of other rules does not hold.",
			sealed().block(66, spoiled(rules(false), 5)).block(65, signature(1, standard(), rules(false)...)).b, "F-signature-rules"),
		ok("signed-without-rules", "A signature of rules does not hold in a file without them.", sealed().block(65, signature(1, standard(), rules(false)...)).b, "F-signature-rules"),
		ok("block-passed-over", "Blocks of unknown kinds from 64 on are passed over wherever they stand.",
			newFile().block(100, nil).batch(standard().records...).block(127, []byte("x")).block(255, []byte{1, 2}).b, "F-block-kind"),
		replayCase("block-kind-after-end", "unsupported", "A block of an unknown kind below 64 follows the end.",
			newFile().batch(standard().records...).block(63, []byte("new")).b, "F-block-kind"),
		ok("record-passed-over", "Records of unknown kinds from 64 on are passed over.",
			begun().add(recordBytes(65, []byte{1})).add(recordBytes(127, []byte{})).add(recordBytes(128, []byte("xyz"))).add(recordBytes(255, []byte{0})).end().file(), "F-optional"),
		ok("late-start", "The first keyframe says at which tick a log begins, and with which sequences.", late.file(), "F-keyframe-first", "F-frame-step"),
		ok("mismatch", "A player's checksum that differs from the agreed one is no fault of the file.",
			begun().checksum().add(recordBytes(6, 0, 1, uint64(0x1122334455667788))).end().file(), "F-mismatch"),
		ok("checksum-ago", "Checksums may be of earlier ticks.", agoMatch().file(), "F-checksum"),
		ok("keyframe-twice", "A keyframe may stand twice.", begun().keyframe().keyframe().end().file(), "F-keyframe-later"),
		ok("keyframe-earlier", "A keyframe may be of an earlier tick.", earlierKeyframe().file(), "F-keyframe-later"),
		ok("sequence-gaps", "Sequences may have gaps.", begun().frame(jump(adds(0, 1), 7)).frame(jump(adds(0, 1), 300)).end().file(), "F-frame-step"),
		ok("no-ticks", "A match may end before its first tick.", newMatch(setup{}).end().file(), "F-order"),
		ok("system-commands", "Every command of the system.", begun().frame(systems(lost, 0), systems(takenOver, 0), systems(joined, 0)).
			frame(systems(paused, 1), systems(resumed, system), systems(speedSet, 10), systems(speedSet, 1000)).
			frame(systems(inputDelaySet, 1), systems(inputDelaySet, 250), systems(left, 1)).checksum().end().file(), "F-system", "F-system-range", "F-system-seat"),
		ok("content-same", "Another platform, other notes, keyframes, runs, and a record that is passed over: the content is that of the standard match.",
			rerecorded("over").file(), "F-content"),
		ok("content-other-end", "The text of the end differs: the content is another, and that up to a tick is the same.", rerecorded("done").file(), "F-content-upto"),
		ok("wrapping", "Coins wrap at 32 bits.", wrapping().checksum().end().file(), "F-checksum-true"),
		ok("notes", "Notes say names and chat, and topics with a dot are private.",
			begun().note(1, "chat", "gg").note(77, "org.example.rank", "1").end().file(), "F-note"),
		ok("events", "Events say what the host did. The text of a claim and the name of an event may be any.",
			begun().event(0, "claim", "?").event(system, "resumed", "after tick 1").event(9, "weather", "rain").end().file(), "F-event"),
	}
}

// rerecorded returns the standard match as another recorder would write it.
func rerecorded(why string) *match {
	m := &match{model: model{coins: []int32{100, 100}}}
	m.add(pack(setup{platform: "another"}.header())).keyframe().
		frame(systems(joined, 0), systems(joined, 1)).keyframe().
		frame(adds(0, 5), says(1, "hi")).empty(1).add(recordBytes(80, []byte{1})).empty(1).
		frame(adds(0, -7), adds(1, 300)).checksum().note(1, "chat", "gg").
		empty(2).empty(3).checksum().
		frame(says(1, "bye")).frame(systems(left, 1))
	return m.add(recordBytes(7, why))
}

// wrapping returns a match in which the coins of a player become negative.
func wrapping() *match {
	m := newMatch(setup{config: []byte{255, 255, 255, 127}})
	m.coins, m.records = []int32{1<<31 - 1, 1<<31 - 1}, m.records[:1]
	return m.keyframe().frame(adds(0, 1), says(0, "\u00fcber"))
}

func jump(c command, step int64) command { c.step = step; return c }

// annotated returns the match that annotated.md has byte by byte.
func annotated() *match {
	return begun().frame(adds(0, 5), says(1, "hi")).empty(3).checksum().end()
}

func batches(m *match) *file {
	f := newFile()
	for _, r := range m.records {
		f.batch(r)
	}
	return f
}

// mixed returns the standard match in a segment and a batch.
func mixed() *file {
	before, after := standard().split()
	return newFile().segment(segment{ticks: 10, records: join(before)}).batch(after...)
}

// agoMatch returns a match with checksums of the ticks before.
func agoMatch() *match {
	m := begun()
	first := m.hash()
	m.frame(adds(1, 9))
	second := m.hash()
	return m.empty(3).add(recordBytes(5, 4, first)).add(recordBytes(5, 3, second)).end()
}

// earlierKeyframe returns a match with a keyframe that stands after a later tick.
func earlierKeyframe() *match {
	m := begun()
	k := keyframe(m.tick, m.hash(), m.lasts(), m.state())
	return m.frame(adds(0, 1)).add(k).end()
}

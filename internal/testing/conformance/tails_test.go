package conformance

import "slices"

// brokenTails are files of which an index or a signature is wrong.
func brokenTails() []Built {
	first, second := standardMarks()
	seal := func() *file { return sealed() }
	withIndex := func(body func(self int) []byte) []byte {
		f := seal()
		return f.block(64, body(len(f.b))).b
	}
	signedOnce := func() *file { return newFile().batch(standard().records...) }
	sig := signature(1, standard())
	before, after := standard().split()
	middle := newFile().segment(segment{ticks: 10, records: join(before)})
	middle = middle.block(64, index(len(middle.b), [3]uint64{0, 32, first[2]})).segment(segment{first: 10, ticks: 2, records: join(after)})
	early := newFile().batch(before...).block(65, sig).batch(after...)
	twice := seal().indexed().indexed()
	late := seal().indexed().block(65, sig)
	behind := seal().indexed().block(100, []byte("later"))
	inside := rules(true)
	return []Built{
		replayCase("rules-early", "invalid", "Rules stand before the end record.", newFile().batch(before...).block(66, inside).batch(after...).b, "F-rules"),
		replayCase("rules-twice", "invalid", "There are two blocks of rules.", seal().block(66, inside).block(66, []byte{9}).b, "F-rules"),
		replayCase("rules-empty", "invalid", "Rules have no kind.", seal().block(66, nil).b, "F-rules-form"),
		replayCase("rules-short", "invalid", "Rules end before the size of the module.", seal().block(66, inside[:33]).b, "F-rules-form"),
		replayCase("rules-long-number", "invalid", "The size of a module is written with a byte too many.", seal().block(66, append(slices.Clone(inside[:33]), 0x80, 0)).b, "F-rules-form"),
		replayCase("rules-huge-number", "invalid", "The size of a module is 2^64.", seal().block(66, append(slices.Clone(inside[:33]), varintBeyond...)).b, "F-rules-form"),
		replayCase("rules-without-data", "invalid", "A module is not there.", seal().block(66, inside[:34]).b, "F-rules-form"),
		replayCase("rules-with-data", "invalid", "A module of no bytes has data.", seal().block(66, append(rules(false), 1)).b, "F-rules-form"),
		replayCase("rules-large", "limit", "A module has a byte more than 32 MiB.", seal().block(66, append(slices.Clone(inside[:33]), 0x81, 0x80, 0x80, 0x10, 1)).b, "F-rules-size"),
		replayCase("index-middle", "invalid", "An index stands before the end record.", middle.b, "F-index"),
		replayCase("index-twice", "invalid", "There are two indexes.", twice.b, "F-index"),
		replayCase("index-not-last", "invalid", "A block stands after the index.", behind.b, "F-index"),
		replayCase("index-count-zero", "invalid", "An index has no keyframes.", withIndex(func(self int) []byte { return index(self) }), "F-index-count"),
		replayCase("index-step-zero", "invalid", "An index has a tick twice.", withIndex(func(self int) []byte {
			return index(self, first, [3]uint64{0, second[1], 0})
		}), "F-index-step"),
		replayCase("index-trailing", "invalid", "A byte stands between the keyframes of an index and its own offset.", withIndex(func(self int) []byte {
			b := index(self, first, second)
			return slices.Insert(b, len(b)-8, 0)
		}), "F-index-form"),
		replayCase("index-short", "invalid", "An index has fewer keyframes than its count says.", withIndex(func(self int) []byte {
			return slices.Insert(index(self, first)[1:], 0, 2)
		}), "F-index-form"),
		replayCase("index-long-number", "invalid", "A number of an index is written with a byte too many.", withIndex(func(self int) []byte {
			return slices.Insert(index(self, first, second)[1:], 0, 0x82, 0)
		}), "F-uvarint"),
		replayCase("index-huge-number", "invalid", "A number of an index is 2^64.", withIndex(func(self int) []byte {
			return slices.Concat(varintBeyond, index(self, first, second)[1:])
		}), "F-index-form"),
		replayCase("index-self", "invalid", "An index has another offset than its own.", withIndex(func(self int) []byte { return index(self-1, first, second) }), "F-index-self"),
		replayCase("index-outside", "invalid", "An index names a block outside of the file.", withIndex(func(self int) []byte {
			return index(self, first, [3]uint64{10, 1 << 20, 0})
		}), "F-index-keyframe"),
		replayCase("index-no-keyframe", "invalid", "An index names a place where no keyframe is.", withIndex(func(self int) []byte {
			return index(self, first, [3]uint64{10, second[1], 1})
		}), "F-index-keyframe"),
		replayCase("index-second-keyframe", "invalid", "An index names the second of two keyframes of one tick.", secondKeyframe(), "F-index-keyframe"),
		replayCase("index-other-tick", "invalid", "An index names a keyframe with another tick.", withIndex(func(self int) []byte {
			return index(self, first, [3]uint64{9, second[1], 0})
		}), "F-index-keyframe"),
		replayCase("index-tick-range", "invalid", "A tick of an index is beyond 32 bits.", withIndex(func(self int) []byte {
			return index(self, first, [3]uint64{1 << 32, second[1], 0})
		}), "F-index-step"),
		replayCase("torn-index", "torn", "The file ends inside its index; the match is whole.", cutTail(seal().indexed()), "F-torn"),
		replayCase("torn-signature", "torn", "The file ends inside its signature; the match is whole.", cutTail(signedOnce().block(65, sig)), "F-torn"),
		replayCase("signature-early", "invalid", "A signature stands before the end record.", early.b, "F-signature"),
		replayCase("signature-late", "invalid", "A signature stands after the index.", late.b, "F-index"),
		replayCase("signature-short", "invalid", "A signature of kind 1 is too short.", signedOnce().block(65, sig[:96]).b, "F-signature-form"),
		replayCase("signature-long", "invalid", "A signature of kind 1 is too long.", signedOnce().block(65, append(slices.Clone(sig), 0)).b, "F-signature-form"),
		replayCase("signature-empty", "invalid", "A signature has no kind.", signedOnce().block(65, nil).b, "F-signature-form"),
		replayCase("signature-many", "limit", "A file has 17 signatures.", signatures(17), "F-signature-count"),
		replayCase("signature-most", "ok", "A file has 16 signatures.", signatures(16), "F-signature-count"),
		replayCase("signature-twice", "invalid", "One key has signed twice.", signedOnce().block(65, sig).block(65, sig).b, "F-signature-key"),
	}
}

// secondKeyframe returns a file whose index names a keyframe that stands twice,
// where it stands the second time.
func secondKeyframe() []byte {
	m := begun().keyframe().keyframe().end()
	f := newFile().batch(m.records...)
	at := join(m.records[:4])
	return f.block(64, index(len(f.b), [3]uint64{1, 32, uint64(len(at))})).b
}

// signatures returns a file with the signatures of n keys.
func signatures(n byte) []byte {
	f := newFile().batch(standard().records...)
	for seed := range n {
		f.block(65, signature(seed, standard()))
	}
	return f.b
}

// cutTail returns a file without its last three bytes.
func cutTail(f *file) []byte { return f.b[:len(f.b)-3] }

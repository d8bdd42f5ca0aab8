package conformance

// The schema of the result of the game with a goal.
var victorySchema = describe(node{tStruct, 0, 2, ""}, node{tUint8, 0, 0, "Seat"}, node{tInt32, 0, 0, "Coins"})

// later returns a header of protocol 2.
func (s setup) later(settings array, result []byte) array {
	s.protocol, s.settings = 2, settings
	return append(s.header(), result)
}

// goalSetup is the setup of the game with a goal, and goalSettings its settings.
var (
	goalSetup    = setup{build: "goal"}
	goalSettings = array{1, 2, 20, 5, 10, 0, false}
)

// goal returns a match of the game with a goal, with one tick in which both players join.
func goal(settings array) *match {
	m := &match{model: model{coins: []int32{100, 100}}}
	return m.add(pack(goalSetup.later(settings, victorySchema))).keyframe().frame(systems(joined, 0), systems(joined, 1))
}

// won returns a match that player 1 wins in its tick 7.
func won() *match { return goal(goalSettings).empty(5).frame(adds(1, 1000)) }

// victoryOf1 is the result of won.
var victoryOf1 = []byte{1, 0x4c, 0x04, 0, 0}

const byRules = "the rules ended the match"

// resultRecords are records of matches whose rules have a result, and of a period in milliseconds.
func resultRecords() []Built {
	header := func(id, verdict, about string, h array, rules ...string) Built {
		return recordCase(id, verdict, about, nil, pack(h), rules...)
	}
	end := func(id, verdict, about string, before *match, rec []byte, rules ...string) Built {
		return recordCase(id, verdict, about, before, rec, rules...)
	}
	none := []byte{}
	return []Built{
		header("record-header-result", "ok", "A header of rules that end the match.", goalSetup.later(goalSettings, victorySchema), "F-header-later"),
		header("record-header-relay", "ok", "A header of such rules in a match without a referee.", goalSetup.later(array{1, 2, 20, 5, 10, 0, true}, victorySchema), "F-header-later"),
		header("record-header-period", "ok", "A header of a match with 600 ms for a tick.", setup{}.later(array{1, 2, 2, 5, 10, 600, false}, none), "F-header-later", "F-header-period"),
		header("record-header-period-longest", "ok", "The longest period.", setup{}.later(array{1, 2, 1, 5, 10, 60000, false}, none), "F-header-period"),
		header("bad-header-later-protocol", "corrupt", "A header of 13 values has protocol 1.", append(setup{protocol: 1, settings: goalSettings}.header(), victorySchema), "F-header-later"),
		header("bad-header-later-needless", "corrupt", "A header of 13 values has neither a result nor a period.", setup{}.later(goalSettings, none), "F-header-later"),
		header("bad-header-later-settings", "corrupt", "A header of 13 values has five settings.", setup{}.later(array{1, 2, 20, 5, 10}, victorySchema), "F-header-later"),
		header("bad-header-later-relay", "corrupt", "The relay is a number.", setup{}.later(array{1, 2, 20, 5, 10, 0, 1}, victorySchema), "F-smallest"),
		header("bad-header-period", "corrupt", "A period has 60,001 ms.", setup{}.later(array{1, 2, 1, 5, 10, 60001, false}, none), "F-header-period"),
		header("bad-header-period-rate", "corrupt", "The tick rate is not that of the period.", setup{}.later(array{1, 2, 20, 5, 10, 600, false}, none), "F-header-period"),
		header("bad-header-result-schema", "invalid", "The schema of the result is none.", goalSetup.later(goalSettings, []byte{1}), "F-header-schemas"),
		end("record-end-result", "ok", "The rules ended the match with a result.", won(), recordBytes(7, byRules, victoryOf1), "F-end-result"),
		end("record-end-no-result", "ok", "The rules ended the match without a result.", won(), recordBytes(7, byRules, none), "F-end-result"),
		end("bad-end-result-value", "invalid", "A result is not a value of its schema.", won(), recordBytes(7, byRules, victoryOf1[:4]), "F-end-result"),
		end("bad-end-result-none", "invalid", "The rules end a match, but the header has no result.", begun(), recordBytes(7, byRules, none), "F-end-result"),
		end("bad-end-result-long", "limit", "A result has more than 65,536 bytes.", won(), recordBytes(7, byRules, make([]byte, 65537)), "F-limits"),
		end("bad-end-values", "corrupt", "An end has four values.", won(), recordBytes(7, byRules, victoryOf1, 0), "F-record"),
	}
}

// resultReplays are files of matches that end by their rules, or should.
func resultReplays() []Built {
	ok := func(id, about string, m *match, rules ...string) Built {
		return replayCase(id, "ok", about, m.file(), rules...)
	}
	desync := func(id, about string, m *match) Built {
		return replayCase(id, "desync", about, m.file(), "F-end-true")
	}
	end := func(m *match, result []byte) *match { return m.add(recordBytes(7, byRules, result)) }
	period := &match{model: model{coins: []int32{100, 100}}}
	period.add(pack(setup{}.later(array{1, 2, 2, 5, 10, 600, false}, []byte{}))).keyframe().frame(adds(0, 1)).end()
	return []Built{
		ok("result", "The rules end the match with a result.", end(won().checksum(), victoryOf1), "F-end-result", "F-end-true", "F-content", "F-header-later"),
		ok("result-none", "The rules end the match without a result.", end(goal(goalSettings).frame(says(0, "draw")), nil), "F-end-result", "F-end-true"),
		ok("result-server", "The server ends a match whose rules have not ended it.", goal(goalSettings).frame(adds(0, 1)).end(), "F-end-true"),
		ok("result-relay", "Without a referee the match goes on after the end of the rules.", goal(array{1, 2, 20, 5, 10, 0, true}).frame(adds(1, 1000)).empty(3).end(), "F-end-true"),
		ok("period", "A match with 600 ms for a tick.", period, "F-header-period"),
		ok("result-keyframe", "A keyframe stands at the last tick.", end(goal(goalSettings).empty(4).keyframe().frame(adds(1, 1000)).keyframe(), victoryOf1), "F-end-true"),
		desync("result-other", "The result in the file is another one than that of the rules.", end(won(), []byte{0, 0x4c, 0x04, 0, 0})),
		desync("result-missing", "The rules end the match with a result, and in the file without one.", end(won(), nil)),
		desync("result-early", "In the file the rules end the match a tick too early.", end(goal(goalSettings).frame(adds(1, 999)), victoryOf1)),
		desync("result-unsaid", "The rules end the match, and in the file its server does.", won().end()),
		desync("result-late", "The match goes on after the rules have ended it.", end(won().empty(2), victoryOf1)),
		desync("result-late-keyframe", "The match goes on after the rules have ended it at a keyframe.", won().keyframe().empty(6).keyframe().end()),
		replayCase("result-identity", "identity", "The result has another schema than that of the game.",
			func() []byte {
				m := &match{model: model{coins: []int32{100, 100}}}
				return m.add(pack(goalSetup.later(goalSettings, addSchema))).keyframe().frame(adds(0, 1)).end().file()
			}(), "F-identity"),
	}
}

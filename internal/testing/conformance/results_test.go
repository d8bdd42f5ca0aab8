package conformance

// The schema of the result of the game with a goal.
var victorySchema = describe(node{tStruct, 0, 2, ""}, node{tUint8, 0, 0, "Seat"}, node{tInt32, 0, 0, "Coins"})

// with returns a header with settings and the schema of a result.
func (s setup) with(settings array, result []byte) array {
	s.settings, s.result = settings, result
	return s.header()
}

// goalSetup is the setup of the game with a goal, and goalSettings its settings.
var (
	goalSetup    = setup{build: "goal"}
	goalSettings = array{1, 2, 50_000, 5, 10, false}
)

// goal returns a match of the game with a goal, with one tick in which both players join.
func goal(settings array) *match {
	m := &match{model: model{coins: []int32{100, 100}}}
	return m.add(pack(goalSetup.with(settings, victorySchema))).keyframe().frame(systems(joined, 0), systems(joined, 1))
}

// won returns a match that player 1 wins in its tick 7.
func won() *match { return goal(goalSettings).empty(5).frame(adds(1, 1000)) }

// victoryOf1 is the result of won.
var victoryOf1 = []byte{1, 0x4c, 0x04, 0, 0}

const byRules = "the rules ended the match"

// resultRecords are records of matches whose rules have a result, and of long periods.
func resultRecords() []Built {
	header := func(id, verdict, about string, h array, rules ...string) Built {
		return recordCase(id, verdict, about, nil, pack(h), rules...)
	}
	end := func(id, verdict, about string, before *match, rec []byte, rules ...string) Built {
		return recordCase(id, verdict, about, before, rec, rules...)
	}
	none := []byte{}
	return []Built{
		header("record-header-result", "ok", "A header of rules that end the match.", goalSetup.with(goalSettings, victorySchema), "F-header"),
		header("record-header-relay", "ok", "A header of such rules in a match without a referee.", goalSetup.with(array{1, 2, 50_000, 5, 10, true}, victorySchema), "F-header"),
		header("record-header-period", "ok", "A header of a match with 600 ms for a tick.", setup{}.with(array{1, 2, 600_000, 5, 10, false}, none), "F-header-settings"),
		header("record-header-period-longest", "ok", "The longest period.", setup{}.with(array{1, 2, 60_000_000, 5, 10, false}, none), "F-header-settings"),
		header("bad-header-relay", "corrupt", "The relay is a number.", setup{}.with(array{1, 2, 50_000, 5, 10, 1}, victorySchema), "F-smallest"),
		header("bad-header-result-schema", "invalid", "The schema of the result is none.", goalSetup.with(goalSettings, []byte{1}), "F-header-schemas"),
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
	period.add(pack(setup{}.with(array{1, 2, 600_000, 5, 10, false}, []byte{}))).keyframe().frame(adds(0, 1)).end()
	return []Built{
		ok("result", "The rules end the match with a result.", end(won().checksum(), victoryOf1), "F-end-result", "F-end-true", "F-content", "F-header"),
		ok("result-none", "The rules end the match without a result.", end(goal(goalSettings).frame(says(0, "draw")), nil), "F-end-result", "F-end-true"),
		ok("result-server", "The server ends a match whose rules have not ended it.", goal(goalSettings).frame(adds(0, 1)).end(), "F-end-true"),
		ok("result-relay", "Without a referee the match goes on after the end of the rules.", goal(array{1, 2, 50_000, 5, 10, true}).frame(adds(1, 1000)).empty(3).end(), "F-end-true"),
		ok("period", "A match with 600 ms for a tick.", period, "F-header-settings"),
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
				return m.add(pack(goalSetup.with(goalSettings, addSchema))).keyframe().frame(adds(0, 1)).end().file()
			}(), "F-identity"),
	}
}

package conformance

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
)

// gzipped returns a text compressed at a level.
func gzipped(text string, level int) string {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // a buffer takes all
	}
	return b.String()
}

func recordingCase(id, verdict, about, text string, rules ...string) Built {
	return Built{Case{ID: id, Kind: "recording", File: "recording/" + id + ".jsonl", Rules: rules, Verdict: verdict, About: about}, []byte(text)}
}

// Lines of recordings.
const (
	recordingHeader = `{"log":1,"title":"conform","tick_rate_hz":20,"players":2}` + "\n"
	recordingEnd    = `{"t":9,"end":true}` + "\n"

	ownHeader = `{"log":1,"title":"conform","tick_rate_hz":20,"players":2,"match":"m","by":0,"build":"1","platform":"linux/amd64",` +
		`"sections":["Tick","Units"],"state":"struct { Tick uint32; Units []struct { X, Y float32 } }"}` + "\n"
	foreignMatch = `{"log":1,"title":"Three on Fields","tick_rate_hz":7.5,"players":3}
{"t":0,"note":"map","text":"Fields of Isis"}
{"t":0,"p":0,"note":"name","text":"ada"}
{"t":0,"p":2,"s":1,"k":12,"d":"AQI="}
{"t":0,"p":2,"s":2,"k":12,"d":""}
{"t":0,"p":0,"s":1,"k":3,"d":"/w=="}
{"t":4,"p":1,"note":"chat","text":"gl hf"}
{"t":4,"p":1,"s":7,"k":12,"d":"AQI="}
{"t":5,"p":0,"sum":"c126f8bd03a9a491"}
{"t":5,"p":1,"sum":"c126f8bd03a9a491"}
{"t":5,"p":2,"sum":"0000000000000001"}
{"t":9,"end":true}
`
)

// ownSums returns checksums of player 0 at ticks.
func ownSums(ticks ...int) string {
	var b strings.Builder
	for _, t := range ticks {
		fmt.Fprintf(&b, `{"t":%d,"p":0,"sum":"%016x"}`+"\n", t, t)
	}
	return b.String()
}

// phaseNote returns a note of phases.
func phaseNote(t, p int, text string) string {
	return fmt.Sprintf(`{"t":%d,"p":%d,"note":"phases","text":%q}`+"\n", t, p, text)
}

// otherPhases returns notes with texts that are no phases and draws.
func otherPhases() (notes string) {
	sum := strings.Repeat("0", 16)
	for _, text := range []string{
		"", "move", "=" + sum, "move=" + sum + " ", " move=" + sum, "move=" + sum + "  b=" + sum, "move=" + sum[1:], "move=0" + sum, "move=F" + sum[1:], "move=+" + sum[1:],
		"dice#", "dice#01", "dice#-1", "dice#18446744073709551616", "dice#1_0", "do it=" + sum, "dé=" + sum, "a,b=" + sum, strings.Repeat("n", 65) + "#1", "move=" + sum + " move",
	} {
		notes += phaseNote(4, 0, text)
	}
	return notes + `{"t":4,"p":0,"note":"phase","text":"move=0000000000000000"}` + "\n"
}

// manyPhases returns notes of a tick with more phases and streams than count, and of the next tick.
func manyPhases() (notes string) {
	for i := range 13 {
		notes += phaseNote(4, 0, strings.TrimSpace(strings.Repeat(fmt.Sprintf("%s%d#1 ", strings.Repeat("n", 63-i/10), i), 5)))
		notes += phaseNote(4, 0, strings.TrimSpace(strings.Repeat(fmt.Sprintf("p%d=%016x ", i, i), 5)))
	}
	return notes + phaseNote(5, 0, "move=0000000000000000 dice#1")
}

// goodRecordings are whole and torn recordings.
func goodRecordings() []Built {
	ok := func(id, about, text string, rules ...string) Built {
		return recordingCase(id, "ok", about, text, rules...)
	}
	torn := func(id, about, text string, rules ...string) Built {
		return recordingCase(id, "torn", about, text, rules...)
	}
	of := func(lines string) string { return recordingHeader + lines + recordingEnd }
	own := func(lines string) string { return ownHeader + lines + recordingEnd }
	squashed := gzipped(foreignMatch, gzip.NoCompression)
	return []Built{
		ok("recording-least", "A header and an end.", recordingHeader+`{"t":0,"end":true}`+"\n", "R-text", "R-header", "R-end", "R-lines"),
		ok("recording-match", "The match of the page.", foreignMatch, "R-header", "R-command", "R-sum", "R-note", "R-end", "R-order-sum", "R-sequence", "R-topics"),
		ok("recording-own", "Every field of a header, sums of sections, and a state in two parts.", own(`{"t":0,"p":0,"sum":"9ae16a3b2f90404f","sections":["d7c06285b9de677a","01ba4719c80b6fe9"]}
{"t":1,"p":0,"sum":"C126F8BD03A9A491"}
{"t":1,"p":0,"state":"AQAAAAEAAAA=","more":true}
{"t":1,"p":0,"state":"AADAPwAAAMA="}
`), "R-header", "R-sum", "R-state", "R-parts", "R-type"),
		ok("recording-gzip", "Compressed.", squashed, "R-text"),
		ok("recording-mark", "A byte order mark.", "\xef\xbb\xbf"+foreignMatch, "R-text"),
		ok("recording-gzip-mark", "A byte order mark, compressed.", gzipped("\xef\xbb\xbf"+foreignMatch, gzip.NoCompression), "R-text"),
		ok("recording-crlf", "Line ends of Windows, and an empty line at the end.", strings.ReplaceAll(foreignMatch, "\n", "\r\n")+"\r\n", "R-text"),
		ok("recording-no-line-end", "The last line has no line end.", strings.TrimSpace(foreignMatch), "R-text"),
		ok("recording-escapes", "Escaped characters, and a surrogate pair.", of(`{"t":1,"p":1,"note":"chat","text":"\u0041\n\ud83d\ude00\\ud800"}`+"\n"), "R-json"),
		ok("recording-rate", "A tick rate far below 1.", `{"log":1,"title":"","tick_rate_hz":1.25e-1,"players":250}`+"\n"+recordingEnd, "R-header"),
		ok("recording-last-tick", "The last tick, and numbers at the end of their ranges.", recordingHeader+
			`{"t":2147483647,"p":1,"s":4294967295,"k":65535,"d":"AA=="}`+"\n"+`{"t":2147483647,"end":true}`+"\n", "R-command", "R-end"),
		ok("recording-late", "A checksum, a state and an order that stand later than their ticks.", own(`{"t":5,"p":1,"s":1,"k":1,"d":""}
{"t":3,"p":0,"sum":"0000000000000003"}
{"t":2,"p":0,"state":"AgAAAAAAAAA="}
{"t":1,"order":"6ef05bae62951a5c"}
`), "R-ascending", "R-order"),
		ok("recording-long", "Checksums of 128 bits, one with capital letters, and one of 64 bits.", of(`{"t":3,"p":0,"sum":"000102030405060708090a0b0c0d0e0f"}
{"t":3,"p":1,"sum":"000102030405060708090A0B0C0D0E0F"}
{"t":6,"p":0,"sum":"0000000000000001"}
{"t":6,"p":1,"sum":"00000000000000000000000000000001"}
`), "R-long", "R-sum"),
		ok("recording-same-sum", "The same checksum twice counts once.", of(strings.Repeat(`{"t":3,"p":0,"sum":"0000000000000001"}`+"\n", 2)), "R-once"),
		ok("recording-own-topic", "A topic with a dot.", of(`{"t":0,"note":"com.example.version","text":"7"}`+"\n"), "R-topics"),
		ok("recording-phases", "Phases and draws of two ticks, of which one has two notes, and those of another player, which do not count.", own(phaseNote(4, 0, "move=00000000000000ff collide=0000000000000001 dice#12 move=00000000000000ff")+
			phaseNote(4, 0, "a-Z9._/:#18446744073709551615")+ownSums(4)+phaseNote(4, 1, "move=0000000000000001")+phaseNote(5, 0, "dice#0")), "R-phases"),
		ok("recording-phases-server", "Phases of a server stand in notes about the match.", of(`{"t":4,"note":"phases","text":"move=0000000000000001"}`+"\n"+phaseNote(4, 0, "move=0000000000000002")), "R-phases"),
		ok("recording-phases-form", "Notes of another form have no phases.", own(otherPhases()), "R-phases"),
		ok("recording-phases-many", "The 65th phase and the 65th stream of a tick do not count.", own(manyPhases()), "R-phases"),
		ok("recording-begins", "A gap at the beginning.", own(`{"t":0,"gap":3}`+"\n"+ownSums(4, 5)+`{"t":5,"p":1,"s":9,"k":1,"d":""}`+"\n"+ownSums(6)), "R-gap", "R-gaps"),
		ok("recording-gap", "A gap between commands.", own(`{"t":1,"p":1,"s":1,"k":1,"d":""}`+"\n"+`{"t":2,"gap":5}`+"\n"+`{"t":6,"p":1,"s":2,"k":1,"d":""}`+"\n"), "R-gap", "R-gaps"),
		ok("recording-begins-late", "The first checksum is later than an interval: the recording begins there.", own(ownSums(5, 6, 7, 8, 9)), "R-gaps"),
		ok("recording-begins-command", "It begins with a command before the first checksum.", own(`{"t":4,"p":1,"s":9,"k":1,"d":""}`+"\n"+ownSums(5, 6, 7, 8, 9)), "R-gaps"),
		ok("recording-gap-inferred", "Two checksums in a row are missing.", ownHeader+ownSums(0, 1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13)+`{"t":13,"end":true}`+"\n", "R-gaps"),
		ok("recording-no-gap", "One checksum is missing.", ownHeader+ownSums(0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12)+`{"t":12,"end":true}`+"\n", "R-gaps"),
		ok("recording-no-gap-command", "Two checksums are missing, and a command of these ticks is there.", ownHeader+ownSums(0, 1, 2, 3, 4, 5, 6)+`{"t":7,"p":1,"s":1,"k":1,"d":""}`+"\n"+ownSums(9, 10, 11, 12, 13)+`{"t":13,"end":true}`+"\n", "R-gaps"),
		ok("recording-irregular", "Checksums at irregular ticks tell nothing about gaps.", own(ownSums(3, 4, 7, 9)), "R-gaps"),
		ok("recording-empty-state", "The type of a state has no fields.", `{"log":1,"title":"","tick_rate_hz":1,"players":1,"state":"struct{}"}`+"\n"+`{"t":0,"p":0,"state":""}`+"\n"+recordingEnd, "R-type"),
		ok("recording-types", "Every kind of type, with line ends for semicolons.", `{"log":1,"title":"","tick_rate_hz":1,"players":1,"state":"struct {\n A, B bool\n\tC int8; D int16; E int32; F int64\n G uint8; H byte; I uint16; J uint32; K uint64; L float32; M float64; N string; O [2]int8; P []struct { Q bool; }; }"}`+"\n"+
			`{"t":0,"p":0,"state":"AQABAgADAAAABAAAAAAAAAAFBgcACAAAAAkAAAAAAAAAAADAPwAAAAAAAADAAQAAAHgBAgEAAAAB"}`+"\n"+recordingEnd, "R-type"),
		torn("recording-no-end", "The end is missing.", strings.TrimSuffix(foreignMatch, recordingEnd), "R-torn"),
		torn("recording-cut-line", "The last line is cut.", foreignMatch[:len(foreignMatch)-25], "R-torn"),
		torn("recording-cut-end", "The end is cut.", foreignMatch[:len(foreignMatch)-3], "R-torn"),
		torn("recording-cut-gzip", "The compressed stream is cut.", squashed[:len(squashed)-60], "R-torn"),
		torn("recording-only-header", "Only the header is there.", recordingHeader, "R-torn"),
	}
}

// brokenRecordings are files that a reader refuses.
func brokenRecordings() []Built {
	bad := func(id, about, text string, rules ...string) Built {
		return recordingCase(id, "invalid", about, text, rules...)
	}
	of := func(id, about, line string, rules ...string) Built {
		return bad(id, about, recordingHeader+line+"\n"+recordingEnd, rules...)
	}
	own := func(id, about, line string, rules ...string) Built {
		return bad(id, about, ownHeader+line+"\n"+recordingEnd, rules...)
	}
	header := func(id, about, line string) Built { return bad(id, about, line+"\n"+recordingEnd, "R-header") }
	const command = `{"t":1,"p":0,"s":1,"k":1,"d":""}`
	var full strings.Builder
	for i := range 8193 {
		fmt.Fprintf(&full, `{"t":1,"p":0,"s":%d,"k":1,"d":""}`+"\n", i+1)
	}
	return []Built{
		bad("recording-empty", "A file without bytes.", "", "R-torn"),
		bad("recording-cut-header", "The header is cut.", recordingHeader[:30], "R-torn"),
		bad("recording-after-end", "A line after the end.", recordingHeader+recordingEnd+command+"\n", "R-lines"),
		bad("recording-empty-line", "An empty line between others.", recordingHeader+"\n"+recordingEnd, "R-text"),
		bad("recording-two-marks", "Two byte order marks.", "\xef\xbb\xbf\xef\xbb\xbf"+foreignMatch, "R-text"),
		bad("recording-not-utf8", "A text that is not UTF-8.", recordingHeader+"{\"t\":0,\"note\":\"map\",\"text\":\"\xff\"}\n"+recordingEnd, "R-text"),
		bad("recording-line-long", "A line of more than 1 MiB, compressed.", gzipped(recordingHeader+command+strings.Repeat(" ", 1<<20)+"\n"+recordingEnd, gzip.BestCompression), "R-text"),
		of("recording-two-values", "Two objects on a line.", command+command, "R-json"),
		of("recording-no-object", "A line is no object.", `[1]`, "R-json"),
		of("recording-unknown-field", "An unknown field.", `{"t":1,"p":0,"s":1,"k":1,"d":"","x":1}`, "R-json"),
		of("recording-capitals", "The name of a field has a capital letter.", `{"T":1,"p":0,"s":1,"k":1,"d":""}`, "R-json"),
		of("recording-field-twice", "A field stands twice.", `{"t":1,"t":1,"p":0,"s":1,"k":1,"d":""}`, "R-json"),
		of("recording-null", "A field is null.", `{"t":1,"p":null,"note":"chat","text":""}`, "R-json"),
		of("recording-false", "A field is false.", `{"t":1,"end":false}`, "R-json"),
		of("recording-surrogate", "Half of a surrogate pair.", `{"t":1,"p":0,"note":"chat","text":"\ud83d"}`, "R-json"),
		of("recording-fraction", "A tick that is not whole.", `{"t":1.5,"p":0,"s":1,"k":1,"d":""}`, "R-json"),
		of("recording-mixed", "A command and a checksum on a line.", `{"t":1,"p":0,"s":1,"k":1,"d":"","sum":"0000000000000001"}`, "R-json"),
		recordingCase("recording-version", "unsupported", "Version 2.", `{"log":2,"title":"","tick_rate_hz":1,"players":1}`+"\n"+recordingEnd, "R-version"),
		recordingCase("recording-version-fields", "unsupported", "Version 2 with fields of its own.", `{"log":2,"players":{"n":null}}`+"\n", "R-version"),
		header("recording-no-version", "The version is missing.", `{"title":"","tick_rate_hz":1,"players":1}`),
		header("recording-no-rate", "The tick rate is missing.", `{"log":1,"title":"","players":1}`),
		header("recording-rate-zero", "A tick rate of 0.", `{"log":1,"title":"","tick_rate_hz":0,"players":1}`),
		header("recording-rate-high", "A tick rate above 1,000.", `{"log":1,"title":"","tick_rate_hz":1000.5,"players":1}`),
		header("recording-rate-text", "A tick rate as text.", `{"log":1,"title":"","tick_rate_hz":"20","players":1}`),
		header("recording-no-players", "No seats.", `{"log":1,"title":"","tick_rate_hz":1,"players":0}`),
		header("recording-many-players", "251 seats.", `{"log":1,"title":"","tick_rate_hz":1,"players":251}`),
		header("recording-by", "A player who has no seat recorded.", `{"log":1,"title":"","tick_rate_hz":1,"players":2,"by":2}`),
		header("recording-match-empty", "An empty name of the match.", `{"log":1,"title":"","tick_rate_hz":1,"players":2,"match":""}`),
		header("recording-sections-none", "An empty list of sections.", `{"log":1,"title":"","tick_rate_hz":1,"players":2,"sections":[]}`),
		header("recording-sections-twice", "Two sections of one name.", `{"log":1,"title":"","tick_rate_hz":1,"players":2,"sections":["A","A"]}`),
		of("recording-command-player", "A command of a player who has no seat.", `{"t":1,"p":2,"s":1,"k":1,"d":""}`, "R-command"),
		of("recording-command-no-player", "A command without a player.", `{"t":1,"s":1,"k":1,"d":""}`, "R-command"),
		of("recording-command-kind", "A kind above 65,535.", `{"t":1,"p":0,"s":1,"k":65536,"d":""}`, "R-command"),
		of("recording-command-part", "A command without a payload.", `{"t":1,"p":0,"s":1,"k":1}`, "R-command"),
		of("recording-base64", "Base64 without padding.", `{"t":1,"p":0,"s":1,"k":1,"d":"AQI"}`, "R-command"),
		of("recording-base64-bits", "Unused bits of base64 are not 0.", `{"t":1,"p":0,"s":1,"k":1,"d":"AQJ="}`, "R-command"),
		of("recording-sequence-zero", "A sequence of 0.", `{"t":1,"p":0,"s":0,"k":1,"d":""}`, "R-sequence"),
		of("recording-sequence-again", "A sequence comes again in a later tick.", command+"\n"+`{"t":2,"p":0,"s":1,"k":1,"d":""}`, "R-sequence"),
		of("recording-sequence-twice", "A sequence comes twice in a tick.", command+"\n"+command, "R-sequence"),
		of("recording-sum-short", "A checksum of 15 digits.", `{"t":1,"p":0,"sum":"000000000000001"}`, "R-sum"),
		of("recording-sum-digits", "A checksum with a sign.", `{"t":1,"p":0,"sum":"+00000000000000a"}`, "R-sum"),
		of("recording-sum-long", "A checksum of 31 digits.", `{"t":1,"p":0,"sum":"0000000000000000000000000000001"}`, "R-long"),
		of("recording-sum-sections", "Sums of sections that the header does not name.", `{"t":1,"p":0,"sum":"0000000000000001","sections":["0000000000000001"]}`, "R-sum"),
		of("recording-two-sums", "Two checksums of a player and a tick.", `{"t":1,"p":0,"sum":"0000000000000001"}`+"\n"+`{"t":1,"p":0,"sum":"0000000000000002"}`, "R-once"),
		of("recording-state-no-type", "A state whose type the header does not give.", `{"t":1,"p":0,"state":""}`, "R-state"),
		own("recording-two-states", "Two states of a player and a tick.", `{"t":1,"p":0,"state":"AQAAAAAAAAA="}`+"\n"+`{"t":1,"p":0,"state":"AQAAAAAAAAA="}`, "R-once"),
		own("recording-state-type", "A state of another type.", `{"t":1,"p":0,"state":"AQAAAAAA"}`, "R-parts"),
		own("recording-parts-apart", "Another line between the parts of a state.", `{"t":1,"p":0,"state":"AQAAAAAA","more":true}`+"\n"+command+"\n"+`{"t":1,"p":0,"state":"AAA="}`, "R-parts"),
		own("recording-parts-tick", "Parts of two ticks.", `{"t":1,"p":0,"state":"AQAAAAAA","more":true}`+"\n"+`{"t":2,"p":0,"state":"AAA="}`, "R-parts"),
		of("recording-note-no-topic", "A note with an empty topic.", `{"t":1,"p":0,"note":"","text":""}`, "R-note"),
		of("recording-note-long", "A note of 1,025 bytes.", `{"t":1,"p":0,"note":"chat","text":"`+strings.Repeat("n", 1025)+`"}`, "R-note"),
		of("recording-note-system", "A note of player 255.", `{"t":1,"p":255,"note":"chat","text":""}`, "R-note"),
		of("recording-gap-player", "A gap of a player.", `{"t":1,"p":0,"gap":2}`, "R-gap"),
		of("recording-gap-back", "A gap that ends before it begins.", `{"t":2,"gap":1}`, "R-gap"),
		bad("recording-gap-last", "A gap up to the last tick that there can be.", recordingHeader+`{"t":2,"gap":2147483647}`+"\n"+`{"t":2147483647,"end":true}`+"\n", "R-gap"),
		of("recording-gap-command", "A command in a gap.", `{"t":1,"gap":5}`+"\n"+`{"t":5,"p":0,"s":1,"k":1,"d":""}`, "R-gaps"),
		of("recording-order-player", "An order of a player.", `{"t":1,"p":0,"order":"0000000000000001"}`, "R-order"),
		of("recording-order-digits", "An order of 32 digits.", `{"t":1,"order":"00000000000000000000000000000001"}`, "R-order"),
		bad("recording-tick-large", "A tick of 2^31.", recordingHeader+`{"t":2147483648,"end":true}`+"\n", "R-end"),
		bad("recording-end-more", "An end with a player.", recordingHeader+`{"t":9,"p":0,"end":true}`+"\n", "R-end"),
		bad("recording-end-early", "An end before a command.", recordingHeader+`{"t":10,"p":0,"s":1,"k":1,"d":""}`+"\n"+recordingEnd, "R-ascending"),
		of("recording-descending", "A command after one of a later tick.", `{"t":2,"p":0,"s":1,"k":1,"d":""}`+"\n"+`{"t":1,"p":1,"s":1,"k":1,"d":""}`, "R-ascending"),
		bad("recording-full-tick", "A tick with 8,193 commands, compressed.", gzipped(recordingHeader+full.String()+recordingEnd, gzip.BestCompression), "R-tick"),
		header("recording-type-map", "A type with a map.", `{"log":1,"title":"","tick_rate_hz":1,"players":1,"state":"struct { M map[string]bool }"}`).also("R-type"),
		header("recording-type-no-struct", "A type that is no struct.", `{"log":1,"title":"","tick_rate_hz":1,"players":1,"state":"[]uint8"}`).also("R-type"),
		header("recording-type-twice", "Two fields of one name.", `{"log":1,"title":"","tick_rate_hz":1,"players":1,"state":"struct { A bool; A bool }"}`).also("R-type"),
	}
}

// also adds a rule.
func (b Built) also(rule string) Built {
	b.Rules = append(b.Rules, rule)
	return b
}

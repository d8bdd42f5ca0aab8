// Package matchlog reads matches of other games, in a neutral form: lines of
// JSON, maybe compressed with gzip.
//
//	{"log":1,"title":"…","tick_rate_hz":10,"players":8}    the first line
//	{"t":29,"p":1,"s":3,"k":12,"d":"AQAA…"}                a command: tick, player, sequence, kind, payload in base64
//	{"t":50,"p":1,"sum":"c126f8bd03a9a491"}                a checksum that a player reported of a tick
//	{"t":70,"p":1,"note":"chat","text":"gg"}               what a player said, or with no "p", something about the match
//	{"t":19000,"end":true}                                 the last line: how many ticks there are
//
// docs/import.md has all fields and bounds. Commands and notes stand in order of
// ticks; a checksum may be reported later than at its tick. A [Reader] gives them one by one:
//
//	r, err := matchlog.NewReader(file)
//	for {
//		e, err := r.Next() // io.EOF after the last line
//	}
package matchlog

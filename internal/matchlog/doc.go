// Package matchlog reads matches of other engines in a neutral format: lines of JSON,
// optionally compressed with gzip.
//
//	{"log":1,"title":"…","tick_rate_hz":10,"players":8}    the first line
//	{"t":29,"p":1,"s":3,"k":12,"d":"AQAA…"}                a command: tick, player, sequence, kind, payload in base64
//	{"t":50,"p":1,"sum":"c126f8bd03a9a491"}                a checksum that a player reported for a tick
//	{"t":60,"gap":69}                                      nothing was recorded from tick 60 to tick 69
//	{"t":70,"p":1,"note":"chat","text":"gg"}               a note of a player, or without "p" of the match
//	{"t":19000,"end":true}                                 the last line: the number of ticks
//
// docs/spec/recordings.md has all fields and limits. Commands and notes are in the order of ticks;
// a checksum may come later than its tick. A [Reader] returns them one by one:
//
//	r, err := matchlog.NewReader(file)
//	for {
//		e, err := r.Next() // io.EOF after the last line
//	}
package matchlog

package live

// A Desync describes this client's last desync.
type Desync struct {
	Planted string  `json:"planted"` // the field that was corrupted on purpose; "" for none
	At      uint32  `json:"at"`      // the tick of that
	Tick    uint32  `json:"tick"`    // of the mismatching check; 0 before
	Agreed  uint32  `json:"agreed"`  // the last check that agreed, as far as known
	Section string  `json:"section"` // the first different section; "" if unknown
	Seen    uint32  `json:"seen"`    // the tick of the comparison of both states; 0 before
	Fields  []Field `json:"fields"`  // the first different fields
	Total   int     `json:"total"`   // number of different fields
	Again   string  `json:"again"`   // what computing the ticks again has shown, as [protocol.Outcome.String] has it; "" before
	From    uint32  `json:"from"`    // the tick with whose state that began
	Healed  uint32  `json:"healed"`  // the check that agreed again; 0 before
	Number  int     `json:"number"`  // of desyncs so far
}

// A Mismatch says whose states differ, as everybody in the match hears it.
type Mismatch struct {
	Tick   uint32      `json:"tick"`
	Groups []Reporters `json:"groups"`
}

// Reporters are the players with one checksum.
type Reporters struct {
	Hash    string `json:"hash"`    // 16 hexadecimal digits
	Agreed  bool   `json:"agreed"`  // it is the match's, whose players are not listed
	Players []int  `json:"players"` // by seat
}

// A Field is a field that differs.
type Field struct {
	Path   string `json:"path"`
	Ours   string `json:"ours"`
	Theirs string `json:"theirs"`
}

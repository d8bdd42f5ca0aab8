package play

// A Button is an action that is possible now.
type Button struct {
	Action string `json:"action"` // for [Player.Do]
	Label  string `json:"label"`
	Key    string `json:"key"` // its shortcut
	Cost   uint32 `json:"cost"`
	Able   bool   `json:"able"`
	On     bool   `json:"on"` // the mode is this
	Hint   string `json:"hint"`
}

package lockstep

import "encoding/hex"

const (
	// Protocol numbers the format of records and messages.
	Protocol = 1

	// Engine names this engine's rules: how commands are ordered and system
	// commands are placed. It changes only when the same log would give another
	// match.
	Engine = "samestep/1"
)

// A MatchID tells matches apart. Whoever starts a match draws it at random; the
// engine only compares it.
type MatchID [16]byte

// String returns the id as 32 hex digits.
func (id MatchID) String() string { return hex.EncodeToString(id[:]) }

// A Header is the log's first record: everything that must be known to make
// the match's states again, and everything needed to read them without the
// game's code.
type Header struct {
	Protocol uint32
	Engine   string
	Game     string
	Build    string
	Match    MatchID
	Platform string // of the recorder, for people: "linux/amd64 go1.26"
	Settings Settings

	Config       []byte // canonical bytes of the game's configuration
	ConfigSchema []byte // its description, see state.ParseSchema
	StateSchema  []byte // the state's description
	Commands     []CommandDescription
}

// A CommandDescription is a [CommandType] as the log describes it.
type CommandDescription struct {
	Kind   Kind
	Name   string
	Schema []byte // the payload's description, see state.ParseSchema
}

package record

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
	"github.com/seed-49bee653/samestep/internal/pack"
)

const (
	// Protocol numbers the format of records and messages. No other has been released.
	Protocol = 1

	// Engine names this engine's rules: how commands are ordered and system
	// commands are placed. It changes only when the same log would give another
	// match.
	Engine = "samestep/1"
)

// A MatchID identifies a match. Draw it at random when a match starts; the engine
// only compares it.
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
	Sources  string // of the recorder's program, for people, see [ParseSources]; empty if not known
	Settings Settings

	Config       []byte // canonical bytes of the game's configuration
	ConfigSchema []byte // its description, see state.ParseSchema
	StateSchema  []byte // the state's description
	Commands     []CommandDescription
	ResultSchema []byte // the description of the result of rules that end the match; empty for other rules
}

// Fingerprints returns the xxHash64 of the description of the state, and of those of all kinds of commands.
func (h *Header) Fingerprints() (state, commands uint64) {
	//samestep:allow unseen xxHash64 is the same function in assembly and in Go
	return xxhash.Sum64(h.StateSchema), CommandFingerprint(h.Commands)
}

// CommandFingerprint returns the xxHash64 of the descriptions of kinds of commands.
func CommandFingerprint(all []CommandDescription) uint64 {
	var b []byte
	for _, d := range all {
		b = binary.LittleEndian.AppendUint16(b, uint16(d.Kind))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(d.Name)))
		b = append(b, d.Name...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(d.Schema)))
		b = append(b, d.Schema...)
	}
	//samestep:allow unseen xxHash64 is the same function in assembly and in Go
	return xxhash.Sum64(b)
}

// A CommandDescription is a [CommandType] as the log describes it.
type CommandDescription struct {
	Kind   CommandKind
	Name   string
	Schema []byte // the payload's description, see state.ParseSchema
}

// CheckName returns an error unless name can stand in a header.
func CheckName(what, name string) error {
	if name == "" || len(name) > MaxName || !utf8.ValidString(name) {
		return fmt.Errorf("%s %q: want 1 to %d bytes of UTF-8", what, pack.Clip(name, MaxName), MaxName)
	}
	return nil
}

// CheckSchemas returns an error if the schema descriptions are larger than a
// header can have. Compiled, they take some twenty times as many bytes.
func (h *Header) CheckSchemas() error {
	n := len(h.ConfigSchema) + len(h.StateSchema) + len(h.ResultSchema)
	for i := range h.Commands {
		n += len(h.Commands[i].Schema)
	}
	if n > maxSchemas {
		return fmt.Errorf("got schemas of %d bytes in all, want at most %d", n, maxSchemas)
	}
	return nil
}

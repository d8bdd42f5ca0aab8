package record

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/state"
)

const (
	// Protocol numbers the format of records and messages. No other has been released.
	Protocol = 1

	// Engine names this engine's rules: how commands are ordered and placed. It changes only when the same log would give another match.
	Engine = "samestep/1"
)

// A MatchID identifies a match. Draw it at random when a match starts; the engine only compares it.
type MatchID [16]byte

// String returns the id as 32 hex digits.
func (id MatchID) String() string { return hex.EncodeToString(id[:]) }

// A Header is the log's first record: all that must be known to make the match's states again, and to read them without the game's code.
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

// CheckSchemas returns an error if the descriptions are larger than a header can have. Compiled, they take twenty times as many bytes.
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

const (
	// CommandWindow is how many sequences of a player the engine remembers, and how far a new one may be ahead of the highest.
	CommandWindow = 256

	// CheckWindow is how many of the last checked ticks accept reports.
	CheckWindow = 32
)

// Settings are the engine's own parameters of a match. The log has them, and every machine takes them from there.
type Settings struct {
	Seed          uint64 `json:"seed,string"`    // for the game's randomness; if it is 0, a server draws one
	Players       uint8  `json:"players"`        // seats, 1 to MaxPlayers
	TickMicros    uint32 `json:"tick_micros"`    // microseconds of a tick when played live, 1,000 to 60,000,000; see [TickPeriod]
	CheckEvery    uint16 `json:"check_every"`    // ticks from one checksum to the next, at least 1
	KeyframeEvery uint32 `json:"keyframe_every"` // ticks from one keyframe to the next; 0: only the first

	// Relay says that the match has no referee, so its log goes on where the rules, which have a result, end the match.
	Relay bool `json:"relay,omitempty"`
}

const (
	minTickMicros = 1000
	maxTickMicros = 60_000_000
)

// TickPeriod returns the TickMicros of a number of ticks per second, 1 to 1000.
func TickPeriod(rate uint16) uint32 {
	r := max(1, uint32(rate))
	return (1_000_000 + r/2) / r
}

// DefaultSettings returns settings with 20 ticks a second, a checksum every second, a keyframe every minute, and the seed 0: none.
func DefaultSettings(players uint8) Settings {
	return Settings{Players: players, TickMicros: TickPeriod(20), CheckEvery: 20, KeyframeEvery: 1200}
}

// Check returns an error that names the setting that is out of its range.
func (s *Settings) Check() error {
	switch {
	case s.Players < 1 || s.Players > MaxPlayers:
		return fmt.Errorf("lockstep: setting players: got %d, want 1 to %d", s.Players, MaxPlayers)
	case s.TickMicros < minTickMicros || s.TickMicros > maxTickMicros:
		return fmt.Errorf("lockstep: setting tick micros: got %d, want %d to %d", s.TickMicros, minTickMicros, maxTickMicros)
	case s.CheckEvery < 1:
		return fmt.Errorf("lockstep: setting check every: got 0, want at least 1")
	}
	return nil
}

// TickRate returns the ticks per second, rounded, at least 1; 1 without a period, which a server can send in a view.
func (s *Settings) TickRate() uint16 { return uint16(max(1, (second+s.period()/2)/s.period())) }

// Micros returns the time of a number of ticks at full speed in microseconds.
func (s *Settings) Micros(ticks int64) int64 { return ticks * s.period() }

// TicksIn returns how many ticks are due in a time in microseconds at full speed, rounded down.
func (s *Settings) TicksIn(micros int64) int64 { return micros / s.period() }

const second = 1_000_000 // microseconds

func (s *Settings) period() int64 {
	if s.TickMicros == 0 {
		return second
	}
	return int64(s.TickMicros)
}

// A HeaderDifference is one thing that two headers say differently.
type HeaderDifference struct {
	Field string `json:"field"` // "build", "setting seed", "configuration Size", "state schema, field Units[].Pos", …
	A     string `json:"a"`
	B     string `json:"b"`
}

// String returns the difference as one line: "build: 1 → 2".
func (d HeaderDifference) String() string { return fmt.Sprintf("%s: %s → %s", d.Field, d.A, d.B) }

type headerField struct {
	name     string
	identity bool // all machines of a match have it in common
	value    any
}

// fields returns what [DiffHeaders] and [Header.CheckIdentity] compare, in order.
func (h *Header) fields() []headerField {
	s := &h.Settings
	return []headerField{
		{"protocol", true, h.Protocol},
		{"engine", true, h.Engine},
		{"game", true, h.Game},
		{"build", true, h.Build},
		{"match", false, h.Match},
		{"platform", false, h.Platform},
		{"sources", false, h.Sources},
		{"setting seed", false, s.Seed},
		{"setting players", false, s.Players},
		{"setting tick micros", false, s.TickMicros},
		{"setting check every", false, s.CheckEvery},
		{"setting keyframe every", false, s.KeyframeEvery},
		{"setting relay", false, s.Relay},
		{"configuration schema", true, schema(h.ConfigSchema)},
		{"configuration", false, config{h.ConfigSchema, h.Config}},
		{"state schema", true, schema(h.StateSchema)},
		{"number of command kinds", true, len(h.Commands)},
		{"command", true, h.Commands},
		{"result schema", true, schema(h.ResultSchema)},
	}
}

type schema []byte

type config struct{ schema, bytes []byte }

// diff returns how two headers differ in a field. An error says that the first difference is an unreadable schema of the first header.
func (f headerField) diff(other any) ([]HeaderDifference, error) {
	switch x := f.value.(type) {
	case schema:
		return diffSchemas(f.name, x, other.(schema))
	case config:
		return diffConfigs(f.name, x, other.(config)), nil
	case []CommandDescription:
		return diffCommands(f.name, x, other.([]CommandDescription))
	}
	if f.value == other {
		return nil, nil
	}
	return []HeaderDifference{{f.name, fmt.Sprint(f.value), fmt.Sprint(other)}}, nil
}

// DiffHeaders returns everything that two headers say differently, in their order. Those of one match may differ in the platform.
func DiffHeaders(a, b *Header) []HeaderDifference {
	var all []HeaderDifference
	theirs := b.fields()
	for i, f := range a.fields() {
		found, _ := f.diff(theirs[i].value) // the differences say enough about a schema that no game wrote
		all = append(all, found...)
	}
	return all
}

// diffCommands compares the kinds of commands that both headers have. It stops at the first kind that is another one.
func diffCommands(name string, a, b []CommandDescription) (all []HeaderDifference, err error) {
	for i := range min(len(a), len(b)) {
		x, y := &a[i], &b[i]
		if x.Kind != y.Kind || x.Name != y.Name {
			return append(all, HeaderDifference{name, fmt.Sprintf("%d %q", x.Kind, x.Name), fmt.Sprintf("%d %q", y.Kind, y.Name)}), err
		}
		found, wrong := diffSchemas("schema of command "+x.Name, x.Schema, y.Schema)
		if len(all) == 0 {
			err = wrong
		}
		all = append(all, found...)
	}
	return all, err
}

const maxConfigDifferences = 16

// diffConfigs compares two configurations field by field, if they have the same fields.
func diffConfigs(name string, a, b config) (all []HeaderDifference) {
	if string(a.schema) != string(b.schema) || string(a.bytes) == string(b.bytes) {
		return nil
	}
	var found state.Differences
	s, err := state.ParseSchema(a.schema)
	if err == nil {
		found, err = s.Diff(a.bytes, b.bytes, maxConfigDifferences)
	}
	if err != nil { // no game wrote it
		return []HeaderDifference{{name, sumText(a.bytes), sumText(b.bytes)}}
	}
	for _, d := range found.List {
		all = append(all, HeaderDifference{name + " " + d.Path, d.A, d.B})
	}
	return all
}

// diffSchemas names the first field in which two schemas differ. It returns an error, too, if a is no schema.
func diffSchemas(name string, a, b []byte) ([]HeaderDifference, error) {
	if string(a) == string(b) {
		return nil, nil
	}
	if len(a) == 0 || len(b) == 0 { // rules without a result
		return []HeaderDifference{{name, schemaText(a), schemaText(b)}}, nil
	}
	x, err := state.ParseSchema(a)
	y, errB := state.ParseSchema(b)
	if err == nil && errB == nil {
		if path, g, w, ok := firstDifference(x.Root(), y.Root()); ok {
			return []HeaderDifference{{name + ", field " + path, g, w}}, nil
		}
	}
	return []HeaderDifference{{name, sumText(a), sumText(b)}}, err
}

// firstDifference returns the path of the first node in which two schemas differ, and what stands there.
func firstDifference(got, want state.Node) (path, g, w string, ok bool) {
	if g, w = nodeText(got), nodeText(want); g != w {
		return want.Path(), g, w, true
	}
	switch want.Kind() {
	case state.Array, state.Slice:
		return firstDifference(got.Elem(), want.Elem())
	case state.Struct:
		for i := range max(got.NumFields(), want.NumFields()) {
			switch {
			case i >= got.NumFields():
				return want.Field(i).Path(), "none", nodeText(want.Field(i)), true
			case i >= want.NumFields():
				return got.Field(i).Path(), nodeText(got.Field(i)), "none", true
			}
			if path, g, w, ok = firstDifference(got.Field(i), want.Field(i)); ok {
				return path, g, w, true
			}
		}
	}
	return "", "", "", false
}

func nodeText(n state.Node) string {
	s := n.Kind().String()
	if n.Kind() == state.Array {
		s = fmt.Sprintf("array of %d", n.Len())
	}
	if n.FractionBits() > 0 {
		s += fmt.Sprintf(" with %d fraction bits", n.FractionBits())
	}
	if n.Name() != "" {
		s = n.Name() + " " + s
	}
	return s
}

func schemaText(b []byte) string {
	if len(b) == 0 {
		return "none"
	}
	return sumText(b)
}

//samestep:allow unseen xxHash64 is the same function in assembly and in Go
func sumText(b []byte) string { return checksum.FormatHash(xxhash.Sum64(b)) }

// An IdentityError says why two machines, or a machine and a log, cannot share a match.
type IdentityError struct {
	Field string // what differs: "game", "build", "state schema", …
	Got   string // the other side's
	Want  string // ours
}

// Error names a field of a schema as each side has it.
func (e *IdentityError) Error() string {
	if what, path, ok := strings.Cut(e.Field, ", field "); ok {
		return fmt.Sprintf("lockstep: other %s: your build has %s, the match has %s", what, fieldText(path, e.Want), fieldText(path, e.Got))
	}
	return fmt.Sprintf("lockstep: other %s: got %s, want %s", e.Field, e.Got, e.Want)
}

// fieldText returns a node of a schema with its path, "Units[].Armor uint16". Its text begins with its name.
func fieldText(path, node string) string {
	switch {
	case node == "none":
		return "no " + path
	case strings.HasSuffix(path, "]"): // an element has no name
		return path + " " + node
	}
	return path[:strings.LastIndexByte(path, '.')+1] + node
}

// CheckIdentity returns an [*IdentityError] that names the first difference of the game of h from that of want.
func (h *Header) CheckIdentity(want *Header) error {
	wanted := want.fields()
	for i, f := range h.fields() {
		if !f.identity {
			continue
		}
		switch found, err := f.diff(wanted[i].value); {
		case err != nil:
			return fmt.Errorf("lockstep: %s: %w", found[0].Field, err)
		case len(found) > 0:
			return &IdentityError{found[0].Field, found[0].A, found[0].B}
		}
	}
	return nil
}

// ResultJSON returns a result in canonical bytes as one line of JSON, by the header's schema; "" without a valid result.
func (h *Header) ResultJSON(result []byte) string {
	if len(result) == 0 || len(h.ResultSchema) == 0 {
		return ""
	}
	s, err := state.ParseSchema(h.ResultSchema)
	if err != nil || s.Validate(result) != nil {
		return ""
	}
	var text strings.Builder
	if s.DumpJSON(&text, result) != nil {
		return ""
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// Sources say from which sources a program was built, as the go command wrote it into the program. A field is empty if it is not known.
type Sources struct {
	Module   string `json:"module"`             // path of the module with the rules
	Version  string `json:"version,omitempty"`  // of the module, such as v1.3.0
	Revision string `json:"revision,omitempty"` // of the repository, such as the hexadecimal digits of a git commit
	Modified bool   `json:"modified,omitempty"` // files differed from the revision
}

const modified = "modified"

// String returns the text that [ParseSources] reads, "example.com/hex v1.3.0 3b18e512dba7 modified"; "" without a module.
func (s Sources) String() string {
	if s.Module == "" {
		return ""
	}
	words := []string{s.Module}
	for _, w := range []string{s.Version, s.Revision} {
		if w != "" {
			words = append(words, w)
		}
	}
	if s.Modified {
		words = append(words, modified)
	}
	return strings.Join(words, " ")
}

// ParseSources reads the text of sources. Words that it does not know are a revision, because a revision may be anything.
func ParseSources(text string) (s Sources) {
	for i, w := range strings.Fields(text) {
		switch {
		case i == 0:
			s.Module = w
		case w == modified:
			s.Modified = true
		case len(w) > 1 && w[0] == 'v' && w[1] >= '0' && w[1] <= '9':
			s.Version = w
		default:
			s.Revision = w
		}
	}
	return s
}

const shortRevision = 12

// TextAfter returns the text of the sources that fits behind a platform, with less of the revision and without the version if need be.
func (s Sources) TextAfter(platform string) string {
	short := s
	short.Revision = s.Revision[:min(shortRevision, len(s.Revision))]
	least := short
	least.Version = ""
	for _, one := range []Sources{s, short, least} {
		if len(platform)+len(platformEnd)+len(one.String()) <= MaxName {
			return one.String()
		}
	}
	return ""
}

const platformEnd = "; "

// JoinPlatform returns the text for the platform of a header or an auth: the platform, and the sources unless they are empty or too long.
func JoinPlatform(platform, sources string) string {
	if sources == "" || len(platform)+len(platformEnd)+len(sources) > MaxName {
		return platform
	}
	return platform + platformEnd + sources
}

// SplitPlatform divides the text of [JoinPlatform]. Joined, the parts are the text again.
func SplitPlatform(text string) (platform, sources string) {
	platform, sources, _ = strings.Cut(text, platformEnd)
	if platform == "" || sources == "" {
		return text, ""
	}
	return platform, sources
}

// Checkout returns what git knows the sources by: a revision or a tag. It is "" for none, and for a name that nobody should type.
func (s Sources) Checkout() string {
	for _, text := range []string{s.Revision, s.Version} {
		if strings.HasPrefix(text, "-") || strings.ContainsFunc(text, func(r rune) bool {
			return !strings.ContainsRune("-+._/", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		}) {
			return ""
		}
	}
	if s.Revision != "" || s.Version == "" {
		return s.Revision
	}
	version := strings.TrimSuffix(s.Version, "+incompatible")
	if n := len(version) - shortRevision; n > 0 && version[n-1] == '-' && strings.Count(version, "-") >= 2 {
		return version[n:]
	}
	return version
}

// ShortCheckout returns what Checkout returns, of a revision only the first digits, as people type it.
func (s Sources) ShortCheckout() string {
	if s.Revision == "" {
		return s.Checkout()
	}
	text := s.Checkout()
	return text[:min(shortRevision, len(text))]
}

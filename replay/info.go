package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Info is the content of a replay in numbers, without simulating anything.
type Info struct {
	Header     *lockstep.Header           `json:"-"`
	SizeBytes  int64                      `json:"size_bytes,string"` // of the file
	Ticks      lockstep.Tick              `json:"ticks"`
	Frames     int                        `json:"frames"`   // ticks with commands
	Commands   int                        `json:"commands"` // of players and of the system
	Checksums  int                        `json:"checksums"`
	Mismatches int                        `json:"mismatches"`
	Keyframes  []Keyframe                 `json:"keyframes"`
	Players    []PlayerInfo               `json:"players"` // who took a seat, by number, the system included
	Names      map[lockstep.Player]string `json:"names"`
	Ended      bool                       `json:"ended"`
	Reason     string                     `json:"reason"` // why the match ended
	ByRules    bool                       `json:"ended_by_rules,omitempty"`
	Result     json.RawMessage            `json:"result,omitempty"` // of the rules, by the header's schema

	// Lineage says in which state of which match this one began; nil if it began at its own beginning.
	Lineage *record.Lineage `json:"lineage,omitempty"`

	// Recording says what an imported recording has in addition; nil for other matches.
	Recording *RecordingInfo `json:"recording,omitempty"`

	// StateBytes is the size of all keyframes' states. The rest of SizeBytes is the cost of the ticks.
	StateBytes int64 `json:"state_bytes,string"`

	// RecordBytes is the size of all records, uncompressed.
	RecordBytes int64 `json:"record_bytes,string"`

	// Segments is how many segments there are; 0 if the file is not sealed.
	Segments int `json:"segments"`

	// ContentHash identifies the match's content.
	ContentHash Hash `json:"content_hash"`

	// Signer is the public key in the file's signature, in hexadecimal digits, or empty. The file does not say whose key it is.
	Signer string `json:"signer,omitempty"`

	// Signed says that the Signer's signature is valid for this content.
	Signed bool `json:"signed"`

	// Signatures are all signatures of the file, in its order. The Signer is the first with a valid signature, or else the first.
	Signatures []Signature `json:"signatures,omitempty"`

	// Rules say which module has the rules of the match, and whether it is in the file; nil if the file does not say.
	Rules *Rules `json:"rules,omitempty"`

	// Panic is the first panic of the rules in the file, or nil.
	Panic *Panic `json:"panic,omitempty"`

	// UpTo is the content hash up to a tick, if the caller has added it; see [HashContent].
	UpTo *PartHash `json:"upto,omitempty"`

	// Err is the error of ReadInfo, or nil.
	Err error `json:"-"`
}

// A Keyframe is the place of a keyframe.
type Keyframe struct {
	Tick      lockstep.Tick `json:"tick"`
	Offset    int64         `json:"offset,string"` // of its block in the file
	SizeBytes int           `json:"size_bytes"`    // of the state
}

// Player returns what a player did.
func (info *Info) Player(p lockstep.Player) PlayerInfo {
	for _, did := range info.Players {
		if did.Player == p {
			return did
		}
	}
	return PlayerInfo{Player: p}
}

// ReadInfo reads a replay to its end without a game. With an error, the Info counts the records before it; a wrong keyframe is read on.
func ReadInfo(r *Reader) (*Info, error) {
	info := &Info{SizeBytes: r.Size(), Names: make(map[lockstep.Player]string)}
	var players [256]PlayerInfo
	var absences absences
	content := newContent()
	segment := int64(0)
	var err, odd error // odd: of the first keyframe with another hash
	for rec, next := range r.All() {
		if err = next; err != nil {
			break
		}
		info.add(rec, r.Offset(), &players)
		info.RecordBytes += int64(len(r.Record()))
		if r.sealed && segment != r.Offset() {
			segment = r.Offset()
			info.Segments++
		}
		absences.add(rec, &players)
		content.add(rec)
		if rec.Kind == record.KindKeyframe && odd == nil && !r.holds(info.Header, &rec.Keyframe) {
			odd = r.odd(rec.Tick)
		}
	}
	info.ContentHash = content.sum()
	absences.end(info.Ticks, &players)
	for p := range players {
		if absences.took[p] || players[p] != (PlayerInfo{}) {
			players[p].Player = lockstep.Player(p)
			info.Players = append(info.Players, players[p])
		}
	}
	info.Rules = r.rules
	if err == nil {
		info.Signatures = r.signed(info.ContentHash)
		for _, s := range info.Signatures {
			if info.Signer == "" || !info.Signed && s.Signed {
				info.Signer, info.Signed = s.Signer, s.Signed
			}
		}
	}
	if odd != nil {
		err = odd // it comes before err
	}
	info.Err = err
	return info, err
}

func (info *Info) add(rec *record.Record, offset int64, players *[256]PlayerInfo) {
	if rec.Ticks() > 0 {
		info.Ticks = rec.Tick
	}
	if n := len(rec.Frame.Commands); n > 0 {
		info.Frames++
		info.Commands += n
	}
	for i := range rec.Frame.Commands {
		c := &rec.Frame.Commands[i]
		players[c.Player].Commands++
		players[c.Player].Bytes += len(c.Payload)
	}
	switch rec.Kind {
	case record.KindHeader:
		info.Header = rec.Header
	case record.KindKeyframe:
		size := len(rec.Keyframe.State)
		info.Keyframes = append(info.Keyframes, Keyframe{rec.Tick, offset, size})
		info.StateBytes += int64(size)
	case record.KindChecksum:
		info.Checksums++
	case record.KindMismatch:
		info.Mismatches++
	case record.KindNote:
		if rec.Topic == record.TopicName {
			info.Names[rec.Player] = rec.Text
		}
	case record.KindEvent:
		if l := lineageOf(rec); l != nil && info.Lineage == nil && info.Ticks == 0 {
			info.Lineage = l
		}
	case record.KindForeign:
		info.Recording = info.Recording.add(rec.Line)
	case record.KindPanic:
		info.Panic = cmp.Or(info.Panic, NewPanic(rec))
	case record.KindEnd:
		info.Ended, info.Reason, info.ByRules = true, rec.Text, rec.ByRules
		info.Result = json.RawMessage(info.Header.ResultJSON(rec.Result))
	}
}

// lineageOf returns the lineage in a record, or nil. An unreadable one says nothing.
func lineageOf(rec *record.Record) *record.Lineage {
	if rec.Event != record.EventLineage {
		return nil
	}
	l, err := record.ParseLineage(rec.Text)
	if err != nil {
		return nil
	}
	return &l
}

// PlayerInfo counts what one player did.
type PlayerInfo struct {
	Player    lockstep.Player `json:"player"`
	Commands  int             `json:"commands"`
	Bytes     int             `json:"bytes"`                // of payloads
	TakenOver lockstep.Tick   `json:"taken_over,omitempty"` // ticks in which the seat was taken over
	Inactive  int             `json:"inactive,omitempty"`   // how often it gave no command for a long time, by the policy of the match
}

type absences struct {
	since [256]lockstep.Tick // by seat; 0 for one that is not taken over
	took  [256]bool          // by seat, whether somebody has had it, perhaps without a command
}

func (a *absences) add(rec *record.Record, players *[256]PlayerInfo) {
	if rec.Event == record.EventInactive && rec.Player < lockstep.MaxPlayers {
		players[rec.Player].Inactive++
	}
	for i := range rec.Frame.Commands {
		c := rec.Frame.Commands[i]
		if c.Player != lockstep.System {
			continue
		}
		value, _ := record.SystemValue(&c) // nothing for one of a later version
		switch v := value.(type) {
		case *lockstep.TakenOver:
			a.since[v.Player], a.took[v.Player] = rec.Tick, true
		case *lockstep.Joined:
			a.took[v.Player] = true
			a.back(v.Player, rec.Tick, players)
		case *lockstep.Lost:
			a.took[v.Player] = true
		case *lockstep.Left:
			a.took[v.Player] = true
			a.back(v.Player, rec.Tick, players)
		}
	}
}

func (a *absences) back(p lockstep.Player, t lockstep.Tick, players *[256]PlayerInfo) {
	if since := a.since[p]; since > 0 {
		players[p].TakenOver += t - since
		a.since[p] = 0
	}
}

func (a *absences) end(last lockstep.Tick, players *[256]PlayerInfo) {
	for p := range a.since {
		a.back(lockstep.Player(p), last+1, players)
	}
}

// WriteText writes the Info for people, with control characters escaped. Without a header it writes why the file cannot be read.
func (info *Info) WriteText(w io.Writer) error {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	if info.Header == nil {
		line("end", "unreadable: %v", info.Err)
	} else {
		info.match(line)
		info.content(line)
		info.ends(line)
	}
	t.Flush() // to memory
	_, err := io.WriteString(words.NewCleaner(w), text.String())
	return err
}

func (info *Info) match(line func(name, format string, args ...any)) {
	h := info.Header
	line("game", "%q, build %q", h.Game, h.Build)
	line("match", "%s, recorded on %q", h.Match, h.Platform)
	if h.Sources != "" {
		line("sources", "%s", h.Sources)
	}
	line("settings", "%s", settingsText(h))
	if l := info.Lineage; l != nil {
		line("began", "in the state after tick %d of %q, match %s", l.Tick, l.Name, l.Match)
		line("", "of the content %s", l.Content)
	}
	info.Recording.write(line)
	length := words.Count(info.played(), "tick")
	if info.played() < info.Ticks {
		length += fmt.Sprintf(" after tick %d", info.Keyframes[0].Tick)
	}
	line("length", "%s, %s", length, words.MatchTime(float64(h.Settings.Micros(int64(info.played())))/1e6))
	line("commands", "%s in %s", words.Count(info.Commands, "command"), words.Count(info.Frames, "frame"))
	for _, p := range info.Players {
		who := fmt.Sprintf("  player %d", p.Player)
		if p.Player == lockstep.System {
			who = "  system"
		} else if name := info.Names[p.Player]; name != "" {
			who += fmt.Sprintf(" %q", name)
		}
		line(who, "%s, %s of payload%s", words.Count(p.Commands, "command"), words.Size(p.Bytes), p.absence())
	}
}

func (p *PlayerInfo) absence() (text string) {
	if p.TakenOver > 0 {
		text += fmt.Sprintf("; taken over for %s", words.Count(p.TakenOver, "tick"))
	}
	if p.Inactive > 0 {
		text += fmt.Sprintf("; inactive %s", words.Count(p.Inactive, "time"))
	}
	return text
}

func (info *Info) content(line func(name, format string, args ...any)) {
	line("checksums", "%d agreed, %d mismatching ones of players", info.Checksums, info.Mismatches)
	line("keyframes", "%d, %s", len(info.Keyframes), words.Size(info.StateBytes))
	if info.Segments > 0 {
		line("size", "%s in %s of %s", words.Size(info.SizeBytes), words.Count(info.Segments, "segment"), words.Size(info.RecordBytes))
	} else {
		line("size", "%s, %.2f bytes per tick without keyframes", words.Size(info.SizeBytes), info.BytesPerTick())
	}
	line("content", "%s", info.ContentHash)
	if info.UpTo != nil {
		line("", "%s up to tick %d", info.UpTo.ContentHash, info.UpTo.Tick)
	}
}

func (info *Info) ends(line func(name, format string, args ...any)) {
	switch r := info.Rules; {
	case r == nil:
	case r.SizeBytes == 0:
		line("rules", "%s, which is not in the file", r.Sum)
	default:
		line("rules", "%s, a module of %s in the file", r.Sum, words.Size(r.SizeBytes))
	}
	for _, g := range info.Signatures {
		switch {
		case g.Signer == "":
			line("signature", "of unknown kind %d: not checked", g.Kind)
		case g.Signed && g.Kind == signedRules:
			line("signature", "of the match and its rules, by the key %s", g.Signer)
		case g.Signed:
			line("signature", "by the key %s", g.Signer)
		case g.Kind == signedRules:
			line("signature", "FALSE: the key %s has signed other content, or other rules", g.Signer)
		default:
			line("signature", "FALSE: the key %s has signed other content", g.Signer)
		}
	}
	if info.Panic != nil {
		line("panic", "%v", info.Panic)
	}
	switch {
	case !info.Ended && ClassOf(info.Err) == ClassSuspended:
		line("end", "none: the match is suspended, and a server can resume it")
	case !info.Ended && ClassOf(info.Err) == ClassTorn:
		line("end", "none: the file is still being written, or was cut off")
	case !info.Ended && info.Err == nil:
		line("end", "none: the bundle was written before the end of the match")
	case !info.Ended:
		line("end", "none: the file cannot be read to its end")
	case info.Header.Engine == ForeignEngine && info.Reason == ForeignTorn:
		line("end", "torn: the recording ends early, and commands of its last tick may be missing")
	default:
		line("end", "%q", info.Reason)
		if len(info.Result) > 0 {
			line("result", "%s", info.Result)
		}
	}
}

// settingsText describes the settings in a header. An imported match has no seed and no interval of keyframes.
func settingsText(h *lockstep.Header) string {
	s := &h.Settings
	seats, rate := words.Count(int(s.Players), "seat"), fmt.Sprintf("%d ticks/s", s.TickRate())
	if record.TickPeriod(s.TickRate()) != s.TickMicros {
		rate = fmt.Sprintf("%v ms a tick", float64(s.TickMicros)/1000)
	}
	if h.Engine == ForeignEngine {
		return fmt.Sprintf("%s, %s; imported, so the seed is unknown", seats, rate)
	}
	keyframes := "one keyframe"
	if s.KeyframeEvery > 0 {
		keyframes = "a keyframe every " + words.Count(s.KeyframeEvery, "tick")
	}
	return fmt.Sprintf("seed %d, %s, %s, a checksum every %s, %s", s.Seed, seats, rate, words.Count(int(s.CheckEvery), "tick"), keyframes)
}

// BytesPerTick returns the cost of a tick: the bytes of the uncompressed file without the states of keyframes.
func (info *Info) BytesPerTick() float64 {
	whole := info.SizeBytes
	if info.Segments > 0 {
		whole = info.RecordBytes
	}
	return float64(whole-info.StateBytes) / float64(max(info.played(), 1))
}

func (info *Info) played() lockstep.Tick {
	if len(info.Keyframes) == 0 {
		return info.Ticks
	}
	return info.Ticks - min(info.Ticks, info.Keyframes[0].Tick)
}

// MarshalJSON returns the Info as samestep replay info --json prints it, with the fields of the header and the class of the file.
func (info *Info) MarshalJSON() ([]byte, error) {
	if info.Header == nil {
		return json.Marshal(struct {
			Class Class  `json:"class"`
			Error string `json:"error"`
		}{ClassOf(info.Err), words.OfError(info.Err)})
	}
	type plain Info // without this method
	h := info.Header
	return json.Marshal(struct {
		Game     string            `json:"game"`
		Build    string            `json:"build"`
		Match    string            `json:"match"`
		Engine   string            `json:"engine"`
		Platform string            `json:"platform"`
		Sources  *record.Sources   `json:"sources,omitempty"`
		Settings lockstep.Settings `json:"settings"`
		*plain
		BytesPerTick float64 `json:"bytes_per_tick"`
		Class        Class   `json:"class"`
		Error        string  `json:"error,omitempty"`
	}{h.Game, h.Build, h.Match.String(), h.Engine, h.Platform, info.sources(), h.Settings, (*plain)(info), info.BytesPerTick(), ClassOf(info.Err), words.OfError(info.Err)})
}

func (info *Info) sources() *record.Sources {
	if info.Header.Sources == "" {
		return nil
	}
	s := record.ParseSources(info.Header.Sources)
	return &s
}

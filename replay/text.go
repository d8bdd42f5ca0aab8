package replay

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// WriteText writes the Info for people. Control characters in names and texts of the file are escaped. Without a header
// it writes why the file cannot be read.
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

// match describes the match and what its players did.
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

// absence says when the player was not there.
func (p *PlayerInfo) absence() (text string) {
	if p.TakenOver > 0 {
		text += fmt.Sprintf("; taken over for %s", words.Count(p.TakenOver, "tick"))
	}
	if p.Inactive > 0 {
		text += fmt.Sprintf("; inactive %s", words.Count(p.Inactive, "time"))
	}
	return text
}

// content describes checksums, keyframes, sizes and hashes.
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

// ends describes the rules, the signatures and the end.
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
	if !info.Ended && ClassOf(info.Err) == ClassSuspended {
		line("end", "none: the match is suspended, and a server can resume it")
		return
	}
	if !info.Ended && info.Err == nil {
		line("end", "none: the bundle was written before the end of the match")
		return
	}
	if !info.Ended {
		line("end", "none: the file is cut, damaged or still being written")
		return
	}
	if info.Header.Engine == ForeignEngine && info.Reason == ForeignTorn {
		line("end", "torn: the recording ends early, and commands of its last tick may be missing")
		return
	}
	line("end", "%q", info.Reason)
	if len(info.Result) > 0 {
		line("result", "%s", info.Result)
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

// played returns the number of ticks in the file.
func (info *Info) played() lockstep.Tick {
	if len(info.Keyframes) == 0 {
		return info.Ticks
	}
	return info.Ticks - min(info.Ticks, info.Keyframes[0].Tick)
}

// MarshalJSON returns the Info as samestep replay info --json prints it, with the fields of the header and the class of
// the file.
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

// sources returns from which sources the recorder was built, or nil.
func (info *Info) sources() *record.Sources {
	if info.Header.Sources == "" {
		return nil
	}
	s := record.ParseSources(info.Header.Sources)
	return &s
}

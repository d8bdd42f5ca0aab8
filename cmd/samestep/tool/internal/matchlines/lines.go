//go:build !js

// Package matchlines has the lines of matches of other engines (docs/spec/recordings.md), and converts them to replays.
package matchlines

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// The lines of matches of other engines, as docs/spec/recordings.md has them. Replays have some of them, too.
type (
	CommandLine struct {
		Tick     lockstep.Tick     `json:"t"`
		Player   lockstep.Player   `json:"p"`
		Sequence lockstep.Sequence `json:"s"`
		Kind     lockstep.Kind     `json:"k"`
		Payload  []byte            `json:"d"`
	}
	StateLine struct {
		Tick   uint32 `json:"t"`
		Player uint8  `json:"p"`
		State  []byte `json:"state"`
		More   bool   `json:"more,omitempty"`
	}
	GapLine struct {
		Tick  uint32 `json:"t"`
		Until uint32 `json:"gap"`
	}
	OrderLine struct {
		Tick  uint32 `json:"t"`
		Order string `json:"order"`
	}
	EndLine struct {
		Tick lockstep.Tick `json:"t"`
		End  bool          `json:"end"`
	}
	HeaderLine struct {
		Log      int         `json:"log"`
		Title    string      `json:"title"`
		TickRate json.Number `json:"tick_rate_hz"`
		Players  uint8       `json:"players"`
		Match    string      `json:"match,omitempty"`
		By       *uint8      `json:"by,omitempty"`
		Build    string      `json:"build,omitempty"`
		Platform string      `json:"platform,omitempty"`
		Sections []string    `json:"sections,omitempty"`
		Type     string      `json:"state,omitempty"`
	}
	NoteLine struct {
		Tick   lockstep.Tick    `json:"t"`
		Player *lockstep.Player `json:"p,omitempty"` // nil for a note about the match
		Topic  string           `json:"note"`
		Text   string           `json:"text"`
	}
)

// statePart is the size of the parts of a long state, in bytes: in base64, a line has less than 1 MiB.
const statePart = 512 << 10

// newHeaderLine returns the line of a header, with the whole title.
func newHeaderLine(h *matchlog.Header) HeaderLine {
	l := HeaderLine{
		Log: 1, Title: h.Title, TickRate: json.Number(matchlog.Rate(h.TickMicros)), Players: h.Players,
		Match: h.Match, Build: h.Build, Platform: h.Platform, Sections: h.Sections, Type: h.Type,
	}
	if h.By != matchlog.Nobody {
		l.By = &h.By
	}
	return l
}

// Recorded adds what a header of an imported match has in addition. Of a recording, own is its own header.
func (l *HeaderLine) Recorded(h *lockstep.Header, own *matchlog.Header) {
	if own != nil {
		*l = newHeaderLine(own)
	}
	if h.Build != replay.ForeignBuild {
		l.Build = h.Build
	}
	if h.Platform != replay.ForeignPlatform {
		l.Platform = h.Platform
	}
}

// AppendSumLine appends the line of a checksum, without its end. A match may have a million of them.
func AppendSumLine(dst []byte, t lockstep.Tick, p lockstep.Player, sum string, sections []uint64) []byte {
	dst = strconv.AppendUint(append(dst, `{"t":`...), uint64(t), 10)
	dst = strconv.AppendUint(append(dst, `,"p":`...), uint64(p), 10)
	dst = append(append(dst, `,"sum":"`...), sum...)
	for i, sum := range sections {
		dst = append(append(dst, [2]string{`","sections":["`, `","`}[min(i, 1)]...), checksum.FormatHash(sum)...)
	}
	if len(sections) > 0 {
		return append(dst, `"]}`...)
	}
	return append(dst, `"}`...)
}

// ForeignError returns the error of a line in a replay.
func ForeignError(rec *record.Record, err error) error {
	return fmt.Errorf("after tick %d: %w: %w", rec.Tick, matchlog.ErrMalformed, err)
}

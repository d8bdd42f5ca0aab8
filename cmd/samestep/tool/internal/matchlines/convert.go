//go:build !js

// Package matchlines has the lines of matches of other engines (docs/spec/recordings.md), and converts them to replays.
package matchlines

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/internal/nullgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// ConvertLines makes f a replay if it begins as lines, or as a compressed file.
func ConvertLines(f *replay.File) error {
	if is, err := isLines(f); !is {
		return err
	}
	return f.Convert(func(out, in *os.File) error {
		s, err := Surveyed(in)
		if err != nil {
			return err
		}
		return s.Write(out, in, replay.WriterOptions{})
	})
}

// isLines reports whether a file begins as lines, or as a compressed file.
func isLines(f *replay.File) (bool, error) {
	head, err := FirstBytes(f)
	head = strings.TrimPrefix(head, matchlog.Mark)
	return strings.HasPrefix(head, "{") || strings.HasPrefix(head, "\x1f\x8b"), err
}

// HeaderOfLines returns the header of a file that has lines of a match, and not only those of reports, or nil.
func HeaderOfLines(f *replay.File) (*matchlog.Header, error) {
	if is, err := isLines(f); !is {
		return nil, err
	}
	content, size, err := f.Content()
	if err != nil {
		return nil, err
	}
	r, err := matchlog.NewReader(io.NewSectionReader(content, 0, size))
	if err != nil {
		return nil, nil
	}
	return &r.Header, nil
}

// Write writes the match of a survey as a replay.
func (s *survey) Write(out io.Writer, in io.ReadSeeker, o replay.WriterOptions) error {
	w := replay.NewWriter(out, o)
	if err := (&importer{survey: s, out: w}).run(in); err != nil {
		return err
	}
	return w.Close()
}

// An importer writes a match of another engine as records. It reads the match again: the survey keeps no commands and notes.
type importer struct {
	*survey
	out      lockstep.Log
	err      error // the first one of out
	enc      record.Encoder
	payloads *record.Payloads
	encoded  []byte    // payloads of a tick
	sum      []byte    // the line of a checksum
	silent   [256]bool // players that do not report
	last     [256]lockstep.Sequence
}

func (i *importer) run(in io.ReadSeeker) error {
	if err := i.header(); err != nil {
		return err
	}
	r, content, err := scanned(in, i.first, i)
	if err != nil {
		return err
	}
	if content != i.content || r.Torn() != i.Torn {
		return fmt.Errorf("%w: the file changed while it was read", matchlog.ErrMalformed)
	}
	end := "imported"
	if i.Torn {
		end = replay.ForeignTorn
	}
	return i.append(i.enc.End(end))
}

func (i *importer) header() error {
	var kinds []lockstep.Kind
	for kind, used := range i.kinds {
		if used {
			kinds = append(kinds, lockstep.Kind(kind))
		}
	}
	g, err := nullgame.Of(kinds)
	if err != nil {
		return err
	}
	i.payloads = g.NewPayloads()
	s := lockstep.DefaultSettings(i.match.Players)
	s.TickMicros, s.KeyframeEvery = i.match.TickMicros, 0
	s.Seed, s.CheckEvery = 0, i.every() // the seed is unknown
	h, err := g.NewHeader(i.id, s, &nullgame.Config{})
	if err != nil {
		return err
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		return err
	}
	title := i.match.Title[:min(128, len(i.match.Title))]
	h.Engine, h.Game, h.Sources = replay.ForeignEngine, strings.ToValidUTF8(title, ""), "" // not from the sources of this program
	h.Build, h.Platform = cmp.Or(i.match.Build, replay.ForeignBuild), cmp.Or(i.match.Platform, replay.ForeignPlatform)
	i.append(i.enc.Header(h))
	i.append(i.enc.Keyframe(lockstep.Tick(i.first), sim.Hash(), nil, sim.AppendState(nil)))
	if i.match.Recording() || i.lines { // some line has no other place in a replay, so the header needs one, too
		return i.line(newHeaderLine(&i.match))
	}
	return i.err
}

func (i *importer) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return i.append(i.enc.Foreign(text))
}

func (i *importer) append(record []byte) error {
	if i.err == nil {
		i.err = i.out.Append(record)
	}
	return i.err
}

func (i *importer) next(tick uint32) uint32 {
	if len(i.votes) == 0 {
		return math.MaxUint32
	}
	return max(i.votes[0].tick(), tick+1)
}

func (i *importer) skip(ticks uint32) error {
	for ticks > 0 && i.err == nil {
		n := min(ticks, record.MaxEmptyRun)
		i.append(i.enc.Empty(n))
		ticks -= n
	}
	return i.err
}

func (i *importer) reordered(tick uint32, order uint64) error {
	return i.line(OrderLine{tick, checksum.FormatHash(order)})
}

// sumLine returns the line of a checksum with more than 64 bits.
func (i *importer) sumLine(tick lockstep.Tick, v vote) []byte {
	sum, n := checksum.FormatHash(v.hash), len(i.match.Sections)
	if !v.long() {
		return AppendSumLine(i.sum[:0], tick, v.player(), sum, i.sections.at(v.at, n))
	}
	if !v.sectioned() {
		n = 0
	}
	all := i.sections.at(v.at, 2+n)
	return AppendSumLine(i.sum[:0], tick, v.player(), checksum.FormatHash(all[0])+checksum.FormatHash(all[1]), all[2:])
}

// remark writes a note of the present tick. The survey has the checksums.
func (i *importer) remark(e *matchlog.Entry) error {
	switch {
	case e.Checksum:
		return nil
	case e.Dump:
		return i.state(e)
	case e.Gap:
		return i.line(GapLine{e.Tick, e.Until})
	case e.Order:
		return i.line(OrderLine{e.Tick, checksum.FormatHash(e.Hash)})
	}
	return i.append(i.enc.Note(lockstep.Player(e.Player), e.Topic, e.Text))
}

// state writes a state, in parts of lines that are not too long.
func (i *importer) state(e *matchlog.Entry) error {
	rest := e.State
	for first := true; first || len(rest) > 0; first = false {
		part := rest[:min(len(rest), statePart)]
		rest = rest[len(part):]
		if err := i.line(StateLine{e.Tick, e.Player, part, len(rest) > 0}); err != nil {
			return err
		}
	}
	return i.err
}

func (i *importer) end(tick uint32, commands []play) error {
	f := lockstep.Frame{Tick: lockstep.Tick(tick) + 1, Commands: make([]lockstep.Command, 0, len(commands))}
	size := 0
	for n := range commands {
		size += len(commands[n].payload) + 64 // more than what encoding adds
	}
	i.encoded = slices.Grow(i.encoded[:0], size) // the commands keep what append would leave behind
	for n := range commands {
		e := &commands[n]
		if seq := lockstep.Sequence(e.sequence); seq <= i.last[e.player] {
			return matchlog.MalformedAt(e.line, fmt.Errorf("tick %d: player %d: got sequence %d, want more than %d", tick, e.player, seq, i.last[e.player]))
		}
		i.last[e.player] = lockstep.Sequence(e.sequence)
		payload, err := i.payloads.EncodeAs(lockstep.Kind(e.kind), &nullgame.Opaque{Data: e.payload})
		if err != nil {
			return matchlog.MalformedAt(e.line, fmt.Errorf("tick %d: %w", tick, err))
		}
		from := len(i.encoded)
		i.encoded = append(i.encoded, payload...)
		f.Commands = append(f.Commands, lockstep.Command{
			Tick: f.Tick, Player: lockstep.Player(e.player), Sequence: lockstep.Sequence(e.sequence), Kind: lockstep.Kind(e.kind), Payload: i.encoded[from:],
		})
	}
	if err := i.append(i.enc.Frame(&f)); err != nil {
		return fmt.Errorf("tick %d: %w", tick, err)
	}
	return nil
}

// begin writes a tick's checksums: that of most players, and those that differ. If the two largest groups are equal, all differ.
func (i *importer) begin(tick uint32) error {
	sums, err := i.take(tick)
	if err != nil || len(sums) == 0 {
		return err
	}
	for p := range lockstep.Player(i.match.Players) {
		silent := !slices.ContainsFunc(sums, func(v vote) bool { return v.player() == p })
		if silent == i.silent[p] {
			continue
		}
		i.silent[p] = silent
		i.append(i.enc.Event(p, record.EventReports, map[bool]string{true: "no", false: "yes"}[silent]))
	}
	for _, v := range sums {
		if v.at > 0 {
			i.sum = i.sumLine(lockstep.Tick(tick), v)
			i.append(i.enc.Foreign(i.sum))
		}
	}
	agreed, ok := majority(sums)
	if ok {
		i.append(i.enc.Checksum(lockstep.Tick(tick), agreed))
	}
	for _, v := range sums {
		if !ok || v.hash != agreed {
			i.append(i.enc.Mismatch(lockstep.Tick(tick), v.player(), v.hash))
		}
	}
	return i.err
}

// FirstBytes returns the first four bytes of a file.
func FirstBytes(f *replay.File) (string, error) {
	content, _, err := f.Content()
	if err != nil {
		return "", err
	}
	var head [4]byte
	n, err := content.ReadAt(head[:], 0)
	if err != io.EOF && err != nil {
		return "", err
	}
	return string(head[:n]), nil
}

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

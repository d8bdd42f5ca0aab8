package record

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/state"
)

// A Decoder reads the records of one log, in order. Its first error stays.
type Decoder struct {
	stream
	r     pack.Reader
	in    pack.Reader // inside an optional record
	rec   Record
	loose bool // do not compare contents with the header, for the self-test
	err   error
}

// DecoderAt returns a Decoder that begins after the frame of tick t. Sequences count from there. It has no header to compare contents with.
func DecoderAt(t Tick) Decoder { return Decoder{stream: stream{stage: running, tick: t}} }

// Clone returns a Decoder that continues where d is.
func (d *Decoder) Clone() Decoder { return Decoder{stream: d.stream} }

// Decode decodes the record that b begins with and returns it and the rest of b. The record shares memory with b and is valid until the
// next call. Bytes that end inside a record are [io.ErrUnexpectedEOF]; other errors wrap [ErrMalformed], [ErrUnknownRecord],
// [ErrOutOfPlace] or [ErrContent]. A Decoder that has read the header compares the contents of every record with it.
func (d *Decoder) Decode(b []byte) (*Record, []byte, error) {
	if d.err != nil {
		return nil, b, d.err
	}
	d.r.Reset(b)
	if err := d.record(); err != nil {
		d.err = fmt.Errorf("lockstep: after tick %d: %w", d.tick, err)
		return nil, b, d.err
	}
	return &d.rec, b[d.r.Offset():], nil
}

func (d *Decoder) record() error {
	most := 1 + 4*MaxFrameCommands
	if d.tick == 0 && d.contents != nil && !d.contents.ours {
		most = 1 + 4*MaxLobbyCommands
	}
	n := d.r.Array(1, math.MaxInt32)
	kind := Kind(d.r.Uint(math.MaxUint8))
	protocol := uint32(Protocol)
	if kind == KindHeader && n > 1 {
		protocol = uint32(d.r.Uint(math.MaxUint32))
	}
	if err := AsMalformed(d.r.Err()); err != nil {
		return err
	}
	if err := checkKnown(kind, protocol); err != nil {
		return err
	}
	if n > most {
		return fmt.Errorf("%w: %w: record %d has %d values, want at most %d", ErrMalformed, pack.ErrLimit, kind, n, most)
	}
	first := d.stage == beforeKeyframe
	if err := d.place(kind); err != nil {
		return err
	}
	commands := d.rec.Frame.Commands[:0]
	d.rec = Record{Kind: kind, Frame: Frame{Commands: commands}}

	var err error
	switch {
	case kind == KindHeader && n == 13:
		d.header(protocol)
	case kind == KindKeyframe && n == 5:
		err = d.keyframe(first)
	case kind == KindFrame && n > 1 && n%4 == 1:
		err = d.frame(n / 4)
	case kind == KindEmpty && n == 2:
		d.rec.Empty = uint32(d.r.Positive(MaxEmptyRun))
		err = d.advance(d.rec.Empty)
		d.rec.Tick = d.tick
	case kind == KindChecksum && n == 3:
		d.rec.Tick = d.back()
		d.rec.Hash = d.r.Uint(math.MaxUint64)
	case kind == KindMismatch && n == 4:
		d.rec.Tick = d.back()
		d.rec.Player = d.player(MaxPlayers - 1)
		d.rec.Hash = d.r.Uint(math.MaxUint64)
	case kind == KindEnd && (n == 2 || n == 3):
		d.rec.Tick = d.tick
		d.rec.Text = d.r.String(MaxNote)
		if d.rec.ByRules = n == 3; d.rec.ByRules {
			d.rec.Result = d.r.Binary(MaxResult)
		}
	case kind >= FirstOptional && n == 2:
		err = d.optional(kind)
	default:
		d.r.Fail("record %d has %d values", kind, n)
	}
	if err == nil {
		err = AsMalformed(d.r.Err())
	}
	if err == nil && kind == KindHeader && !d.loose {
		d.contents, err = newContents(d.rec.Header)
	}
	if err == nil {
		err = d.fits()
	}
	return err
}

// AsMalformed turns an error of the Reader into one of this package.
func AsMalformed(err error) error {
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrMalformed, err)
}

// checkKnown returns an error for what a reader must know and this one does not, before the values are counted.
func checkKnown(kind Kind, protocol uint32) error {
	switch {
	case kind == 0 || kind > KindEnd && kind < FirstOptional:
		return fmt.Errorf("%w: kind %d", ErrUnknownRecord, kind)
	case protocol != Protocol:
		return fmt.Errorf("%w: a header of protocol %d, want %d", ErrUnknownRecord, protocol, Protocol)
	}
	return nil
}

func (d *Decoder) header(protocol uint32) {
	r := &d.r
	h := &Header{
		Protocol: protocol,
		Engine:   r.String(MaxName),
		Game:     r.String(MaxName),
		Build:    r.String(MaxName),
	}
	if id := r.Binary(len(h.Match)); len(id) == len(h.Match) {
		copy(h.Match[:], id)
	} else {
		r.Fail("got a match id of %d bytes, want %d", len(id), len(h.Match))
	}
	h.Platform, h.Sources = SplitPlatform(r.String(MaxName))
	d.settings(&h.Settings)
	h.Config = clone(r.Binary(MaxConfig))
	h.ConfigSchema = clone(r.Binary(maxSchemas))
	h.StateSchema = clone(r.Binary(maxSchemas))
	n := r.Array(0, 3*maxKinds)
	if n%3 != 0 {
		r.Fail("got %d values about commands, want a multiple of 3", n)
	}
	for range n / 3 {
		c := CommandDescription{Kind: CommandKind(r.Uint(math.MaxUint16)), Name: r.String(MaxName)}
		c.Schema = clone(r.Binary(maxSchemas))
		if k := len(h.Commands); k > 0 && c.Kind <= h.Commands[k-1].Kind {
			r.Fail("command kind %d after %d", c.Kind, h.Commands[k-1].Kind)
		}
		if r.Err() != nil {
			return
		}
		h.Commands = append(h.Commands, c)
	}
	h.ResultSchema = clone(r.Binary(maxSchemas))
	d.rec.Header = h
}

func (d *Decoder) settings(s *Settings) {
	r := &d.r
	r.Array(6, 6)
	*s = Settings{
		Seed:          r.Uint(math.MaxUint64),
		Players:       uint8(r.Uint(math.MaxUint8)),
		TickMicros:    uint32(r.Uint(math.MaxUint32)),
		CheckEvery:    uint16(r.Uint(math.MaxUint16)),
		KeyframeEvery: uint32(r.Uint(math.MaxUint32)),
		Relay:         r.Bool(),
	}
	if err := s.Check(); err != nil && r.Err() == nil {
		r.Fail("%v", err)
	}
}

// clone copies p. It never returns nil.
func clone(p []byte) []byte { return append([]byte{}, p...) }

func (d *Decoder) keyframe(first bool) error {
	t := Tick(d.r.Uint(math.MaxUint32))
	d.rec.Tick = t
	d.rec.Keyframe.Hash = d.r.Uint(math.MaxUint64)
	n := d.r.Array(0, math.MaxInt32) // the order of the players bounds it
	if n%2 != 0 {
		d.r.Fail("got %d values about sequences, want pairs", n)
	}
	before := -1
	for range n / 2 {
		l := LastSequence{d.player(System), Sequence(d.r.Positive(math.MaxUint32))}
		if int(l.Player) <= before {
			d.r.Fail("player %d after %d", l.Player, before)
		}
		if d.r.Err() != nil {
			return nil
		}
		before = int(l.Player)
		d.rec.Keyframe.Last = append(d.rec.Keyframe.Last, l)
	}
	d.rec.Keyframe.State = d.r.Binary(MaxStateSize)
	if d.r.Err() != nil {
		return nil
	}
	if first {
		d.begin(t, d.rec.Keyframe.Last)
		return nil
	}
	if t > d.tick {
		return fmt.Errorf("%w: keyframe of tick %d", ErrOutOfPlace, t)
	}
	if t == d.tick && !d.hasLast(d.rec.Keyframe.Last) {
		return fmt.Errorf("%w: keyframe of tick %d has other sequences than the frames", ErrOutOfPlace, t)
	}
	return nil
}

func (d *Decoder) frame(n int) error {
	if err := d.advance(1); err != nil {
		return err
	}
	f := &d.rec.Frame
	f.Tick, d.rec.Tick = d.tick, d.tick
	for i := range n {
		c := Command{Tick: d.tick, Player: d.player(System)}
		step := Sequence(d.r.Positive(math.MaxUint32))
		c.Sequence = d.last[c.Player] + step
		c.Kind = CommandKind(d.r.Uint(math.MaxUint16))
		c.Payload = d.r.Binary(MaxPayload)
		if d.r.Err() == nil && c.Sequence < step {
			d.r.Fail("player %d: sequence overflows", c.Player)
		}
		if d.r.Err() == nil && i > 0 && Compare(&f.Commands[i-1], &c) >= 0 {
			d.r.Fail("player %d sequence %d: not in canonical order", c.Player, c.Sequence)
		}
		if d.r.Err() != nil {
			return nil
		}
		d.last[c.Player] = c.Sequence
		f.Commands = append(f.Commands, c)
	}
	return nil
}

func (d *Decoder) optional(kind Kind) error {
	body := d.r.Binary(math.MaxInt32)
	d.rec.Tick = d.tick
	switch {
	case d.r.Err() == nil && kind == KindForeign:
		d.rec.Line = body
		return nil
	case d.r.Err() == nil && kind == KindPanic:
		return d.panicked(body)
	case d.r.Err() == nil && kind == KindNote:
		return d.words("note", &d.rec.Topic, body)
	case d.r.Err() == nil && kind == KindEvent:
		return d.words("event", &d.rec.Event, body)
	}
	return nil // unknown and optional: skipped
}

func (d *Decoder) words(what string, name *string, body []byte) error {
	d.in.Reset(body)
	d.in.Array(3, 3)
	d.rec.Player = Player(d.in.Uint(uint64(System)))
	*name = d.in.String(MaxName)
	d.rec.Text = d.in.String(MaxNote)
	if err := d.in.End(); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrMalformed, what, err)
	}
	return nil
}

// panicked reads the body of a panic. Its sequences are whole numbers, because a reader that does not know the kind passes over them.
func (d *Decoder) panicked(body []byte) error {
	r := &d.in
	r.Reset(body)
	n := r.Array(3, 3+4*MaxFrameCommands)
	p := &Panic{Where: r.String(MaxName), Text: r.String(MaxNote), Stack: r.String(MaxStack), Frame: Frame{Tick: d.tick + 1}}
	p.Frame.Asked = p.Where != InStep
	if n%4 != 3 {
		r.Fail("got %d values, want 3 and 4 for each command", n)
	}
	for i := range n / 4 {
		c := Command{Tick: d.tick + 1, Player: Player(r.Uint(uint64(System))), Sequence: Sequence(r.Uint(math.MaxUint32)), Kind: CommandKind(r.Uint(math.MaxUint16)), Payload: r.Binary(MaxPayload)}
		switch {
		case r.Err() != nil:
		case c.Player >= MaxPlayers && c.Player != System:
			r.Fail("got player %d, want at most %d", c.Player, MaxPlayers-1)
		case c.Sequence <= d.last[c.Player]:
			r.Fail("player %d sequence %d: want more than %d", c.Player, c.Sequence, d.last[c.Player])
		case i > 0 && Compare(&p.Frame.Commands[i-1], &c) >= 0:
			r.Fail("player %d sequence %d: not in canonical order", c.Player, c.Sequence)
		}
		if r.Err() != nil {
			break
		}
		p.Frame.Commands = append(p.Frame.Commands, c)
	}
	if err := r.End(); err != nil {
		return fmt.Errorf("%w: panic: %w", ErrMalformed, err)
	}
	if d.tick == math.MaxUint32 {
		return fmt.Errorf("%w: panic after the last tick", ErrOutOfPlace)
	}
	d.rec.Panic = p
	return nil
}

// back reads a tick that is counted back from the last frame.
func (d *Decoder) back() Tick { return d.tick - Tick(d.r.Uint(uint64(d.tick))) }

func (d *Decoder) player(max Player) Player {
	p := Player(d.r.Uint(uint64(max)))
	if p >= MaxPlayers && p != System {
		d.r.Fail("got player %d, want at most %d", p, MaxPlayers-1)
	}
	return p
}

// The contents of a log must fit its header: players have seats, and configuration, states and payloads are values of its schemas. Tools
// rely on it. Errors do not wrap their causes: a value that ends too early does not mean that the log does.
type contents struct {
	seats Player
	ours  bool // the commands of System are this engine's
	state *state.Schema
	ends  *state.Schema                 // of the result; nil if the rules have none
	kinds map[CommandKind]*state.Schema // only looked up, never ranged over
}

// newContents returns the rules of a header for the records after it, or an error if the header contradicts itself.
func newContents(h *Header) (*contents, error) {
	if err := h.CheckSchemas(); err != nil {
		return nil, fmt.Errorf("%w: %w: %w", ErrMalformed, pack.ErrLimit, err)
	}
	c := &contents{seats: Player(h.Settings.Players), ours: h.Engine == Engine, kinds: make(map[CommandKind]*state.Schema, len(h.Commands))}
	config, err := state.ParseSchema(h.ConfigSchema)
	if err != nil {
		return nil, fmt.Errorf("%w: schema of the configuration: %v", ErrContent, err)
	}
	if err := config.Validate(h.Config); err != nil {
		return nil, fmt.Errorf("%w: configuration: %v", ErrContent, err)
	}
	if c.state, err = state.ParseSchema(h.StateSchema); err != nil {
		return nil, fmt.Errorf("%w: schema of the state: %v", ErrContent, err)
	}
	if len(h.ResultSchema) > 0 {
		if c.ends, err = state.ParseSchema(h.ResultSchema); err != nil {
			return nil, fmt.Errorf("%w: schema of the result: %v", ErrContent, err)
		}
	}
	all := []*state.Schema{config, c.state}
	if c.ends != nil {
		all = append(all, c.ends)
	}
	for i := range h.Commands {
		d := &h.Commands[i]
		if c.kinds[d.Kind], err = state.ParseSchema(d.Schema); err != nil {
			return nil, fmt.Errorf("%w: schema of command %q: %v", ErrContent, d.Name, err)
		}
		all = append(all, c.kinds[d.Kind])
	}
	if slices.ContainsFunc(all, (*state.Schema).Floats) {
		return nil, fmt.Errorf("%w: a schema has floats, which no rules can have", ErrContent)
	}
	return c, nil
}

func (d *Decoder) seat(p Player) error {
	if d.contents == nil || p == System || p < d.contents.seats {
		return nil
	}
	return fmt.Errorf("%w: player %d in a match of %d seats", ErrContent, p, d.contents.seats)
}

func (d *Decoder) fits() error {
	if d.contents == nil {
		return nil
	}
	switch r := &d.rec; r.Kind {
	case KindKeyframe:
		for _, l := range r.Keyframe.Last {
			if err := d.seat(l.Player); err != nil {
				return fmt.Errorf("keyframe of tick %d: %w", r.Tick, err)
			}
		}
		if err := d.contents.state.Validate(r.Keyframe.State); err != nil {
			return fmt.Errorf("keyframe of tick %d: %w: %v", r.Tick, ErrContent, err)
		}
	case KindFrame:
		return d.commands(&r.Frame)
	case KindPanic:
		return d.commands(&r.Panic.Frame)
	case KindMismatch:
		return d.seat(r.Player)
	case KindEnd:
		return d.result(r)
	}
	return nil
}

func (d *Decoder) result(r *Record) error {
	if !r.ByRules {
		return nil
	}
	if d.contents.ends == nil {
		return fmt.Errorf("%w: the rules end a match, but have no result", ErrContent)
	}
	if len(r.Result) == 0 {
		return nil
	}
	if err := d.contents.ends.Validate(r.Result); err != nil {
		return fmt.Errorf("%w: result: %v", ErrContent, err)
	}
	return nil
}

func (d *Decoder) commands(f *Frame) error {
	for i := range f.Commands {
		c := &f.Commands[i]
		if err := d.command(c); err != nil {
			return fmt.Errorf("frame %d: command %d of player %d: %w", c.Tick, c.Sequence, c.Player, err)
		}
	}
	return nil
}

func (d *Decoder) command(c *Command) error {
	if c.Player == System {
		return d.system(c)
	}
	if err := d.seat(c.Player); err != nil {
		return err
	}
	schema := d.contents.kinds[c.Kind]
	if schema == nil {
		return fmt.Errorf("%w: %w %d", ErrContent, ErrUnknownKind, c.Kind)
	}
	if err := schema.Validate(c.Payload); err != nil {
		return fmt.Errorf("%w: payload: %v", ErrContent, err)
	}
	return nil
}

// system checks a command of System. Commands of another engine have an unknown meaning and are not checked.
func (d *Decoder) system(c *Command) error {
	if !d.contents.ours {
		return nil
	}
	value, err := SystemValue(c)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrContent, err)
	}
	p, ok := About(value)
	switch v := value.(type) {
	case *Resumed:
		ok = v.Player != System // System may resume a match that everybody has left
	case *SpeedSet:
		err = CheckSpeed(v.Percent)
	case *InputDelaySet:
		err = CheckInputDelay(Tick(v.Ticks))
	}
	if err != nil {
		return fmt.Errorf("%w: %v", ErrContent, err)
	}
	if ok && p >= d.contents.seats {
		return fmt.Errorf("%w: player %d in a match of %d seats", ErrContent, p, d.contents.seats)
	}
	return nil
}

// About returns the player that the value of a command of [System] concerns, if there is one.
func About(value any) (p Player, ok bool) {
	switch v := value.(type) {
	case *Joined:
		return v.Player, true
	case *Left:
		return v.Player, true
	case *Lost:
		return v.Player, true
	case *TakenOver:
		return v.Player, true
	case *Paused:
		return v.Player, true
	case *Resumed:
		return v.Player, true
	}
	return 0, false
}

// SelfTestRecords writes a log with numbers of each size, reads it, and writes it again. It gives add each record both times.
func SelfTestRecords(add func(record []byte)) bool {
	var enc, copied Encoder
	dec := Decoder{loose: true}
	header := &Header{Protocol: Protocol, Engine: Engine, Game: "self", Build: "test", Settings: Settings{Seed: 1 << 63, Players: 250, TickMicros: TickPeriod(60), CheckEvery: 300, KeyframeEvery: 70000}}
	frame := &Frame{Tick: 8}
	kinds := [...]CommandKind{0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff}
	for i, size := range []int{0, 1, 127, 128, 255, 256} {
		frame.Commands = append(frame.Commands, Command{Tick: 8, Player: 1, Sequence: 1 + Sequence(i*i*i*i*i*i), Kind: kinds[i], Payload: make([]byte, size)})
	}
	for _, write := range []func(*Encoder) []byte{
		func(e *Encoder) []byte { return e.Header(header) },
		func(e *Encoder) []byte { return e.Keyframe(7, 1<<63, nil, []byte{1, 2, 3}) },
		func(e *Encoder) []byte { return e.Frame(frame) },
	} {
		b := write(&enc)
		add(b)
		r, rest, err := dec.Decode(b)
		if err != nil || len(rest) > 0 {
			return false
		}
		add(copied.Record(r))
	}
	return true
}

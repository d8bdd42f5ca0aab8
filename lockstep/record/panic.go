package record

import (
	"fmt"
	"math"

	"github.com/seed-49bee653/samestep/internal/pack"
)

// MaxStack is the most bytes of the stack in a [Panic].
const MaxStack = 16 << 10

// A Panic is a panic of the rules, on which they had no next state. It came after the last frame of the log.
type Panic struct {
	Where string // "Step", or "Validate"
	Text  string // what they panicked with
	Stack string // may be empty

	// Frame is the sealed frame of the next tick, which the log does not have. Of "Validate", it has the one command that
	// the rules were asked about.
	Frame Frame
}

// Panic encodes a panic of the rules, with the beginnings of long texts.
func (e *Encoder) Panic(p *Panic) []byte {
	e.w.Begin(e.note[:0])
	e.w.Array(3 + 4*len(p.Frame.Commands))
	e.w.String(pack.Clip(p.Where, MaxName))
	e.w.String(pack.Clip(p.Text, MaxNote))
	e.w.String(pack.Clip(p.Stack, MaxStack))
	for i := range p.Frame.Commands {
		c := &p.Frame.Commands[i]
		e.w.Uint(uint64(c.Player))
		e.w.Uint(uint64(c.Sequence))
		e.w.Uint(uint64(c.Kind))
		e.w.Binary(c.Payload)
	}
	e.note = e.w.Bytes()
	e.begin(KindPanic, 2)
	e.w.Binary(e.note)
	return e.end()
}

// panicked reads the body of a panic. Its sequences are whole numbers, because a reader that does not know the kind passes over them.
func (d *Decoder) panicked(body []byte) error {
	r := &d.in
	r.Reset(body)
	n := r.Array(3, 3+4*MaxFrameCommands)
	p := &Panic{Where: r.String(MaxName), Text: r.String(MaxNote), Stack: r.String(MaxStack), Frame: Frame{Tick: d.tick + 1}}
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

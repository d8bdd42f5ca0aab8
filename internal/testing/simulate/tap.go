package simulate

import (
	"bytes"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A tap follows the stream of a connection as the client receives it.
type tap struct {
	at     int    // position of the next record; 0 before there is a stream
	synced bool   // a state has arrived
	state  []byte // that is arriving
	reader protocol.Reader
	m      protocol.Message
}

// received checks a message that arrives at a client: its records are the log's of
// its epoch, byte for byte, each once and in order.
func (o *oracle) received(w *wire, b []byte) {
	if w.m != nil && w.m.plan.Views {
		o.viewed(w, b)
		return
	}
	h := o.epochs[w.epoch]
	for len(b) > 0 {
		if !protocol.IsRecord(b) {
			rest, err := w.tap.reader.Read(&w.tap.m, b)
			if err != nil {
				o.w.fail("I4", "%s was sent bytes that are no message: %v", w.m, err)
				return
			}
			state := w.tap.message()
			if state != nil {
				o.given(w, state)
				if o.w.cluster != nil {
					o.w.cluster.log.sawState(o.w, w.m, w.tap.at)
				}
				if w.epoch == len(o.epochs)-1 {
					o.joined(w, state)
				}
			}
			if w.tap.synced && w.epoch == len(o.epochs)-1 {
				o.shown = max(o.shown, h.ticks[w.tap.at-1])
			}
			b = rest
			continue
		}
		record, rest, err := first(b)
		at := w.tap.at
		switch {
		case err != nil || at == 0:
			o.w.fail("I4", "%s was sent a record before the state, or a broken one", w.m)
			return
		case at >= len(h.records) || !bytes.Equal(record, h.records[at]):
			o.w.fail("I4", "%s was sent another record %d than the log has (%d records)", w.m, at, len(h.records))
			return
		}
		if w.epoch == len(o.epochs)-1 {
			o.shown = max(o.shown, h.ticks[at])
		}
		if o.w.cluster != nil {
			o.w.cluster.log.saw(o.w, w.m, at, record)
		}
		w.tap.at++
		b = rest
	}
}

// message follows a message. It returns a state when it is complete.
func (t *tap) message() []byte {
	switch m := &t.m; m.Kind {
	case protocol.KindWelcome:
		if m.Welcome.Resumed {
			t.at = int(m.Welcome.Position)
		}
	case protocol.KindStateSync:
		if m.Offset == 0 {
			t.state = t.state[:0]
		}
		t.state = append(t.state, m.Bytes...)
		if m.Offset+uint32(len(m.Bytes)) == m.Total {
			t.at, t.synced = int(m.Position), true
			return t.state
		}
	}
	return nil
}

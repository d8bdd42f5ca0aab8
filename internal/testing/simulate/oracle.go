package simulate

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/internal/testing/reach"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Kinds of records that the oracle looks into, as the comment of package lockstep/record numbers them.
const (
	recordKeyframe = 2
	recordFrame    = 3
	recordEmpty    = 4
	recordChecksum = 5
	recordEnd      = 7
	recordNote     = 64
	recordEvent    = 67
)

// system is the player of the server's own commands.
const system = 255

// An oracle computes the correct match. It reads the records that the file has taken
// with code of its own, and computes the state that everybody must have. It shares the
// game's rules with the engine, but no code that orders, encodes or distributes
// commands.
type oracle struct {
	w       *world
	subject *Subject
	header  *lockstep.Header
	epochs  []*history // the last one is the current
	sim     *lockstep.Simulation
	hashes  []uint64 // by tick
	sights  sights
	flights flights
	saved   []savedState
	last    [256]uint32 // sequence of each player
	where   map[uint64]lockstep.Tick
	content map[uint64]uint64 // of each command, by place
	limits  []limitedOrder    // by tick
	course  []order           // the same, by tick
	shown   lockstep.Tick     // the last one that a client has received, in this epoch
	offered [][]byte          // records that the file was given but has not taken
	ended   bool
	roster  roster
	seating seating
	frame   lockstep.Frame // scratch

	reached *reach.Sum
	before  []byte // state that the next one is compared with
}

// A history is the stream of one epoch: all records of the log up to the crash that
// ended it.
type history struct {
	records [][]byte        // by position
	ticks   []lockstep.Tick // after each
	from    lockstep.Tick   // the tick that it continues after
	begins  int             // position of its first own record
	dropped bool            // ticks of the epoch before are lost
	rotten  bool            // because of bits that flipped in the file
}

type savedState struct {
	tick  lockstep.Tick
	at    int // position of the next record
	last  [256]uint32
	state []byte

	seated [256]bool
}

// saveEvery is how often the oracle keeps a state, in ticks.
const saveEvery = 256

func newOracle(w *world) (*oracle, error) {
	o := &oracle{w: w, subject: w.subject, header: w.header, where: map[uint64]lockstep.Tick{}, content: map[uint64]uint64{}, epochs: []*history{{}}, reached: reach.New(w.subject.Game)}
	sim, err := w.subject.Game.NewSimulation(w.header)
	if err != nil {
		return nil, err
	}
	o.sim = sim
	o.hashes = append(o.hashes, sim.Hash())
	o.sights.add(o)
	o.flights.begin(o)
	o.noteFields()
	return o, nil
}

func (o *oracle) now() *history { return o.epochs[len(o.epochs)-1] }

// tick returns the last tick of the log.
func (o *oracle) tick() lockstep.Tick { return lockstep.Tick(len(o.hashes) - 1) }

func place(player uint8, seq uint32) uint64 { return uint64(player)<<32 | uint64(seq) }

// offers is the oracle as the log before the file.
type offers oracle

func (o *offers) Append(record []byte) error {
	o.offered = append(o.offered, bytes.Clone(record))
	return nil
}

// Append follows the records that the file has taken.
func (o *oracle) Append(record []byte) error {
	own := o.offered[0]
	o.offered = o.offered[:copy(o.offered, o.offered[1:])]
	o.take(own)
	return nil
}

// record returns the record at a position of the current epoch, or one that was
// offered after it: after a crash the file may have it, though no client does.
func (o *oracle) record(at int) []byte {
	h := o.now()
	if at < len(h.records) {
		return h.records[at]
	}
	return o.offered[at-len(h.records)]
}

func (o *oracle) take(own []byte) {
	o.w.note(traceLog, 0, own)
	p := packed{b: own}
	n := p.array()
	kind := p.uint()
	if kind == recordKeyframe {
		o.keyframe(&p)
		return
	}
	if o.ended {
		o.w.fail("I4", "the log has a record of kind %d after its end", kind)
	}
	h := o.now()
	o.seating.position = len(h.records)
	h.records = append(h.records, own)
	before := o.tick()
	switch kind {
	case recordFrame:
		o.commands(&p, (n-1)/4)
	case recordEmpty:
		if ticks := p.uint(); ticks != 1 {
			o.w.fail("I4", "the live log has a run of %d empty ticks in one record", ticks)
		}
		o.frame.Commands = o.frame.Commands[:0]
		o.step()
	case recordChecksum:
		if t, hash := o.back(&p), p.uint(); o.w.relay.on {
			o.w.relay.agree(o.w, t, hash)
			o.w.Checks++
		} else if hash != o.hashes[t] && !o.w.referee.loggedWrong(t) {
			o.w.fail("I1", "the agreed checksum of tick %d is not that of the frames", t)
		} else {
			o.w.Checks++
		}
	case recordMismatch:
		if t := o.back(&p); o.w.relay.on {
			o.w.relay.mismatch(o.w, t, lockstep.Player(p.uint()), p.uint())
		}
	case recordNote, recordEvent:
		player, topic, text := o.note(&p)
		o.w.budgets.note(player, topic, text)
	case recordEnd:
		o.end(&p, n)
	}
	h.ticks = append(h.ticks, o.tick())
	o.w.lobby.follow(o.w, before)
	if p.err != nil {
		o.w.fail("I4", "record %d of epoch %d: %v", len(h.records)-1, len(o.epochs)-1, p.err)
	}
	if len(h.ticks) > 1 && o.tick()%saveEvery == 0 && o.tick() > h.ticks[len(h.ticks)-2] {
		o.save()
	}
}

// note reads a note or an event.
func (o *oracle) note(p *packed) (player lockstep.Player, topic string, text []byte) {
	note := packed{b: p.bytes()}
	note.array()
	player, topic, text = lockstep.Player(note.uint()), string(note.bytes()), note.bytes()
	o.seating.note(player, topic, string(text))
	return player, topic, text
}

// back reads a tick that is encoded as its age.
func (o *oracle) back(p *packed) lockstep.Tick {
	ago := p.uint()
	if ago > uint64(o.tick()) {
		o.w.fail("I4", "a checksum of %d ticks before tick %d", ago, o.tick())
		return 0
	}
	return o.tick() - lockstep.Tick(ago)
}

// keyframe compares a keyframe with our own state.
func (o *oracle) keyframe(p *packed) {
	t, hash := p.uint(), p.uint()
	p.skip()
	state := p.bytes()
	if p.err == nil && t < uint64(len(o.hashes)) && o.hashes[t] != hash && o.w.referee.loggedWrong(lockstep.Tick(t)) {
		return
	}
	if p.err != nil || t >= uint64(len(o.hashes)) || o.hashes[t] != hash {
		o.w.fail("I1", "the keyframe of tick %d is not the state of the frames", t)
	} else if t == uint64(o.tick()) && !bytes.Equal(state, o.sim.AppendState(nil)) {
		o.w.fail("I1", "the keyframe of tick %d has the right checksum and other bytes", t)
	}
}

// commands reads a frame and checks its order: by player, System last, and with rising
// sequences of each player over the whole match.
func (o *oracle) commands(p *packed, n int) {
	t := o.tick() + 1
	o.frame.Commands = o.frame.Commands[:0]
	before := -1
	for range n {
		player, step, kind, payload := int(p.uint()), p.uint(), p.uint(), p.bytes()
		if p.err != nil || player > system || step == 0 || player < before {
			o.w.fail("I2", "tick %d: player %d after player %d, sequence step %d", t, player, before, step)
			return
		}
		before = player
		seq := uint64(o.last[player]) + step
		if seq > 1<<32-1 {
			o.w.fail("I2", "tick %d: sequence %d of player %d", t, seq, player)
			return
		}
		o.last[player] = uint32(seq)
		if player == system {
			o.roster.command(kind, payload)
			o.seating.command(kind, payload)
		} else {
			at := place(uint8(player), uint32(seq))
			o.where[at], o.course = t, append(o.course, order{t, at, lockstep.Kind(kind)})
			o.content[at] = contentOf(lockstep.Kind(kind), payload)
			o.limitedTo(uint8(player), lockstep.Kind(kind), t)
		}
		o.frame.Commands = append(o.frame.Commands, lockstep.Command{
			Tick: t, Player: lockstep.Player(player), Sequence: lockstep.Sequence(seq), Kind: lockstep.Kind(kind), Payload: payload,
		})
	}
	o.step()
}

// step computes the next state.
func (o *oracle) step() {
	o.frame.Tick = o.tick() + 1
	if err := o.sim.Step(&o.frame); err != nil {
		o.w.fail("I10", "the rules of the game: %v", err)
		return
	}
	o.hashes = append(o.hashes, o.sim.Hash())
	o.sights.add(o)
	o.flights.step(o)
	o.reach()
	o.w.seal(o.tick())
	o.w.noteEnd(o.sim)
	o.rostered()
}

// The differences of states are noted: those of each tick at first, which may be the whole match, and then of some.
const (
	reachEach  = 250
	reachEvery = 20
)

// reach notes the fields that have changed.
func (o *oracle) reach() {
	if o.tick() <= reachEach || o.tick()%reachEvery == 0 {
		o.noteFields()
	}
}

func (o *oracle) noteFields() {
	if o.reached.All() {
		return
	}
	now := o.sim.AppendState(nil)
	if o.before != nil {
		o.reached.States(o.before, now)
	}
	o.before = now
}

// played returns what the match has reached, without the ticks that a crash took back.
func (o *oracle) played() *reach.Sum {
	o.noteFields()
	var f lockstep.Frame
	for _, c := range o.course {
		f.Commands = append(f.Commands, lockstep.Command{Player: lockstep.Player(c.place >> 32), Kind: c.kind})
	}
	o.reached.Accept(&f)
	o.reached.Played(o.tick())
	return o.reached
}

func (o *oracle) save() {
	o.saved = append(o.saved, savedState{o.tick(), len(o.now().records), o.last, o.sim.AppendState(nil), o.roster.seated})
}

// resume goes back to the position in the log from which a restarted server
// continues.
func (o *oracle) resume(records int, t lockstep.Tick) error {
	old := o.now()
	for len(old.records) < records {
		o.take(o.offered[0])
		o.offered = o.offered[1:]
	}
	h := &history{records: old.records[:records:records], ticks: old.ticks[:records:records], from: t, begins: records, dropped: t < o.tick()}
	o.forget()
	o.seating.forget(records)
	o.epochs = append(o.epochs, h)
	o.ended, o.shown = records > 0 && kindOf(h.records[records-1]) == recordEnd, 0
	clear(o.roster.departed[:]) // their departures are lost, and they may return
	if !h.dropped {
		return nil
	}
	for len(o.saved) > 0 && o.saved[len(o.saved)-1].tick > t {
		o.saved = o.saved[:len(o.saved)-1]
	}
	var s savedState
	if n := len(o.saved); n > 0 {
		s = o.saved[n-1]
		if err := o.sim.Restore(s.tick, s.state); err != nil {
			return err
		}
	} else {
		sim, err := o.subject.Game.NewSimulation(o.header)
		if err != nil {
			return err
		}
		o.sim = sim
	}
	for n := len(o.course); n > 0 && o.course[n-1].tick > s.tick; n-- {
		delete(o.where, o.course[n-1].place) // ticks up to t come again
		o.course = o.course[:n-1]
	}
	for n := len(o.limits); n > 0 && o.limits[n-1].tick > s.tick; n-- {
		o.limits = o.limits[:n-1]
	}
	o.last, o.hashes, o.roster = s.last, o.hashes[:s.tick+1], roster{seated: s.seated}
	o.sights.cut(s.tick)
	o.flights.begin(o)
	o.w.noteEnd(o.sim)
	o.seating.forget(s.at)
	for i, b := range h.records[s.at:] {
		o.seating.position = s.at + i
		o.run(b)
	}
	if o.tick() != t {
		return fmt.Errorf("simulate: %d records lead to tick %d, want %d", records, o.tick(), t)
	}
	return nil
}

// forget drops the records of epochs without connections.
func (o *oracle) forget() {
	for i, h := range o.epochs {
		if !slices.ContainsFunc(o.w.wires, func(w *wire) bool { return w.epoch == i }) && !o.w.cluster.runs(i) {
			h.records, h.ticks = nil, nil
		}
	}
}

// stands reports whether a tick of an epoch's stream is still a tick of the match.
func (o *oracle) stands(epoch int, t lockstep.Tick) bool {
	for _, h := range o.epochs[epoch+1:] {
		if t > h.from {
			return false
		}
	}
	return true
}

// rotten reports whether bit rot has lost ticks since an epoch.
func (o *oracle) rotten(epoch int) bool {
	for _, h := range o.epochs[epoch+1:] {
		if h.rotten {
			return true
		}
	}
	return false
}

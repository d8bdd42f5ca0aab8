package host_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/feed"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A party is a hosted match of the bank game under virtual time, with its guests. A guest is a client written by hand.
// It follows the protocol unless a test makes it misbehave.
type party struct {
	t      testing.TB
	game   *lockstep.Game
	header *lockstep.Header
	h      *host.Host
	now    lockstep.Time
	file   *lockstep.Follower // fed by the log
	guests []*guest
	byID   map[host.PeerID]*guest
	ids    []host.PeerID     // that may have something to send
	due    lockstep.Time     // when the host has something to do
	wrote  protocol.Position // after the records that the log has
	lazy   bool              // the log is not persisted by itself
	buf    []byte
	random byte
	print  func(format string, args ...any) // nil: silent

	observed func(host.Event) // nil for no call

	evidence     []*host.Evidence
	events       map[host.EventKind]int
	failLog      bool
	wrongReferee int                 // checksums and keyframes of the log that may be wrong
	impatient    bool                // sockets are closed whether the last message was read or not
	early        [][]byte            // header and first keyframe
	record       func(record []byte) // sees the rest of the log, too
	later        []later             // what arrives later, by time
	closes       map[protocol.CloseCode]int
}

// A later message arrives at a time.
type later struct {
	at lockstep.Time
	id host.PeerID
	b  []byte
}

// A guest is one client, over all of its connections.
type guest struct {
	party *party
	name  string
	addr  string // its address
	auth  protocol.Auth
	id    host.PeerID // 0: not connected
	w     protocol.Writer
	r     protocol.Reader

	blocked   bool // reads nothing
	silent    bool // neither acks nor reports
	lies      bool // reports wrong checksums
	reticent  bool // reports none
	deaf      bool // what it sends does not arrive
	forges    bool // sends false states
	mute      bool // answers no state_request
	echoes    bool // reports the checksums of the stream
	pongAfter lockstep.Time
	still     bool // simulates nothing, but acks what arrives
	chunks    []byte
	dec       record.Decoder
	follower  *lockstep.Follower
	position  protocol.Position
	acked     lockstep.Tick
	ackedTo   protocol.Position
	welcome   *protocol.Welcome
	sequence  lockstep.Sequence
	receipts  map[lockstep.Sequence]lockstep.Tick
	reasons   map[lockstep.Reason]int
	rejected  protocol.Message // the last command_rejected
	errors    map[protocol.ErrorCode]int
	held      []string // reasons
	syncs     int
	bytes     int
	code      protocol.CloseCode
	from, to  lockstep.Tick // empty ticks not printed yet

	view *glance // of a guest that asks for views
}

// A glance is what a guest has of its views.
type glance struct {
	viewer   string
	receiver *feed.Receiver
	delta    []byte
	tick     lockstep.Tick
	views    int // deltas
	begun    int // times that the views began
	largest  int // bytes of a delta
	notes    []string
	ended    bool
	unacked  bool // it sends no acks
}

func newParty(tb testing.TB, settings func(*lockstep.Settings), options func(*host.Options)) *party {
	tb.Helper()
	return newPartyOf(tb, testgame.BankRules(), settings, options)
}

// newPartyOf is newParty with other rules of the bank.
func newPartyOf(tb testing.TB, rules lockstep.Rules[testgame.Bank, testgame.BankConfig], settings func(*lockstep.Settings), options func(*host.Options)) *party {
	tb.Helper()
	g := lockstep.MustGame(rules)
	s := lockstep.DefaultSettings(2)
	s.Seed = 1
	s.CheckEvery, s.KeyframeEvery = 5, 40
	if settings != nil {
		settings(&s)
	}
	header, err := g.NewHeader(lockstep.MatchID{1}, s, &testgame.BankConfig{Start: 100})
	if err != nil {
		tb.Fatal(err)
	}
	header.Platform, header.Sources = "linux/amd64 go1.26.8", "" // the number of bytes is in the scripts
	p := &party{
		t: tb, game: g, header: header, byID: map[host.PeerID]*guest{},
		events: map[host.EventKind]int{}, closes: map[protocol.CloseCode]int{},
	}
	p.file = g.NewFollower(lockstep.FollowerOptions{})
	o := host.Options{
		Authorize: p.authorize,
		Random: func(b []byte) {
			p.random++
			for i := range b {
				b[i] = p.random
			}
		},
		Evidence: true,
	}
	if options != nil {
		options(&o)
	}
	p.h, err = host.New(g, header, o)
	if err != nil {
		tb.Fatal(err)
	}
	p.take()
	return p
}

var errToken = errors.New("no such token")

// authorize knows tokens p0 to p9 by seat, any-NAME for any seat, free-NAME for guests with unverified subjects, watch,
// and see-NAME to watch as any-NAME.
func (p *party) authorize(token string) (host.Grant, error) {
	switch {
	case len(token) == 2 && token[0] == 'p':
		return host.Grant{Role: protocol.Seated, Seat: lockstep.Player(token[1] - '0'), Name: token}, nil
	case len(token) > 4 && token[:4] == "any-":
		return host.Grant{Role: protocol.Seated, Seat: host.AnySeat}, nil
	case len(token) > 5 && token[:5] == "free-":
		return host.Grant{Role: protocol.Seated, Seat: host.AnySeat, Name: token[5:], Guest: true}, nil
	case len(token) > 4 && token[:4] == "see-":
		return host.Grant{Role: protocol.Spectator, Subject: "any-" + token[4:]}, nil
	case token == "watch":
		return host.Grant{Role: protocol.Spectator}, nil
	}
	return host.Grant{}, errToken
}

// Append is the match's file.
func (p *party) Append(record []byte) error {
	if p.failLog {
		return testgame.ErrDisk
	}
	err := p.file.Append(record)
	if errors.As(err, new(*lockstep.PanicError)) {
		err = nil // the record of a panic, which comes again in the file
	}
	if err != nil && p.wrongReferee == 0 {
		p.t.Errorf("the log: %v", err)
	} else if err != nil {
		p.wrongReferee--
	}
	switch {
	case p.record != nil:
		p.record(record)
	case len(p.early) < 2:
		p.early = append(p.early, append([]byte(nil), record...))
	}
	return nil
}

// take does the work that the host wants done, except sending.
func (p *party) take() {
	for {
		r := p.h.Ready()
		p.due = r.Next
		if p.ids = append(p.ids, r.Peers...); r.Empty() {
			return
		}
		p.log(r)
		for _, e := range r.Events {
			p.observe(e)
		}
		for _, e := range r.Evidence {
			if e.Report.Agreed >= e.Report.Tick {
				p.t.Errorf("%v: want an agreement before the tick", &e.Report)
			}
			p.evidence = append(p.evidence, e)
		}
	}
}

// log appends the host's records to the log.
func (p *party) log(r *host.Ready) {
	if err := r.AppendTo(p); err != nil {
		p.h.Fail(p.now, err)
		return
	}
	if p.wrote = r.Position; !p.lazy {
		p.h.Persisted(p.now, r.Position)
	}
}

// next returns when the host is due.
func (p *party) next() lockstep.Time {
	p.take()
	return p.due
}

func (p *party) observe(e host.Event) {
	p.events[e.Kind]++
	if p.observed != nil {
		p.observed(e)
	}
	if p.print != nil {
		p.flush()
		p.print("* %v", e)
	}
}

// flush prints the empty ticks that guests got.
func (p *party) flush() {
	for _, g := range p.guests {
		g.flush()
	}
}

// pass lets time pass in steps of a millisecond divisor, and moves what is sent.
func (p *party) pass(d lockstep.Time) {
	p.t.Helper()
	for end := p.now + d; ; {
		p.deliver()
		next := p.next()
		if len(p.later) > 0 && p.later[0].at <= min(next, end) {
			l := p.later[0]
			p.later = p.later[1:]
			p.now = max(p.now, l.at)
			p.h.Receive(p.now, l.id, l.b)
			continue
		}
		if next > end {
			p.now = end
			break
		}
		p.now = max(p.now, next)
		p.h.Advance(p.now)
		p.deliver()
	}
	if err := p.h.Info().CheckBounds(1 << 10); err != nil {
		p.t.Fatal(err)
	}
}

// deliver moves what the host has to send, until nothing is left.
func (p *party) deliver() {
	for p.take(); len(p.ids) > 0; p.take() {
		id := p.ids[0]
		p.ids = p.ids[1:]
		g := p.byID[id]
		if g == nil {
			continue
		}
		if _, _, closed := p.h.Closed(id); closed && g.blocked && p.impatient {
			g.cut() // a server closes the socket, read or not
		} else if !g.blocked {
			g.pull()
		}
	}
}

// pull takes all that the host has for the guest's connection.
func (g *guest) pull() {
	p := g.party
	id := g.id
	for id != 0 {
		p.buf = p.h.Send(id, p.buf[:0], 64<<10)
		p.take()
		if len(p.buf) == 0 {
			break
		}
		if len(p.buf) > protocol.MaxServerMessage {
			p.t.Fatalf("%s: got a WebSocket message of %d bytes", g.name, len(p.buf))
		}
		g.bytes += len(p.buf)
		b := append([]byte(nil), p.buf...)
		for len(b) > 0 && g.id == id {
			b = g.take(b)
		}
	}
	if code, _, closed := p.h.Closed(id); closed {
		g.flush()
		p.closes[code]++
		g.code = code
		g.gone()
		p.h.Disconnect(p.now, id)
	}
}

// connect opens a connection and authenticates.
func (g *guest) connect() bool {
	if !g.open() {
		return false
	}
	g.send(&protocol.Message{Kind: protocol.KindAuth, Auth: &g.auth})
	return true
}

func (g *guest) open() bool {
	id, ok := g.party.h.Connect(g.party.now, g.addr)
	g.party.take()
	if !ok {
		return false
	}
	g.id = id
	g.party.byID[id] = g
	g.code = 0
	return true
}

// resume connects with the session, and the position of the tail.
func (g *guest) resume() bool {
	g.auth.Session, g.auth.Position = g.welcome.Session, g.position
	return g.connect()
}

// cut ends the connection without a word.
func (g *guest) cut() {
	id := g.id
	g.gone()
	g.party.h.Disconnect(g.party.now, id)
	g.party.take()
}

func (g *guest) gone() {
	delete(g.party.byID, g.id)
	g.id = 0
}

func (g *guest) send(m *protocol.Message) { g.raw(g.w.Append(nil, m)) }

func (g *guest) raw(b []byte) {
	if g.id != 0 && !g.deaf {
		g.party.h.Receive(g.party.now, g.id, b)
		g.party.take()
	}
}

// guest makes a client; a name that begins with w watches.
func (p *party) guest(name, token string) *guest {
	g := &guest{
		party: p, name: name, auth: *protocol.NewAuth(p.game), receipts: map[lockstep.Sequence]lockstep.Tick{},
		reasons: map[lockstep.Reason]int{}, errors: map[protocol.ErrorCode]int{},
	}
	g.auth.Token, g.auth.Platform = token, "test"
	p.guests = append(p.guests, g)
	return g
}

// join makes a client and connects it.
func (p *party) join(name, token string) *guest {
	g := p.guest(name, token)
	if !g.connect() {
		p.t.Fatalf("%s: no room", name)
	}
	p.deliver()
	return g
}

func (g *guest) say(format string, args ...any) {
	if g.party.print != nil {
		g.flush()
		g.party.print(g.name+": "+format, args...)
	}
}

func (g *guest) flush() {
	if g.from == 0 {
		return
	}
	from, to := g.from, g.to
	g.from = 0
	if g.party.print == nil {
		return
	}
	if from == to {
		g.party.print("%s: tick %d", g.name, from)
	} else {
		g.party.print("%s: ticks %d to %d", g.name, from, to)
	}
}

// take takes the message that b begins with, and returns the rest.
func (g *guest) take(b []byte) []byte {
	if protocol.IsRecord(b) && g.view != nil {
		return g.note(b)
	}
	if protocol.IsRecord(b) {
		return g.record(b)
	}
	var m protocol.Message
	rest, err := g.r.Read(&m, b)
	if err != nil {
		g.party.t.Fatalf("%s: %v", g.name, err)
	}
	switch m.Kind {
	case protocol.KindWelcome:
		w := *m.Welcome
		g.welcome = &w
		g.sequence = max(g.sequence, w.LastSequence)
		g.say("welcome to seat %d, tick %d, resumed %t, last sequence %d", w.Seat, w.Tick, w.Resumed, w.LastSequence)
		if w.Resumed && w.Position != g.position {
			g.party.t.Errorf("%s: resumed at %d, want %d", g.name, w.Position, g.position)
		}
	case protocol.KindStateSync:
		g.chunk(&m)
	case protocol.KindCommandAccepted:
		if t, ok := g.receipts[m.Sequence]; ok && t != m.Tick {
			g.party.t.Errorf("%s: command %d is for tick %d, and was for %d", g.name, m.Sequence, m.Tick, t)
		}
		g.receipts[m.Sequence] = m.Tick
		g.say("command %d accepted for tick %d", m.Sequence, m.Tick)
	case protocol.KindCommandRejected:
		g.reasons[m.Reason]++
		g.rejected = m
		g.say("command %d rejected: %v %s", m.Sequence, m.Reason, m.Text)
	case protocol.KindPing:
		g.pong(m.Nonce)
	case protocol.KindPong:
		g.say("pong %d, tick %d", m.Nonce, m.Tick)
	case protocol.KindStateRequest:
		g.say("asked for the state of tick %d", m.Tick)
		g.sendState(m.Tick)
	case protocol.KindDesyncReport:
		g.say("desync at tick %d, last agreed %d, in %q", m.Tick, m.Agreed, m.Field)
	case protocol.KindError:
		g.errors[protocol.ErrorCode(m.Code)]++
		g.say("error %v: %s %s", protocol.ErrorCode(m.Code), m.Text, m.Field)
	case protocol.KindViewSync:
		plan, err := feed.ParsePlan(m.Bytes)
		if err != nil {
			g.party.t.Fatalf("%s: %v", g.name, err)
		}
		g.view.begun++
		g.view.viewer, g.view.receiver, g.view.delta = m.Text, feed.NewReceiver(plan), nil
	case protocol.KindViewDelta:
		g.look(&m)
	case protocol.KindHeld:
		g.held = append(g.held, m.Text)
		g.say("held: %q for %v, since %d ms, until %d ms", m.Text, m.Seats, m.SinceMS, m.UntilMS)
	case protocol.KindClosing:
		g.say("closing, %v: %s, retry after %d", protocol.CloseCode(m.Code), m.Text, m.RetryMS)
	default:
		g.party.t.Errorf("%s: got message %d", g.name, m.Kind)
	}
	return rest
}

// pong answers a ping, at once or late.
func (g *guest) pong(nonce uint64) {
	p := g.party
	if g.silent {
		return
	}
	m := protocol.Message{Kind: protocol.KindPong, Nonce: nonce, Tick: g.acked}
	if g.pongAfter == 0 {
		g.send(&m)
		return
	}
	p.later = append(p.later, later{p.now + g.pongAfter, g.id, g.w.Append(nil, &m)})
}

// chunk takes a part of a keyframe, and restarts the stream after the last one.
func (g *guest) chunk(m *protocol.Message) {
	if m.Offset == 0 {
		g.chunks = g.chunks[:0]
	}
	if int(m.Offset) != len(g.chunks) {
		g.party.t.Fatalf("%s: got a chunk at %d, want %d", g.name, m.Offset, len(g.chunks))
	}
	g.chunks = append(g.chunks, m.Bytes...)
	if len(g.chunks) < int(m.Total) {
		return
	}
	g.syncs++
	g.follower = g.party.game.NewFollower(lockstep.FollowerOptions{History: lockstep.HistoryOptions{States: true}})
	g.dec = record.Decoder{}
	for b := append([]byte(nil), g.chunks...); len(b) > 0; {
		r, rest, err := g.dec.Decode(b)
		if err == nil {
			err = g.follower.Apply(r)
		}
		if err != nil {
			g.party.t.Fatalf("%s: keyframe: %v", g.name, err)
		}
		b = rest
	}
	if g.follower.Tick() != m.Tick {
		g.party.t.Fatalf("%s: keyframe of tick %d, want %d", g.name, g.follower.Tick(), m.Tick)
	}
	g.position = m.Position
	g.say("keyframe of tick %d, %d bytes", m.Tick, m.Total)
	g.ack()
}

// record takes one record of the stream.
func (g *guest) record(b []byte) []byte {
	r, rest, err := g.dec.Decode(b)
	if err != nil {
		g.party.t.Fatalf("%s: %v", g.name, err)
	}
	before := g.follower.Tick()
	var desync *lockstep.DesyncError
	if err := g.follower.Apply(r); err != nil && !errors.As(err, &desync) {
		g.party.t.Fatalf("%s: %v", g.name, err)
	}
	g.position++
	switch r.Kind {
	case record.KindEmpty:
		if g.from == 0 {
			g.from = before + 1
		}
		g.to = before + 1
	case record.KindFrame:
		g.say("tick %d with commands", before+1)
	case record.KindChecksum:
		if g.echoes {
			g.send(&protocol.Message{Kind: protocol.KindChecksum, Tick: r.Tick, Hash: r.Hash})
		}
	case record.KindNote:
		g.say("note")
	case record.KindEvent:
		g.say("event")
	case record.KindEnd:
		g.say("end")
	}
	if g.follower.Tick() > before {
		g.simulated()
	}
	if g.follower.Tick() == g.acked && g.position >= g.ackedTo+32 {
		g.ack() // while the match stands, after many notes
	}
	return rest
}

// simulated does what a client does after a tick.
func (g *guest) simulated() {
	if g.silent {
		return
	}
	t := g.follower.Tick()
	if every := lockstep.Tick(g.party.header.Settings.CheckEvery); t%every == 0 {
		sum, ok := g.follower.Sum(t)
		if !ok {
			g.party.t.Fatalf("%s: no checksum of tick %d", g.name, t)
		}
		g.report(t, sum)
	}
	if t >= g.acked+lockstep.Tick(g.welcome.AckEvery) || t < g.acked {
		g.ack()
	}
}

func (g *guest) report(t lockstep.Tick, sum *checksum.Sum) {
	m := protocol.Message{Kind: protocol.KindChecksum, Tick: t, Hash: sum.Hash, Sections: sum.Sections}
	if g.lies {
		m.Hash++
	}
	if !g.reticent && !g.echoes {
		g.send(&m)
	}
}

func (g *guest) ack() {
	if !g.still {
		g.acked = g.follower.Tick()
	}
	g.ackedTo = g.position
	if !g.silent {
		g.send(&protocol.Message{Kind: protocol.KindAck, Position: g.position, Tick: g.acked})
	}
}

// sendState answers a state_request, in two chunks.
func (g *guest) sendState(t lockstep.Tick) {
	if g.mute {
		return
	}
	b := g.follower.State(t)
	m := protocol.Message{Kind: protocol.KindState, Tick: t, Total: uint32(len(b))}
	if b == nil {
		g.send(&m)
		return
	}
	if g.forges {
		b = append([]byte(nil), b...)
		b[0] ^= 1
	}
	half := len(b) / 2
	m.Bytes = b[:half]
	g.send(&m)
	m.Offset, m.Bytes = uint32(half), b[half:]
	g.send(&m)
}

// corrupt inverts a bit of the guest's state.
func (g *guest) corrupt(path string) error {
	return corrupt(g.party.game, g.follower.Simulation(), path)
}

// corrupt inverts a bit of a state.
func corrupt(g *lockstep.Game, s *lockstep.Simulation, path string) error {
	b := s.AppendState(nil)
	v, err := g.StateSchema().Lookup(b, path)
	if err != nil || !v.Flip() {
		return fmt.Errorf("cannot flip %s: %w", path, err)
	}
	return s.Restore(s.Tick(), b)
}

// command submits the next command.
func (g *guest) command(tb testing.TB, coins uint16) {
	g.sequence++
	g.submit(tb, g.sequence, coins)
}

func (g *guest) submit(tb testing.TB, seq lockstep.Sequence, coins uint16) {
	kind, payload := testgame.Encode(tb, g.party.game, &testgame.Earn{Coins: coins})
	g.send(&protocol.Message{Kind: protocol.KindCommand, Sequence: seq, Command: kind, Bytes: payload})
}

// look takes a part of a view.
func (g *guest) look(m *protocol.Message) {
	v := g.view
	if m.Offset == 0 {
		v.delta = v.delta[:0]
	}
	if int(m.Offset) != len(v.delta) {
		g.party.t.Fatalf("%s: got a part of a view at %d, want %d", g.name, m.Offset, len(v.delta))
	}
	if v.delta = append(v.delta, m.Bytes...); len(v.delta) < int(m.Total) {
		return
	}
	if m.Total > 0 {
		v.views++
		v.largest = max(v.largest, len(v.delta))
		if err := v.receiver.Apply(feed.Number(m.View), feed.Number(m.Base), v.delta); err != nil {
			g.party.t.Fatalf("%s: view %d: %v", g.name, m.View, err)
		}
	} else if feed.Number(m.View) != v.receiver.Number() {
		g.party.t.Fatalf("%s: got nothing new of view %d, and has view %d", g.name, m.View, v.receiver.Number())
	}
	v.tick = m.Tick
	if !v.unacked {
		g.send(&protocol.Message{Kind: protocol.KindViewAck, View: m.View, Tick: m.Tick})
	}
}

// note takes a record of those that a viewer gets.
func (g *guest) note(b []byte) []byte {
	dec := record.DecoderAt(0)
	r, rest, err := dec.Decode(b)
	if err != nil {
		g.party.t.Fatalf("%s: %v", g.name, err)
	}
	switch r.Kind {
	case record.KindEnd:
		g.view.ended = true
		return rest
	case record.KindNote, record.KindEvent:
	default:
		g.party.t.Errorf("%s: a viewer got a record of kind %d", g.name, r.Kind)
	}
	g.view.notes = append(g.view.notes, fmt.Sprintf("%d %s: %s", r.Player, r.Topic+r.Event, r.Text))
	return rest
}

// viewer makes a client that asks for views, and connects it.
func (p *party) viewer(name, token string) *guest {
	g := p.guest(name, token)
	g.auth, g.view = *protocol.NewViewerAuth(p.game), &glance{}
	g.auth.Token, g.auth.Platform = token, "test"
	if !g.connect() {
		p.t.Fatalf("%s: no room", name)
	}
	p.deliver()
	return g
}

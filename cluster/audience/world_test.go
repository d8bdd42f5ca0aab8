package audience_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/cluster/audience"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A world has a match of lamps, mirrors of it, and spectators who simulate it, in virtual time.
type world struct {
	t       testing.TB
	game    *lockstep.Game
	header  *lockstep.Header
	options host.Options
	now     lockstep.Time

	owner     *host.Host
	down      bool // the owner does not run
	ownerNext lockstep.Time
	hashes    map[lockstep.Tick]uint64
	log       [][]byte
	mirrors   []*mirror
	viewers   []*viewer
	links     []*link
}

// An endpoint serves connections: the owner, or a mirror.
type endpoint interface {
	Connect(now lockstep.Time, from string) (host.PeerID, bool)
	Receive(now lockstep.Time, id host.PeerID, b []byte)
	Disconnect(now lockstep.Time, id host.PeerID)
	Closed(id host.PeerID) (protocol.CloseCode, string, bool)
}

// A client is the other end of a connection.
type client interface {
	Receive(now lockstep.Time, b []byte) error
	Send(dst []byte) []byte
}

// A link is a connection.
type link struct {
	to      endpoint
	id      host.PeerID
	from    client
	lost    func()
	blocked *bool
	due     bool
	gone    bool
}

type mirror struct {
	name    string
	a       *audience.Audience
	log     *audience.Log
	fed     int
	up      *audience.Upstream
	link    *link
	source  endpoint
	stalled bool // takes nothing from its source
	next    lockstep.Time
}

type viewer struct {
	name    string
	c       *player.Client
	at      *mirror
	link    *link
	blocked bool
	events  []string
	next    lockstep.Time
}

func newWorld(t testing.TB, keyframe uint32, o host.Options) *world {
	w := &world{t: t, game: lockstep.MustGame(testgame.LampRules), hashes: map[lockstep.Tick]uint64{}}
	s := lockstep.DefaultSettings(2)
	s.CheckEvery, s.KeyframeEvery = 10, keyframe
	var err error
	if w.header, err = w.game.NewHeader(lockstep.MatchID{7}, s, &testgame.Nobody{}); err != nil {
		t.Fatal(err)
	}
	w.header.Platform, w.header.Sources = "linux/amd64 go1.26.8", "" // the number of bytes is in the scripts
	w.options = o
	w.options.Random = func(b []byte) { clear(b); b[0] = 1 }
	w.options.AnonymousSpectators = true
	w.options.MaxSpectators = 100
	w.options.Authorize = func(token string) (host.Grant, error) {
		return host.Grant{Role: protocol.Seated, Seat: host.AnySeat, Subject: token, Name: token}, nil
	}
	w.options.Bots = []lockstep.Bot{w.bot()}
	if w.owner, err = host.New(w.game, w.header, w.options); err != nil {
		t.Fatal(err)
	}
	return w
}

// bot returns a player that presses a lamp in every third tick.
func (w *world) bot() lockstep.Bot {
	return func(s *lockstep.Simulation) []any {
		if s.Tick()%3 == 0 {
			return []any{&testgame.Press{Lamp: uint8(s.Tick() / 3 % 4)}}
		}
		return nil
	}
}

// drain does the owner's work.
func (w *world) drain() {
	r := w.owner.Ready()
	for ; !r.Empty(); r = w.owner.Ready() {
		for _, b := range r.Records {
			w.log = append(w.log, slices.Clone(b))
			if len(w.log) == 2 {
				w.log = append(w.log, w.owner.Disclosure().Event())
			}
		}
		sim := w.owner.Referee().Simulation()
		w.hashes[sim.Tick()] = sim.Hash()
		w.owner.Persisted(w.now, r.Position)
		w.mark(w.owner, r.Peers)
	}
	w.ownerNext = r.Next
}

func (w *world) mark(to endpoint, ids []host.PeerID) {
	for _, l := range w.links {
		if l.to == to && slices.Contains(ids, l.id) {
			l.due = true
		}
	}
}

// pass lets time pass in steps of 5 ms.
func (w *world) pass(d lockstep.Time) {
	for end := w.now + d; w.now < end; {
		w.now += 5 * lockstep.Millisecond
		w.step()
	}
}

func (w *world) step() {
	if !w.down && w.now >= w.ownerNext {
		w.owner.Advance(w.now)
	}
	for range 4 { // for answers to come back through two mirrors
		if !w.down {
			w.drain()
		}
		for _, r := range w.mirrors {
			w.feed(r)
			if ready := r.a.Ready(); true {
				w.mark(r.a, ready.Peers)
				r.next = ready.Next
			}
			if w.now >= r.next {
				r.a.Advance(w.now)
				w.mark(r.a, r.a.Ready().Peers)
			}
		}
		for _, v := range w.viewers {
			w.watch(v)
		}
		for _, l := range slices.Clone(w.links) {
			w.carry(l)
		}
	}
	for _, r := range w.mirrors {
		if err := r.a.CheckBounds(1 << 10); err != nil {
			w.t.Fatalf("at %v, %s: %v", w.now, r.name, err)
		}
	}
}

// feed lets a mirror take what its source has.
func (w *world) feed(r *mirror) {
	if r.stalled {
		return
	}
	if r.log != nil {
		for ; r.fed < len(w.log); r.fed++ {
			if err := r.log.Append(w.now, w.log[r.fed]); err != nil {
				w.t.Fatalf("%s: %v", r.name, err)
			}
		}
		r.a.Live(w.now)
		return
	}
	if w.now >= r.up.Next() {
		r.up.Advance(w.now)
	}
	switch {
	case r.up.Stage() == audience.Dial && (r.source != w.owner || !w.down):
		r.up.Connected(w.now)
		r.link = w.connect(r.source, r.up, func() { r.link = nil; r.up.Disconnected(w.now) }, &r.stalled)
	case r.up.Stage() == audience.Dial:
		r.up.Disconnected(w.now)
	case r.up.Stage() != audience.Connect && r.link != nil:
		w.unlink(r.link)
		r.link = nil
	}
}

// fetch gets a mirror a keyframe over a connection of its own.
func (w *world) fetch(r *mirror) {
	f := audience.NewFetch(audience.UpstreamOptions{Auth: *protocol.AuthOf(w.header)})
	id, ok := r.source.Connect(w.now, r.name)
	if !ok {
		return
	}
	r.source.Receive(w.now, id, f.Send())
	for range 10 {
		b := w.pull(r.source, id)
		if len(b) == 0 {
			break
		}
		h, k, err := f.Receive(b)
		if err != nil {
			w.t.Fatal(err)
		}
		if k != nil {
			r.a.Offer(w.now, h, k)
			break
		}
	}
	r.source.Disconnect(w.now, id)
}

func (w *world) watch(v *viewer) {
	if w.now >= v.next {
		v.c.Advance(w.now)
	}
	for r := v.c.Ready(); ; r = v.c.Ready() {
		v.next = r.Next
		if len(r.Events) == 0 {
			break
		}
		for _, e := range r.Events {
			v.event(e)
		}
	}
	switch {
	case v.c.Stage() == player.StageDialing && v.link == nil:
		v.c.Connected(w.now)
		v.link = w.connect(v.at.a, v.c, func() { v.link = nil; v.c.Disconnected(w.now, nil) }, &v.blocked)
	case v.c.Stage() == player.StageClosing && v.link != nil:
		w.unlink(v.link)
		v.link = nil
		v.c.Disconnected(w.now, nil)
	}
}

func (v *viewer) event(e any) {
	switch e := e.(type) {
	case player.Desynced, player.Held, player.ServerError, player.ServerClosing, player.Ended, player.LostForGood:
		v.events = append(v.events, fmt.Sprintf("%T%+v", e, e)[len("player."):])
	case player.Synced:
		v.events = append(v.events, fmt.Sprintf("Synced{Tick:%d}", e.Tick))
	case player.Note:
		if e.Topic == record.TopicChat || e.Topic == record.TopicName {
			v.events = append(v.events, fmt.Sprintf("Note{%d %s %s}", e.Player, e.Topic, e.Text))
		}
	}
}

func (w *world) connect(to endpoint, from client, lost func(), blocked *bool) *link {
	id, ok := to.Connect(w.now, "somewhere")
	if !ok {
		w.t.Fatal("no room")
	}
	l := &link{to: to, id: id, from: from, lost: lost, blocked: blocked}
	w.links = append(w.links, l)
	return l
}

// unlink closes a connection from the client's side.
func (w *world) unlink(l *link) {
	if !l.gone {
		l.gone = true
		w.links = slices.DeleteFunc(w.links, func(x *link) bool { return x == l })
		if l.to != endpoint(w.owner) || !w.down {
			l.to.Disconnect(w.now, l.id)
		}
	}
}

// carry carries messages in both directions.
func (w *world) carry(l *link) {
	if l.gone || l.to == endpoint(w.owner) && w.down {
		return
	}
	for b := l.from.Send(nil); len(b) > 0 && !l.gone; b = l.from.Send(nil) {
		l.to.Receive(w.now, l.id, b)
	}
	if *l.blocked || !l.due || l.gone {
		return
	}
	l.due = false
	for b := w.pull(l.to, l.id); len(b) > 0 && !l.gone; b = w.pull(l.to, l.id) {
		if err := l.from.Receive(w.now, b); err != nil {
			w.t.Logf("at %v: %v", w.now, err)
			w.unlink(l)
			l.lost()
		}
	}
	if _, _, closed := l.to.Closed(l.id); closed && !l.gone {
		w.unlink(l)
		l.lost()
	}
}

func (w *world) pull(to endpoint, id host.PeerID) []byte {
	if h, ok := to.(*host.Host); ok {
		return h.Send(id, nil, protocol.MaxServerMessage)
	}
	return to.(*audience.Audience).Send(id, nil)
}

// mirror begins a mirror of the log, of the owner, or of another mirror.
func (w *world) mirror(name, from string, o audience.Options) *mirror {
	a, err := audience.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	r := &mirror{name: name, a: a}
	switch from {
	case "log":
		r.log = audience.NewLog(a)
	case "owner":
		r.source = w.owner
	default:
		r.source = w.find(from).a
	}
	if r.log == nil {
		r.up = audience.NewUpstream(a, audience.UpstreamOptions{Auth: *protocol.AuthOf(w.header), Seed: 1})
	}
	w.mirrors = append(w.mirrors, r)
	return r
}

func (w *world) find(name string) *mirror {
	for _, r := range w.mirrors {
		if r.name == name {
			return r
		}
	}
	w.t.Fatalf("no mirror %s", name)
	return nil
}

func (w *world) viewer(name string, at *mirror) *viewer {
	v := &viewer{name: name, at: at, c: player.New(w.game, player.Options{Seed: 1})}
	w.viewers = append(w.viewers, v)
	return v
}

// crash ends the owner, and begins a new one with all of the log but the last records.
func (w *world) crash(lose int) {
	w.log = w.log[:len(w.log)-lose]
	for _, l := range slices.Clone(w.links) {
		if l.to == endpoint(w.owner) {
			l.gone = true
			w.links = slices.DeleteFunc(w.links, func(x *link) bool { return x == l })
			l.lost()
		}
	}
	r := host.NewRecovery(w.game)
	for _, b := range w.log {
		if err := r.Append(b); err != nil {
			w.t.Fatal(err)
		}
	}
	before := w.owner
	var err error
	if w.owner, err = r.Host(w.now, w.options); err != nil {
		w.t.Fatal(err)
	}
	for _, r := range w.mirrors {
		if r.source == endpoint(before) {
			r.source = w.owner
		}
	}
	w.ownerNext = 0
}

// state describes what a viewer has, compared with the match.
func (w *world) state(v *viewer) string {
	sim := v.c.Simulation()
	if sim == nil {
		return fmt.Sprintf("%s: nothing, %v", v.name, v.c.Stage())
	}
	text := "equal"
	if want, known := w.hashes[sim.Tick()]; !known || want != sim.Hash() {
		text = "DIFFERENT"
	}
	return fmt.Sprintf("%s: tick %d of %d, %s, %v", v.name, sim.Tick(), w.owner.Now(), text, v.c.Stage())
}

package ownership

import (
	"fmt"
	"slices"
)

// The model: servers that run the real Owner and Reader over a store that keeps one log. Everything that may happen next
// in a world is a list of events, and an event makes another world.
//
//   - A request that is on its way arrives at any time, or after its server has stopped waiting for it, or never. A server
//     that appends the same message again has two of them on their way.
//   - An answer arrives, or gets lost: then the server calls Unknown. A storage that is away for a time is this
//     for all answers, so each way through the worlds may have such times.
//   - A read of the last message sees the log as it is now, or as it was at any time before.
//     An owner that knew of a message and sees none gives up: logs are removed when their matches are over.
//   - A server takes the match at any time, from any such log: no lease is trusted.
//   - A server crashes at any time, and forgets everything. It has the same name afterwards.

const (
	maxServers = 3
	maxTakes   = 5 // with one after the end of the faults

	largest = headerSize + maxName // of a message: room for 64 bytes of records
)

// A scope bounds the worlds.
type scope struct {
	servers int
	takes   int   // of the match, by all servers together
	records []int // that each owner may queue: their sizes
	twins   bool  // owners at the same place of the log queue the same records; otherwise no two records are the same
	oneName bool  // all servers have the same name, by mistake
}

// A rule is what the servers and the store do. The zero value is the real code; controls have others.
type rule struct {
	unfenced bool // the store ignores the sequence that an append expects
	accepted func(*Owner, uint64)
	refused  func(*Owner)
	unknown  func(*Owner)
	last     func(*Owner, uint64, []byte)
	take     func(*Reader, uint64, []byte) ([]byte, error)
}

// real returns r with the real code where it has nothing else.
func (r rule) real() rule {
	if r.accepted == nil {
		r.accepted = (*Owner).Accepted
	}
	if r.refused == nil {
		r.refused = (*Owner).Refused
	}
	if r.unknown == nil {
		r.unknown = (*Owner).Unknown
	}
	if r.last == nil {
		r.last = (*Owner).Last
	}
	if r.take == nil {
		r.take = (*Reader).Take
	}
	return r
}

// A model is a scope and a rule.
type model struct {
	scope
	rule
}

// A world is a state of the model. Worlds share what does not change.
type world struct {
	log     *entry // the last message; nil: none
	servers [maxServers]server
	late    []request // on their way, and nobody waits for them; sorted, each once
	takes   int
}

// A server may have an Owner.
type server struct {
	*Owner
	author  int // the number of the take
	base    int // messages of the log that it read before
	begin   int // bytes of twins in them
	first   int // number of its first record; 0 without twins
	queued  int // records
	phase   phase
	request request
	answer  uint64 // the sequence; 0 for a refusal
}

// A phase says what became of the last step of an Owner.
type phase byte

const (
	idle     phase = iota
	sent           // the request is on its way
	answered       // the answer is on its way
	reading
)

// A request is an append on its way.
type request struct {
	expect  uint64
	message []byte
	author  int
}

func (r request) compare(o request) int {
	return slices.Compare(r.appendState(nil), o.appendState(nil))
}

// names of the servers.
var names = [maxServers]string{"a", "b", "c"}

// name returns the name that a server has in its claims.
func (m *model) name(s int) string {
	if m.oneName {
		return names[0]
	}
	return names[s]
}

// record returns record i of an owner, or with twins, of the log. Its bytes say which one it is, and where each of them
// belongs.
func (m *model) record(author, i int) []byte {
	id := byte(16*author + i)
	if m.twins {
		id = byte(i)
	}
	b := make([]byte, m.records[i%len(m.records)])
	for at := range b {
		b[at] = byte(at)*31 ^ id*37
	}
	b[0] = id
	return b
}

// stream returns the first bytes that an owner writes, or with twins, that all owners write together.
func (m *model) stream(author, bytes int) (b []byte) {
	for i := 0; len(b) < bytes; i++ {
		b = append(b, m.record(author, i)...)
	}
	return b[:bytes]
}

// key returns the number under which the bytes of an author are counted.
func (m *model) key(author int) int {
	if m.twins {
		return 0
	}
	return author
}

// with returns a copy of the world in which the caller may change server s.
func (w *world) with(s int) (*world, *server) {
	c := *w
	v := &c.servers[s]
	if v.Owner != nil {
		v.Owner = v.Owner.clone()
	}
	return &c, v
}

// clone returns a copy of an Owner. Nothing changes the bytes of a flight in place but Next, and then it is empty.
func (o *Owner) clone() *Owner {
	c := *o
	c.queue, c.ends, c.flight = slices.Clone(o.queue), slices.Clone(o.ends), slices.Clone(o.flight)
	return &c
}

// store appends a message if the store accepts it, and returns its sequence, or 0.
func (m *model) store(w *world, r request) (sequence uint64, err error) {
	if r.expect != w.log.end() && !m.unfenced {
		return 0, nil
	}
	w.log, err = m.extend(w.log, r)
	m.prune(w)
	return w.log.sequence, err
}

// abandon lets nobody wait for the request of a server any more.
func (m *model) abandon(w *world, v *server) {
	if v.phase == sent {
		at, there := slices.BinarySearchFunc(w.late, v.request, request.compare)
		if !there { // the second one of two equal ones changes nothing: the first one moves the end
			w.late = slices.Insert(slices.Clone(w.late), at, v.request)
		}
	}
	v.phase, v.request, v.answer = idle, request{}, 0
	m.prune(w)
}

// prune forgets requests that nobody waits for and that the store would refuse at any later time.
func (m *model) prune(w *world) {
	dead := func(r request) bool { return r.expect != w.log.end() && !m.unfenced }
	if slices.ContainsFunc(w.late, dead) {
		w.late = slices.DeleteFunc(slices.Clone(w.late), dead)
	}
}

// check returns an error if what an Owner says is wrong. removed: it has read that there is no message, although it knew of one.
func (m *model) check(w *world, v *server, removed bool) error {
	if v.Owner == nil {
		return nil
	}
	if v.Claimed() {
		if e := w.log.at(v.base + 1); e == nil || e.kind != claim || e.term != v.term {
			return fmt.Errorf("takeover: owner %d says that its claim is stored, but it does not follow the %d messages that it read", v.author, v.base)
		}
	}
	if done := w.log.completed(m.key(v.author)) - v.begin; v.Stored() > uint64(done) {
		return fmt.Errorf("acknowledged: owner %d says that %d bytes are stored, but readers get %d", v.author, v.Stored(), done)
	}
	if v.Lost() && !removed && !w.log.othersAfter(v.End().Sequence, v.author) {
		return fmt.Errorf("lost: owner %d says that it has lost the log, but nobody else wrote after it", v.author)
	}
	return nil
}

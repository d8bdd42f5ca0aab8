package evidence

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// maxMachines is how many machines that differ are asked for their records because of one report, the player's own aside.
	maxMachines = 8

	// agreeTime is how long an inquiry waits for a machine that agrees.
	agreeTime = 2 * lockstep.Second
)

// A question is one to a witness for the record of its last ticks, and the answer.
type question struct {
	witness  *Witness
	tick     lockstep.Tick // of the check: the record reaches it
	buf      []byte
	over     bool          // it is complete, or does not come
	deadline lockstep.Time // Never until the question is sent
}

// others asks the other machines of a report for their records.
func (c *Collector) others(now lockstep.Time, q *inquiry, d *Desync) {
	for _, w := range d.Differ[:min(len(d.Differ), maxMachines)] {
		c.fly(now, q, w)
	}
	switch {
	case d.Agrees != nil:
		c.fly(now, q, d.Agrees)
	case d.Silent:
		q.agrees = now + agreeTime
	}
}

// Agreed says that a witness that can be asked has the agreed checksum of a tick. An inquiry about the check may have waited for it.
func (c *Collector) Agreed(now lockstep.Time, w *Witness, t lockstep.Tick) {
	for _, q := range c.inquiries {
		if q.agrees > 0 && q.evidence.Report.Tick == t {
			q.agrees = 0
			c.fly(now, q, w)
		}
	}
}

// fly asks a witness for its record, unless it is being asked about the same check already, or a later one.
func (c *Collector) fly(now lockstep.Time, q *inquiry, w *Witness) {
	t := q.evidence.Report.Tick
	if n := len(w.flights); n > 0 && w.flights[n-1].tick >= t {
		q.flights = append(q.flights, w.flights[n-1])
		return
	}
	f := &question{witness: w, tick: t, deadline: Never}
	q.flights, w.flights, c.flights = append(q.flights, f), append(w.flights, f), append(c.flights, f)
	if len(w.flights) == 1 {
		c.take(now, w)
	}
}

// take sends the next question to a witness.
func (c *Collector) take(now lockstep.Time, w *Witness) {
	f := w.flights[0]
	f.deadline = now + Timeout
	w.Flown++
	c.request(w, protocol.Message{Kind: protocol.KindFlightRequest, Tick: f.tick})
}

// flight takes a chunk of a record.
func (c *Collector) flight(now lockstep.Time, w *Witness, m *protocol.Message) Fault {
	if len(w.flights) == 0 || m.Tick != w.flights[0].tick {
		return Unasked // or too late
	}
	f := w.flights[0]
	if m.Offset != uint32(len(f.buf)) || m.Total > 0 && len(m.Bytes) == 0 {
		return "a chunk of a record out of order"
	}
	if f.buf = append(f.buf, m.Bytes...); len(f.buf) >= int(m.Total) {
		c.arrived(now, f)
	}
	return ""
}

// arrived ends a question, asks its witness for the next record, and ends the inquiries that have waited for this one alone.
func (c *Collector) arrived(now lockstep.Time, f *question) {
	f.over = true
	c.flights = slices.DeleteFunc(c.flights, func(x *question) bool { return x == f })
	w := f.witness
	if w.flights = slices.DeleteFunc(w.flights, func(x *question) bool { return x == f }); len(w.flights) > 0 && !w.gone {
		c.take(now, w)
	}
	for _, q := range slices.Clone(c.inquiries) {
		if slices.Contains(q.flights, f) {
			c.finish(q)
		}
	}
}

// land ends the questions that take too long and those of witnesses that are gone, and the waits for a machine that agrees.
func (c *Collector) land(now lockstep.Time) {
	for _, f := range slices.Clone(c.flights) {
		if !f.over && (f.witness.gone || now >= f.deadline) {
			f.buf = nil
			c.arrived(now, f)
		}
	}
	for _, q := range slices.Clone(c.inquiries) {
		if q.agrees > 0 && now >= q.agrees {
			q.agrees = 0
			c.finish(q)
		}
	}
}

// landed reports whether no more records are awaited.
func (q *inquiry) landed() bool {
	return q.agrees == 0 && !slices.ContainsFunc(q.flights, func(f *question) bool { return !f.over })
}

// records returns the records that have come.
func (q *inquiry) records() (all []Flight) {
	for _, f := range q.flights {
		if f.over && len(f.buf) > 0 {
			all = append(all, Flight{f.witness.Player, f.buf})
		}
	}
	return all
}

// recorded returns the bytes of the records that have come.
func (q *inquiry) recorded() (n int) {
	for _, f := range q.flights {
		n += cap(f.buf)
	}
	return n
}

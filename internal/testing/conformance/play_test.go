package conformance

import (
	"errors"
	"fmt"
)

var errBusy = errors.New("conformance: the client always has something to do")

// A play is a running scenario: guests, and perhaps a client under test, with a host. It
// keeps its first error.
type play struct {
	*stage
	guests map[int]*guest
	client *clientSide
	err    error
}

// input gives the host a step of another side at the current time.
func (p *play) input(from string, step Step) {
	step = p.step(from, step)
	if err := p.stage.input(&step); err != nil && p.err == nil {
		p.err = fmt.Errorf("conformance: at %d ms: %s of %s: %w", p.now, step.Do, from, err)
	}
}

// operator does something as the operator and delivers the results.
func (p *play) operator(do string, number int64, text string) {
	p.input("operator", Step{Do: do, Number: number, Text: text})
	p.deliver()
}

// player does something with the client under test.
func (p *play) player(do string, number int64, text string) {
	step := p.step("player", Step{Do: do, Number: number, Text: text})
	p.client.now = p.now
	p.keep(p.act(func() error { return p.client.play(&step) }))
	p.deliver()
}

func (p *play) keep(err error) {
	if p.err == nil {
		p.err = err
	}
}

// open opens a connection of a guest.
func (p *play) open() *guest {
	g := &guest{p: p, conn: len(p.conns) + 1}
	p.guests[g.conn] = g
	p.input("client", Step{Conn: g.conn, Do: "open"})
	p.deliver()
	return g
}

// join opens a connection and authenticates.
func (p *play) join(a auth) *guest {
	g := p.open()
	g.raw(a.message())
	p.deliver()
	return g
}

// again opens another connection of a guest, which keeps its state.
func (p *play) again(g *guest, a auth) *guest {
	g.conn, g.closed = len(p.conns)+1, ""
	p.guests[g.conn] = g
	p.input("client", Step{Conn: g.conn, Do: "open"})
	g.raw(a.message())
	p.deliver()
	return g
}

// resume reconnects with the session of the last welcome.
func (p *play) resume(g *guest) *guest {
	return p.again(g, auth{session: g.session, position: g.position})
}

// lose cuts the connection of the client under test on both sides.
func (p *play) lose() {
	step := Step{Conn: p.client.conn, Do: "cut"}
	p.input("network", step)
	p.client.now = p.now
	p.keep(p.act(func() error { return p.client.receive([]Step{step}) }))
	p.deliver()
}

// act lets the client under test act and gives the host its steps.
func (p *play) act(f func() error) error {
	var did []Step
	p.client.dial = func() int {
		conn := len(p.conns) + 1
		p.t.Client.Conns = append(p.t.Client.Conns, conn)
		return conn
	}
	p.client.emit = func(s Step) { did = append(did, p.step("client", s)) }
	err := f()
	for i := range did {
		p.keep(p.stage.input(&did[i]))
	}
	return err
}

// deliver gives guests and client the host's messages until none of them answers.
func (p *play) deliver() {
	for len(p.pending) > 0 && p.err == nil {
		batch := p.pending
		p.pending = nil
		var mine []Step
		for i := range batch {
			if g := p.guests[batch[i].Conn]; g == nil {
				mine = append(mine, batch[i])
			} else if g.conn == batch[i].Conn {
				p.keep(g.take(&batch[i]))
			}
		}
		if len(mine) > 0 {
			p.client.now = p.now
			p.keep(p.act(func() error { return p.client.receive(mine) }))
		}
	}
}

// wait lets time pass, in milliseconds.
func (p *play) wait(ms int64) {
	for until := p.now + ms; p.err == nil; {
		p.deliver()
		next := until
		if p.client != nil {
			next = min(next, max(p.now, p.client.next()))
		}
		if p.pass(next) {
			continue
		}
		if p.client != nil && p.client.next() <= p.now {
			p.client.now = p.now
			p.keep(p.act(func() error { p.client.settle(); return nil }))
			if p.client.next() <= p.now {
				p.keep(errBusy)
			}
			continue
		}
		if p.now >= until {
			return
		}
	}
}

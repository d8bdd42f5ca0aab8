//go:build !js

package server_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// carol is another honest player.
const carol = "carol-carol-carol-carol"

// Tokens of the attacker, in addition to those of guests.
const (
	eve     = "eve-eve-eve-eve-eve-eve"
	mallory = "mallory-mallory-mallory"
)

// An opcode is an action of an attacker. Each has three operands.
type opcode byte

const (
	opRequest opcode = iota // an HTTP request: which one, address, token; the fourth is sent in part
	opSilent                // a silent WebSocket: address, match
	opJoin                  // an authenticated WebSocket: token, address, session and match
	opSay                   // a valid message: connection, kind, values
	opMutate                // the same with a changed byte, or truncated
	opFrame                 // a WebSocket frame: connection, first byte, length
	opBytes                 // bytes below WebSocket: connection, number of bytes that follow
	opClose                 // closes a connection: which one, how
	opWait                  // waits: times 20 ms
	opStall                 // stops or resumes reading: connection
	opRepeat                // repeats the previous instructions: how many, how often
	opcodes
)

// An instruction is four bytes of a program, and the further bytes of an opBytes.
type instruction struct {
	op      opcode
	a, b, c byte
	data    []byte
}

// program parses a program, up to the limits of one run.
func program(b []byte) (p []instruction) {
	for len(b) >= 4 && len(p) < attackSteps {
		i := instruction{op: opcode(b[0]) % opcodes, a: b[1], b: b[2], c: b[3]}
		if b = b[4:]; i.op == opBytes {
			n := min(int(i.b%64), len(b))
			i.data, b = b[:n], b[n:]
		}
		p = append(p, i)
	}
	return p
}

// Limits of one run.
const (
	attackSteps = 400              // instructions
	attackConns = 160              // open connections
	attackTime  = 12 * time.Second // virtual, of opWait
	mobWrite    = 50 * time.Millisecond
)

// An attacker runs a program against a stage, in one goroutine. Each of its connections has another goroutine,
// which reads.
type attacker struct {
	t       *testing.T
	s       *stage
	known   func() (lockstep.Tick, uint64) // the latest checksum of an honest player
	readers sync.WaitGroup

	conns   []*attackerConn // the oldest first
	steps   int
	waited  time.Duration
	strange int // invented addresses and guests
	writer  protocol.Writer

	mu       sync.Mutex
	sessions []protocol.SessionToken // that the server gave to its connections
	did      map[string]int          // counts of events, for authors of seeds
}

func (m *attacker) count(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.did[what]++
}

// run runs a program.
func (m *attacker) run(p []instruction) {
	for i := range p {
		if p[i].op != opRepeat {
			m.do(p[i])
			continue
		}
		body := p[max(0, i-1-int(p[i].a%16)):i]
		for range int(p[i].b) {
			for _, x := range body {
				if m.steps < attackSteps && x.op != opRepeat {
					m.do(x)
				}
			}
		}
	}
}

// do runs an instruction.
func (m *attacker) do(x instruction) {
	if m.steps++; m.steps > attackSteps {
		return
	}
	switch x.op {
	case opRequest:
		m.request(x)
	case opSilent:
		m.open(m.address(x.a), m.upgrade(x.b), true)
	case opJoin:
		c := m.open(m.address(x.b), m.upgrade(x.c>>4), true)
		a := protocol.NewAuth(m.s.game)
		a.Token, a.Session = m.token(x.a), m.session(x.c%16)
		a.Position = protocol.Position(x.c) % 3 * 7
		c.write(whole(fin|binOp, m.writer.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: a})))
	case opSay:
		c := m.conn(x.a)
		c.write(whole(fin|binOp, m.message(c, x.b, x.c)))
	case opMutate:
		c := m.conn(x.a)
		b := m.message(c, x.b, x.c)
		b[int(x.c)%len(b)] ^= 1 << (x.b >> 5)
		c.write(whole(fin|binOp, b[:len(b)-int(x.a>>6)%len(b)]))
	case opFrame:
		m.conn(x.a).write(frame(x.b, x.c != 0xff, uint64(x.c), make([]byte, x.c)))
	case opBytes:
		m.conn(x.a).write(x.data)
	case opClose:
		c := m.conn(x.a)
		if x.b%2 == 1 {
			c.write(whole(fin|closed, []byte{3, 0xe8}))
		} else {
			c.close()
		}
	case opWait:
		d := min(time.Duration(x.a)*20*time.Millisecond, attackTime-m.waited)
		m.waited += d
		time.Sleep(d)
	case opStall:
		m.conn(x.a).listen(x.b%2 == 1)
	}
}

// address returns the address of a connection; the first is also Bob's.
func (m *attacker) address(a byte) string {
	switch a %= 8; a {
	case 6: // one customer's
		m.strange++
		return fmt.Sprintf("[2001:db8:1:1::%x]", m.strange+1)
	case 7:
		m.strange++
		return fmt.Sprintf("10.1.%d.%d", m.strange>>8, m.strange&0xff)
	}
	return fmt.Sprintf("198.51.100.%d", a+1)
}

func (m *attacker) token(a byte) string {
	switch a %= 16; a {
	case 0:
		return eve
	case 1:
		return mallory
	case 2:
		return press
	case 3:
		return "" // nobody
	case 4:
		return ada[1:] + "x"
	case 5:
		return ops + "x"
	case 6: // always a new one
		m.strange++
		return fmt.Sprintf("guest:g%[1]d:fedcba9876543210%[1]d", m.strange)
	}
	return fmt.Sprintf("guest:g:0123456789abcdef%d", a)
}

// session returns a session of one of the attacker's connections, or an invalid one.
func (m *attacker) session(a byte) protocol.SessionToken {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch n := len(m.sessions); {
	case a == 0:
		return protocol.SessionToken{}
	case a == 15 || n == 0:
		return protocol.SessionToken{a, byte(m.steps)}
	case a == 14:
		t := m.sessions[n-1]
		t[3] ^= 1
		return t
	default:
		return m.sessions[n-1-int(a-1)%n]
	}
}

// upgrade is a WebSocket handshake for the stage's match or a guest's.
func (m *attacker) upgrade(match byte) []byte {
	name := "duel"
	if match %= 8; match > 5 {
		name = fmt.Sprintf("g%d", match)
	}
	return bytes.Replace(upgradeRequest(m.s.host), []byte("duel"), []byte(name), 1)
}

// request sends an HTTP request, or a part of it.
func (m *attacker) request(x instruction) {
	line, body := "GET /matches", ""
	switch x.a % 10 {
	case 1:
		line = "GET /matches/duel"
	case 2:
		line, body = "POST /matches", guestMatch(fmt.Sprintf("g%d", x.c%8), int(x.c>>4), 3)
	case 3:
		line = "DELETE /matches/duel"
	case 4:
		line = "POST /matches/duel/kick?seat=0"
	case 5:
		line = "GET /metrics"
	case 6:
		line = "GET /replays"
	case 7:
		line = "POST /matches/duel/pause?seat=1"
	case 8:
		line, body = "POST /matches", strings.Repeat("[", 1+int(x.c)*300)
	case 9:
		line = "GET /healthz"
	}
	b := fmt.Appendf(nil, "%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", line, m.s.host, m.token(x.c), len(body), body)
	if x.b>>6 == 3 {
		b = b[:len(b)*int(x.b>>3&7)/8]
	}
	m.open(m.address(x.b), b, false)
}

// message returns a valid message of the protocol.
func (m *attacker) message(c *attackerConn, kind, v byte) []byte {
	tick, hash := m.known()
	msg := protocol.Message{Nonce: uint64(v), Tick: tick, Position: protocol.Position(c.position.Load()), Hash: hash}
	switch kind % 16 {
	case 0, 1, 2: // false now and then
		msg.Kind = protocol.KindChecksum
		if msg.Hash ^= uint64(v % 2); v > 127 {
			msg.Tick += lockstep.Tick(v % 32)
		}
	case 3:
		msg.Kind, msg.Text = protocol.KindChat, strings.Repeat("x", int(v)*4)
	case 4, 5:
		msg.Kind, msg.Command, msg.Sequence = protocol.KindCommand, lockstep.Kind(v%3), lockstep.Sequence(v)
		msg.Bytes = []byte{v % 128, 0, 3, 0}
	case 6:
		msg.Kind = protocol.KindAck
		msg.Tick, msg.Position = msg.Tick-lockstep.Tick(v%8), msg.Position-protocol.Position(v/8)
	case 7:
		msg.Kind = protocol.KindLeave
	case 8:
		msg.Kind = protocol.KindPing
	case 9:
		msg.Kind = protocol.KindPong
	case 10:
		msg.Kind = protocol.KindStateSyncRequest
	case 11:
		msg.Kind, msg.Total, msg.Bytes = protocol.KindState, 1<<16, make([]byte, v)
	case 13:
		msg.Kind, msg.Hash = protocol.KindResimulated, uint64(v)
	case 12:
		msg.Kind, msg.Auth = protocol.KindAuth, protocol.NewAuth(m.s.game)
		if msg.Auth.Token = m.token(v); v%2 == 1 {
			msg.Auth.Capabilities = []string{protocol.Resimulate}
		}
	default: // a batch
		one := protocol.Message{Kind: protocol.KindPing, Nonce: uint64(v)}
		var b []byte
		for range 1 + int(v) {
			b = m.writer.Append(b, &one)
		}
		return b
	}
	return m.writer.Append(nil, &msg)
}

// leave closes all connections.
func (m *attacker) leave() {
	for _, c := range m.conns {
		c.close()
	}
	m.conns = nil
	m.readers.Wait()
}

// welcomed keeps the session of a connection.
func (m *attacker) welcomed(w *protocol.Welcome, duel bool) {
	m.count(fmt.Sprint("welcomed as ", w.Role))
	if duel && w.Seat < 2 {
		m.t.Errorf("the seat of an honest player was given away: %d", w.Seat)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if w.Role != protocol.Spectator {
		m.sessions = append(m.sessions, w.Session)
	}
}

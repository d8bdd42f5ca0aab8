package conformance

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A clientSide is a Client in virtual time, in whole milliseconds. It calls emit with its
// steps: it opens a connection, sends a message, or closes the connection.
type clientSide struct {
	c    *player.Client
	says *Player // what its auth says
	emit func(Step)
	dial func() int // returns the number of the next connection
	now  int64
	conn int // current connection; 0: none
}

func newClientSide(p *Player) *clientSide {
	return &clientSide{says: p, c: player.New(game(), player.Options{Token: p.Token, Seed: 1})}
}

func (s *clientSide) time() lockstep.Time { return lockstep.Time(s.now) * lockstep.Millisecond }

func (s *clientSide) next() int64 { return max(s.now, ceilMS(s.c.Ready().Next)) }

// settle lets the client do what is due.
func (s *clientSide) settle() {
	for range 1000 {
		s.c.Advance(s.time())
		s.flush()
		if s.c.Stage() == player.StageDone || s.c.Ready().Next > s.time() {
			return
		}
	}
}

// flush takes what the client wants done.
func (s *clientSide) flush() {
	for {
		if s.conn == 0 {
			if s.c.Stage() != player.StageDialing {
				return
			}
			s.conn = s.dial()
			s.emit(Step{Conn: s.conn, Do: "open"})
			s.c.Connected(s.time())
		}
		if s.says.Datagrams {
			s.c.SendDatagram(nil) // when it says something so is its own
		}
		if b := s.c.Send(nil); len(b) > 0 {
			b = neutral(b, s.says.Resimulates)
			s.emit(Step{Conn: s.conn, Hex: hex.EncodeToString(b), Says: contents(b)})
			continue
		}
		if s.c.Stage() != player.StageClosing {
			return
		}
		s.emit(Step{Conn: s.conn, Do: "close"})
		s.conn = 0
		s.c.Disconnected(s.time(), nil)
	}
}

// neutral replaces the platform in an auth, because it differs from machine to machine, and the capability to resimulate where it does not
// matter, because a client need not know it.
func neutral(b []byte, resimulates bool) []byte {
	var r protocol.Reader
	var w protocol.Writer
	var m protocol.Message
	rest, err := r.Read(&m, b)
	if err != nil || m.Kind != protocol.KindAuth {
		return b
	}
	m.Auth.Platform = "conformance"
	m.Auth.Capabilities = nil
	if resimulates {
		m.Auth.Capabilities = []string{protocol.Resimulate}
	}
	return append(w.Append(nil, &m), rest...)
}

// receive gives the client steps of the server of one moment.
func (s *clientSide) receive(steps []Step) error {
	for _, step := range steps {
		if step.Conn != s.conn {
			continue // the client has closed that one
		}
		b, err := hex.DecodeString(step.Hex)
		if step.Do == "datagram" {
			s.c.ReceiveDatagram(s.time(), b) // an error is a wish to close
		} else if step.Do != "" {
			s.conn = 0
			s.c.Disconnected(s.time(), errors.New("closed by the server"))
		} else {
			s.c.Receive(s.time(), b) // an error is a wish to close
		}
		if err != nil {
			return err
		}
		s.settle()
	}
	return nil
}

// play runs a step of the player.
func (s *clientSide) play(step *Step) error {
	var err error
	switch step.Do {
	case "add":
		_, err = s.c.Submit(&add{int16(step.Number)})
	case "say":
		_, err = s.c.Submit(&say{step.Text})
	case "chat":
		err = s.c.Chat(step.Text)
	case "ready":
		s.c.SetReady(step.Number == 1)
	case "leave":
		s.c.Leave(step.Text)
	case "corrupt":
		err = s.c.Corrupt(step.Text)
	default:
		err = fmt.Errorf("conformance: the player cannot %q", step.Do)
	}
	s.settle()
	return err
}

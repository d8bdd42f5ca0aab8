package conformance

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// operate runs a step of the server's operator. A refusal of the host is not an error.
func (s *stage) operate(step *Step) error {
	h, now, seat := s.host, s.time(), lockstep.Player(step.Number)
	switch step.Do {
	case "pause":
		h.Admin().Pause(now, seat)
	case "resume":
		h.Admin().Resume(now, seat)
	case "kick":
		h.Admin().Remove(now, seat, step.Text)
	case "ban":
		h.Bans().AddPlayer(now, seat, 0, step.Text)
	case "speed":
		h.Admin().SetSpeed(now, uint16(step.Number))
	case "input_delay":
		h.Admin().SetInputDelay(now, lockstep.Tick(step.Number))
	case "hold":
		h.Admin().Hold(now, host.Wait{Reason: step.Text})
	case "start":
		h.Admin().Start(now)
	case "keyframe":
		h.Admin().Keyframe(now)
	case "end":
		h.Admin().End(now, step.Text)
	case "shutdown":
		h.Admin().Shutdown(now, lockstep.Time(step.Number)*lockstep.Millisecond)
	case "crash":
		return s.crash(int(step.Number))
	default:
		return fmt.Errorf("conformance: the operator cannot %q", step.Do)
	}
	return nil
}

// crash ends the server's process and starts another one with the first records of the
// log. All connections are lost without a message.
func (s *stage) crash(keep int) error {
	r := host.NewRecovery(s.game())
	for _, record := range s.records[:keep] {
		if err := r.Append(record); err != nil {
			return err
		}
	}
	s.records = s.records[:keep]
	for i, id := range s.conns {
		if s.conns[i] = 0; id != 0 {
			s.sent(s.step("server", Step{Conn: i + 1, Do: "close", About: "crash"}))
		}
	}
	h, err := r.Host(s.time(), s.options())
	if err == nil {
		s.host = h
	}
	return err
}

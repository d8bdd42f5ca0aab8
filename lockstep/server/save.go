package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

// ErrUnrecorded is the error of [Match.Save] if the match has no replay.
var ErrUnrecorded = errors.New("server: the match has no replay: the server has no folder for them")

// Save writes a replay of the match up to its last tick to w, and returns that tick. The match goes on meanwhile. The
// replay has an end that says so, so it verifies like that of a match that is over. It has what players must not see. It
// holds what the disk may still lose in a crash of the machine. After an error the replay in w is not whole.
func (m *Match) Save(ctx context.Context, w io.Writer) (lockstep.Tick, error) {
	x, err := m.openSave(ctx)
	if err != nil {
		return 0, err
	}
	defer x.file.Close()
	return x.tick, m.writeSave(ctx, w, x)
}

// saveTimeout is the longest time that a save may take to be sent.
const saveTimeout = 10 * time.Minute

// A savedLog is the log of a match up to a tick.
type savedLog struct {
	file *os.File
	size int64
	tick lockstep.Tick
}

// openSave opens the match's log up to its last tick.
func (m *Match) openSave(ctx context.Context) (x savedLog, err error) {
	gone := m.Do(ctx, func(h *host.Host) {
		if m.writer == nil {
			err = ErrUnrecorded
			return
		}
		if err = m.writer.Flush(); err != nil || m.writer.Full() {
			err = fmt.Errorf("%w: its disk is full or has failed", ErrStorage)
			return
		}
		x.size, x.tick = m.writer.Size(), h.Now()
		x.file, err = files.OpenNoFollow(m.path)
	})
	return x, errors.Join(gone, err)
}

// writeSave writes a replay. Like seal, it leaves the other processors to the matches.
func (m *Match) writeSave(ctx context.Context, w io.Writer, x savedLog) error {
	s := m.server
	select {
	case s.seals <- struct{}{}:
		defer func() { <-s.seals }()
	case <-ctx.Done():
		return ctx.Err()
	}
	r, err := replay.NewReader(x.file, x.size)
	if err == nil {
		_, err = replay.Save(replay.NewWriter(w, replay.WriterOptions{SegmentTicks: sealTicks}), r)
	}
	return err
}

// save answers with a replay of a match that goes on. An answer that breaks off has no end.
func (s *Server) save(w http.ResponseWriter, r *http.Request) {
	from := addressOf(r.RemoteAddr)
	if !s.replays.startDownload(from) {
		s.turnedAway("downloading", r.RemoteAddr)
		w.Header().Set("Retry-After", "5")
		fail(w, codeBusy, "too many replays are being sent")
		return
	}
	defer s.replays.endDownload(from)
	m := s.requested(w, r)
	if m == nil {
		return
	}
	x, err := m.openSave(r.Context())
	switch {
	case errors.Is(err, ErrMatchOver):
		fail(w, codeOver, err.Error())
		return
	case errors.Is(err, ErrUnrecorded):
		fail(w, codeConflict, err.Error())
		return
	case err != nil:
		s.log.Error("save", "match", m.Name(), "err", err)
		fail(w, codeStorage, "the log of the match cannot be read: its disk is full or has failed")
		return
	}
	defer x.file.Close()
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(saveTimeout)) // without it, the limit of all answers applies
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s-%s-%d.ssr"`, m.Name(), m.View().Match[:8], x.tick))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if err := m.writeSave(r.Context(), w, x); err != nil {
		if r.Context().Err() == nil {
			s.log.Error("save", "match", m.Name(), "err", err)
		}
		panic(http.ErrAbortHandler) // the client sees that the answer is not whole
	}
}

package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

// ErrUnrecorded is the error of [Match.Save] if the match has no replay.
var ErrUnrecorded = errors.New("server: the match has no replay: the server has no folder for them")

// Save writes a replay of the match up to its last tick to w, and returns that tick. The match goes on meanwhile. The
// replay has an end that says so, so it verifies like that of a match that is over. It has what players must not see, and
// ticks that a crash of the machine may still take from the match. After an error the replay in w is not whole.
func (m *Match) Save(ctx context.Context, w io.Writer) (lockstep.Tick, error) {
	x, err := m.openSave(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { x.file.Close() }()
	if err := x.seal(ctx, m.server.sealer.seals, filepath.Dir(m.path)); err != nil {
		return 0, err
	}
	_, err = io.Copy(w, x.file)
	return x.tick, err
}

// saveTimeout is the longest time that a save may take to be sent.
const saveTimeout = 10 * time.Minute

// A savedLog is the log of a match up to a tick.
type savedLog struct {
	file *os.File
	size int64
	tick lockstep.Tick
	err  error // why there is none
}

// openSave opens the match's log up to its last tick.
func (m *Match) openSave(ctx context.Context) (savedLog, error) {
	flushed := make(chan savedLog, 1)
	err := m.Do(ctx, func(h *host.Host) {
		var x savedLog
		switch {
		case !m.log.Recorded():
			x.err = ErrUnrecorded
		case m.log.Held() != "" || m.log.Flush() != nil:
			x.err = fmt.Errorf("%w: its disk is full, does not answer or has failed", ErrStorage)
		default:
			x.size, x.tick = m.log.Size(), h.Now()
		}
		flushed <- x
	})
	if err != nil {
		return savedLog{}, err
	}
	x := <-flushed
	if x.err != nil {
		return x, x.err
	}
	ctx, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	err = m.log.Await(ctx, x.size)
	if err == nil {
		x.file, err = files.OpenNoFollow(m.path)
	}
	return x, storageFailed(err)
}

// seal replaces the log by a sealed replay with an end, in a file without a name in a folder. Like sealer.seal, it leaves the other
// processors to the matches: seals has their number.
func (x *savedLog) seal(ctx context.Context, seals chan struct{}, dir string) error {
	select {
	case seals <- struct{}{}:
		defer func() { <-seals }()
	case <-ctx.Done():
		return ctx.Err()
	}
	r, err := replay.NewReader(x.file, x.size)
	if err != nil {
		return err
	}
	sealed, err := newTemporary(dir)
	if err != nil {
		return err
	}
	w := replay.NewWriter(untilDone{ctx, sealed}, replay.WriterOptions{SegmentTicks: sealTicks})
	if _, err = replay.Save(w, r); err == nil {
		_, err = sealed.Seek(0, io.SeekStart)
	}
	if err != nil {
		sealed.Close()
		return err
	}
	x.file.Close()
	x.file, x.size = sealed, w.Size()
	return nil
}

// An untilDone is a writer that fails when its context has ended.
type untilDone struct {
	ctx context.Context
	w   io.Writer
}

func (u untilDone) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.w.Write(p)
}

// save answers with a replay of a match that goes on.
func (ma *matchAPI) save(w http.ResponseWriter, r *http.Request) {
	m := ma.registry.requested(w, r)
	if m == nil {
		return
	}
	if err := m.View().disclosed.Files(readerWith(&auditOf(r).grant), false); err != nil {
		fail(w, codeRefused, err.Error())
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(saveTimeout)) // without it, the limit of all answers applies
	x, err := m.openSave(r.Context())
	if err == nil {
		defer func() { x.file.Close() }()
		err = x.seal(r.Context(), ma.sealer.seals, filepath.Dir(m.path))
	}
	switch {
	case errors.Is(err, ErrMatchOver):
		fail(w, codeOver, err.Error())
		return
	case errors.Is(err, ErrUnrecorded):
		fail(w, codeConflict, err.Error())
		return
	case err != nil:
		m.logger.Error("save", "err", err)
		fail(w, codeStorage, "the log of the match cannot be copied: its disk is full, does not answer or has failed")
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s-%s-%d.ssr"`, m.Name(), m.View().Match[:8], x.tick))
	h.Set("Content-Length", strconv.FormatInt(x.size, 10))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	io.Copy(w, x.file) // the client sees from the length whether it is whole
}

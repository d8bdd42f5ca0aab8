//go:build !js

package live

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/lockstep/twin"
	"github.com/seed-49bee653/samestep/replay"
)

// A heavyLog is the replay of a client from the state with which it joined, for the bundles of its heavy mode.
type heavyLog struct {
	file   *os.File
	writer *replay.Writer
	bytes  int64
	err    error // why there is none any more
}

// maxHeavyLog is the most bytes of records of a heavyLog. A longer match has no bundle.
const maxHeavyLog = 1 << 30

// take takes a record. A header begins anew.
func (l *heavyLog) take(raw []byte) {
	if record.KindOf(raw) == record.KindHeader {
		l.close()
		if l.file, l.err = os.CreateTemp("", "samestep-join-*.ssr"); l.err != nil {
			return
		}
		l.bytes, l.writer = 0, replay.NewWriter(l.file, replay.WriterOptions{Durability: replay.SyncNone})
	}
	if l.bytes += int64(len(raw)); l.err == nil && l.bytes > maxHeavyLog {
		l.err = fmt.Errorf("the match has more than %d bytes", maxHeavyLog)
	}
	if l.err == nil {
		l.err = l.writer.Append(raw)
	}
}

// close removes the file.
func (l *heavyLog) close() {
	if l.file != nil {
		l.file.Close()
		os.Remove(l.file.Name())
	}
	l.file = nil
}

// bundle writes a bundle about a difference to a new file in the current folder, and returns its name.
func (l *heavyLog) bundle(h *lockstep.Header, e *host.Evidence, who string, contents [][]byte) (string, error) {
	if l.err == nil {
		l.err = l.writer.Flush()
	}
	if l.err != nil {
		return "", l.err
	}
	if _, err := l.file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	whole := fmt.Sprintf("%.8s-twin-%d-%s", h.Match, e.Report.Tick, who)
	name := whole + ".zip"
	err := error(nil)
	for n := 2; n < 100; n++ { // another spectator may have the name, or we before we joined again
		err = files.Create(name, func(out *os.File) error { return replay.WriteBundle(out, h, e, l.file, contents...) })
		if !errors.Is(err, fs.ErrExist) {
			break
		}
		name = fmt.Sprintf("%s-%d.zip", whole, n)
	}
	if _, back := l.file.Seek(0, io.SeekEnd); err == nil {
		err = back
	}
	return name, err
}

// A joinTwin is a difference that the heavy mode of join has found.
type joinTwin struct {
	Text   string `json:"text"`
	Bundle string `json:"bundle,omitempty"` // its file
	Error  string `json:"error,omitempty"`  // why there is none
}

// differs notes a difference, and writes its bundle.
func (j *join) differs(c *player.Client, d *twin.Difference) {
	h, seat, who := c.Header(), lockstep.System, "spectator"
	if j.summary.Seat >= 0 {
		seat = lockstep.Player(j.summary.Seat)
		who = fmt.Sprintf("player%d", seat)
	}
	self := host.Participant{Player: seat, Build: h.Build, Platform: lockstep.Platform(), Sources: j.game.Sources().TextAfter(lockstep.Platform())}
	t := joinTwin{Text: d.String()}
	var err error
	if t.Bundle, err = j.heavy.bundle(h, host.TwinEvidence(d, seat, []host.Participant{self}), who, j.contents(h)); err != nil {
		t.Bundle, t.Error = "", err.Error()
	}
	j.summary.Twins = append(j.summary.Twins, t)
	if j.status != nil {
		fmt.Fprintln(j.status, t.Text)
	}
}

// contents returns what another machine needs to simulate the match: its assets, and the module of its rules.
func (j *join) contents(h *lockstep.Header) (all [][]byte) {
	list, _ := j.game.Assets(h) // the client has computed the match
	for _, a := range list {
		if b, err := j.game.ReadAsset(a); err == nil {
			all = append(all, b)
		}
	}
	if m := j.game.Module; m != nil {
		all = append(all, m.Bytes)
	}
	return all
}

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// errNeverBegan: the server of a match was lost before the log had a header.
var errNeverBegan = errors.New("cluster: the log has no header: its match never began")

// A fetched is a log that this server has claimed, and as a file.
type fetched struct {
	log    *matchLog
	path   string
	header *lockstep.Header
	rules  *replay.Rules // that the log names, or nil
}

// rulesIn returns what the log in a file says about the rules of its match, or nil.
func rulesIn(path string) (*replay.Rules, error) {
	f, err := replay.OpenNoFollow(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := f.Reader()
	if err != nil {
		return nil, err
	}
	rules, err := r.Rules()
	if replay.ClassOf(err).Early() {
		err = nil // it goes on
	}
	return rules, err
}

// A download writes a replicated log into a file.
type download struct {
	conn      *storage.Conn
	id        lockstep.MatchID
	path      string
	file      *os.File
	reader    ownership.Reader
	dec       record.Decoder
	writer    *replay.Writer
	header    *lockstep.Header
	copies    *storage.Segments // takes what they do not have yet
	copied    bool              // some messages were read from segments
	plain     bool              // none may be
	malformed bool              // what was read, so that reading it again does not help
}

// fetch claims the log of a match, and writes it to where the server resumes it. With [errNeverBegan] it has the log,
// too.
func (m *Member) fetch(ctx context.Context, e *Match) (f *fetched, err error) {
	id, err := e.matchID()
	if err != nil {
		return nil, err
	}
	f = &fetched{path: m.fileOf(e)}
	d := &download{conn: m.options.Conn, id: id, path: f.path + ".part"}
	defer d.close()
	if err := d.begin(); err != nil {
		return nil, err
	}
	for f.log == nil {
		if err := d.insist(ctx); err != nil {
			return nil, err
		}
		if m.mine(e) == nil { // a claim would only depose that server
			return nil, fmt.Errorf("cluster: match %q: %w by now", e.Name, server.ErrNotOwner)
		}
		if f.log, err = m.claim(ctx, e, d); err != nil {
			return nil, err
		}
	}
	if f.header = d.header; f.header == nil {
		return f, errNeverBegan
	}
	if err = d.writer.Close(); err == nil {
		err = replay.Replace(d.path, f.path)
	}
	if err == nil {
		f.rules, err = rulesIn(f.path)
	}
	if err != nil {
		f.log.close()
		return nil, err
	}
	return f, nil
}

// begin makes the file, empty.
func (d *download) begin() (err error) {
	d.close() // a crash can have left one, too
	if d.file, err = replay.Create(d.path); err != nil {
		return err
	}
	d.writer = replay.NewWriter(d.file, replay.WriterOptions{Durability: replay.SyncNone})
	d.reader, d.dec, d.header, d.copied = ownership.Reader{}, record.Decoder{}, nil, false
	if d.copies = d.conn.Segments(d.id); d.plain {
		d.copies.Replace()
	}
	return nil
}

// close removes the file, unless it has its final name.
func (d *download) close() {
	if d.file != nil {
		d.file.Close()
	}
	os.Remove(d.path)
}

// claim claims a log which ends where d does. It returns nil if it ends later.
func (m *Member) claim(ctx context.Context, e *Match, d *download) (*matchLog, error) {
	l := m.newMatchLog(e, d.id, d.reader.End(), d.copies)
	claimed, err := l.waitClaim(ctx)
	if !claimed {
		l.close()
		return nil, err
	}
	return l, nil
}

// readTime is how long reading the log may take without a new message before it is tried again. An answer can get lost
// with the node that was asked, and then nobody says so.
const readTime = time.Second

// insist reads the log to its end, whatever happens to the storage meanwhile.
func (d *download) insist(ctx context.Context) error {
	for {
		before := d.reader.End()
		one, cancel := context.WithTimeout(ctx, readTime)
		err := d.catchUp(one)
		cancel()
		if errors.Is(err, errSegments) && !d.plain {
			d.plain = true
			if err = d.begin(); err == nil {
				continue
			}
		}
		switch {
		case err == nil || d.malformed || ctx.Err() != nil:
			return err
		case d.reader.End() == before:
			time.Sleep(askAgain)
		}
	}
}

// catchUp reads the log to its end.
func (d *download) catchUp(ctx context.Context) error {
	last, _, err := d.conn.Last(ctx, d.id)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	tail := d.conn.Tail(d.id, d.reader.End().Sequence)
	defer tail.Close()
	if d.plain {
		tail.Plain()
	}
	for d.reader.End().Sequence < last {
		sequence, message, err := tail.Next(ctx)
		switch {
		case err == nil:
			d.copied = d.copied || tail.Copied()
			if err = d.take(sequence, message); err == nil && !tail.Copied() {
				d.copies.Add(sequence, message)
			}
			if d.malformed = err != nil; d.malformed && d.copied && errors.Is(err, ownership.ErrMalformed) {
				err = errSegments
			}
		case errors.Is(err, io.EOF): // a copy that is a little late has answered
			time.Sleep(lateCopy)
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	if d.copied && d.reader.End().Sequence > last { // the log may have grown meanwhile, or segments have what it has lost
		if last, _, err = d.conn.Last(ctx, d.id); err == nil && d.reader.End().Sequence > last {
			err = errSegments
		}
	}
	return err
}

// errSegments: the segments are not those of the log. A storage that has lost its last messages in a power cut may have kept
// a segment with them.
var errSegments = errors.New("cluster: the segments of the log have what is not in it")

// lateCopy is the time to wait for a copy of the log that does not have its end yet.
const lateCopy = 5 * time.Millisecond

// take writes the records of a message.
func (d *download) take(sequence uint64, message []byte) error {
	b, err := d.reader.Take(sequence, message)
	for err == nil && len(b) > 0 {
		var rec *record.Record
		var rest []byte
		if rec, rest, err = d.dec.Decode(b); err != nil {
			break
		}
		if rec.Kind == record.KindHeader {
			h := *rec.Header
			d.header = &h
		}
		err = d.writer.Append(b[:len(b)-len(rest)])
		b = rest
	}
	if err != nil {
		return fmt.Errorf("cluster: sequence %d of the log: %w", sequence, err)
	}
	return nil
}

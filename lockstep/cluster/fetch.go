package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/cluster/ownership"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// errNeverBegan: the server of a match was lost before the log had a header.
var errNeverBegan = errors.New("cluster: the log has no header: its match never began")

// A fetched is a log that this server has claimed, and as a file.
type fetched struct {
	log    *matchLog
	path   string
	header *lockstep.Header
}

// A download writes a replicated log into a file.
type download struct {
	stream  jetstream.Stream
	subject string
	reader  ownership.Reader
	dec     record.Decoder
	writer  *replay.Writer
	header  *lockstep.Header
}

// fetch claims the log of a match, and writes it to where the server resumes it. With [errNeverBegan] it has the log,
// too.
func (m *Member) fetch(ctx context.Context, e *Match) (f *fetched, err error) {
	id, err := e.matchID()
	if err != nil {
		return nil, err
	}
	d := &download{}
	name, subject := m.options.Conn.LogOf(id)
	d.subject = subject
	if d.stream, err = m.options.Conn.JS.Stream(ctx, name); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	f = &fetched{path: filepath.Join(m.options.Dir, "live", fmt.Sprintf("%s-%s.ssr", e.Name, e.ID[:8]))}
	os.Remove(f.path + ".part") // a crash can have left one
	file, err := replay.Create(f.path + ".part")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.path + ".part")
	defer file.Close()
	d.writer = replay.NewWriter(file, replay.WriterOptions{Durability: replay.SyncNone})
	for f.log == nil {
		if err := d.catchUp(ctx); err != nil {
			return nil, err
		}
		if f.log, err = m.claim(ctx, e, d.reader.End()); err != nil {
			return nil, err
		}
	}
	if f.header = d.header; f.header == nil {
		return f, errNeverBegan
	}
	if err := d.writer.Close(); err == nil {
		err = replay.Replace(f.path+".part", f.path)
	}
	if err != nil {
		f.log.close()
		return nil, err
	}
	return f, nil
}

// claim claims a log which ends at end. It returns nil if it ends later.
func (m *Member) claim(ctx context.Context, e *Match, end ownership.End) (*matchLog, error) {
	l, err := m.newMatchLog(e, end)
	if err != nil {
		return nil, err
	}
	claimed, err := l.waitClaim(ctx)
	if !claimed {
		l.close()
		return nil, err
	}
	return l, nil
}

// catchUp reads the log to its end.
func (d *download) catchUp(ctx context.Context) error {
	last, err := d.stream.GetLastMsgForSubject(ctx, d.subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && last.Sequence <= d.reader.End().Sequence {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cluster: the end of the log: %w", err)
	}
	c, err := d.stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{d.subject}, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: d.reader.End().Sequence + 1,
	})
	if err != nil {
		return fmt.Errorf("cluster: reading the log: %w", err)
	}
	messages, err := c.Messages()
	if err != nil {
		return fmt.Errorf("cluster: reading the log: %w", err)
	}
	defer messages.Stop()
	defer context.AfterFunc(ctx, messages.Stop)()
	for d.reader.End().Sequence < last.Sequence {
		msg, err := messages.Next()
		if err != nil {
			return fmt.Errorf("cluster: reading the log: %w", err)
		}
		info, err := msg.Metadata()
		if err == nil {
			err = d.take(info.Sequence.Stream, msg.Data())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

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

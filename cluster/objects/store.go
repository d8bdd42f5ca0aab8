//go:build !js

package objects

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/server/archive"
)

// A Store is an [archive.Journal] in the bucket [storage.ReplaysBucket]. An error says nothing of files that were stored
// before.
type Store struct {
	conn *storage.Conn

	mu      sync.Mutex
	stream  jetstream.Stream // of the bucket; nil until it is needed
	cleaned uint64           // the sequence at which the next Clean begins
}

// New returns a store. It sends nothing yet, so a storage that is away is no error.
func New(conn *storage.Conn) *Store { return &Store{conn: conn} }

// requestTime is the time limit of a request without a file in it, and of one chunk.
const requestTime = 10 * time.Second

// slowest is the speed below which an upload fails, in bytes per second. The next attempt begins again.
const slowest = 256 << 10

// failed names the file in an error.
func failed(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrMsgNotFound):
		err = fs.ErrNotExist
	}
	return fmt.Errorf("objects: %s: %w", name, err)
}

// messages returns the stream of the bucket's messages.
func (s *Store) messages(ctx context.Context) (jetstream.Stream, error) {
	s.mu.Lock()
	stream := s.stream
	s.mu.Unlock()
	if stream != nil {
		return stream, nil
	}
	stream, err := s.conn.JS.Stream(ctx, streamName)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stream = stream
	return stream, nil
}

// Put implements [archive.Store]. It reads back what was stored, and compares it.
func (s *Store) Put(ctx context.Context, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return failed(name, s.put(ctx, name, f, info.Size()))
}

// Write implements [archive.Store].
func (s *Store) Write(ctx context.Context, name string, content []byte) error {
	return failed(name, s.put(ctx, name, bytes.NewReader(content), int64(len(content))))
}

func (s *Store) put(ctx context.Context, name string, content io.Reader, size int64) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime+time.Duration(size/slowest)*time.Second)
	defer cancel()
	stream, err := s.messages(ctx)
	if err != nil {
		return err
	}
	info, err := s.write(ctx, stream, name, content)
	if err != nil {
		return err
	}
	if info.Size != uint64(size) {
		return fmt.Errorf("stored %d bytes, want %d", info.Size, size)
	}
	return s.read(ctx, info, io.Discard)
}

// Open implements [archive.Store]. The file is copied to a temporary one first.
func (s *Store) Open(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	f, err := s.Fetch(ctx, name, "")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) // so nothing is left over, however the program ends; Windows refuses it
	return &tempFile{f}, nil
}

// Fetch copies a file to a temporary file of a folder, which the caller removes; "" is the usual folder. The copy is
// complete and has the sum of what Put got.
func (s *Store) Fetch(ctx context.Context, name, dir string) (*os.File, error) {
	info, err := s.info(ctx, name)
	if err != nil {
		return nil, failed(name, err)
	}
	f, err := os.CreateTemp(dir, "samestep-*.ssr")
	if err != nil {
		return nil, err
	}
	err = s.read(ctx, info, f)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, failed(name, err)
	}
	return f, nil
}

// Sum returns the SHA-256 of a file in the form of [SumOf], without reading it.
func (s *Store) Sum(ctx context.Context, name string) (string, error) {
	info, err := s.info(ctx, name)
	if err != nil {
		return "", failed(name, err)
	}
	return info.Digest, nil
}

// Delete implements [archive.Store].
func (s *Store) Delete(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	b, err := s.conn.JS.ObjectStore(ctx, storage.ReplaysBucket)
	if err == nil {
		err = b.Delete(ctx, name)
	}
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil
	}
	return failed(name, err)
}

// List implements [archive.Store].
func (s *Store) List(ctx context.Context, each func(archive.Object) error) error {
	var stopped error
	err := s.infos(ctx, 1, func(o *jetstream.ObjectInfo, _ *nats.Msg, at *nats.MsgMetadata) bool {
		if o.Deleted {
			return true
		}
		o.ModTime = at.Timestamp
		stopped = each(objectOf(o))
		return stopped == nil
	})
	if err := cmp.Or(stopped, ctx.Err()); err != nil {
		return err
	}
	return failed("list", err)
}

func objectOf(o *jetstream.ObjectInfo) archive.Object {
	return archive.Object{Name: o.Name, SizeBytes: int64(o.Size), Written: o.ModTime.UTC()}
}

// A tempFile removes itself when it is closed.
type tempFile struct{ *os.File }

// Close implements [io.Closer].
func (f *tempFile) Close() error {
	err := f.File.Close()
	os.Remove(f.Name()) // where that was not possible before
	return err
}

// A mark is the sequence of a message of the bucket. Another bucket of the same name was created at another time.
type mark struct {
	created  int64 // nanoseconds
	sequence uint64
}

func (m mark) String() string { return fmt.Sprintf("%d.%d", m.created, m.sequence) }

// now returns the mark of the last message.
func (s *Store) now(ctx context.Context) (mark, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	stream, err := s.messages(ctx)
	if err != nil {
		return mark{}, err
	}
	info, err := stream.Info(ctx)
	if err != nil {
		return mark{}, err
	}
	return mark{info.Created.UnixNano(), info.State.LastSeq}, nil
}

// Mark implements [archive.Journal].
func (s *Store) Mark(ctx context.Context) (string, error) {
	m, err := s.now(ctx)
	return m.String(), failed("mark", err)
}

// Changes implements [archive.Journal]. Without a change it is one request. A change of which the storage node that answers
// has not heard yet is left for the next call.
func (s *Store) Changes(ctx context.Context, since string, f func(archive.Change) error) error {
	now, err := s.now(ctx)
	if err != nil {
		return failed("changes", err)
	}
	m := mark{created: now.created}
	if _, err := fmt.Sscanf(since, "%d.%d", &m.created, &m.sequence); err != nil || m.created != now.created || m.sequence > now.sequence {
		return archive.ErrMark
	}
	for m.sequence < now.sequence {
		info, sequence, err := s.nextInfo(ctx, m.sequence+1)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return failed("changes", err)
		}
		m.sequence = sequence
		change := archive.Change{Object: objectOf(info), Deleted: info.Deleted, Mark: m.String()}
		if err := f(change); err != nil {
			return err
		}
	}
	return nil
}

// nextInfo returns the first last message of a file from a sequence on.
func (s *Store) nextInfo(ctx context.Context, from uint64) (*jetstream.ObjectInfo, uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	stream, err := s.messages(ctx)
	if err != nil {
		return nil, 0, err
	}
	m, err := stream.GetMsg(ctx, from, jetstream.WithGetMsgSubject(infoSubject+"*"))
	if err != nil {
		return nil, 0, err
	}
	info := &jetstream.ObjectInfo{}
	if err := json.Unmarshal(m.Data, info); err != nil {
		return nil, 0, err
	}
	info.ModTime = m.Time
	return info, m.Sequence, nil
}

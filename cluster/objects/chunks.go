//go:build !js

package objects

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/storage"
)

// The form of the bucket, which all clients of NATS share (its ADR-20). The library's own Put and Get are not used: Put does
// not wait for the acknowledgement of a chunk before it reuses its bytes and may leave a goroutine behind, and Get neither
// ends with its context nor outlives a lost connection.
const (
	streamName   = "OBJ_" + storage.ReplaysBucket
	chunkSubject = "$O." + storage.ReplaysBucket + ".C." // and an id
	infoSubject  = "$O." + storage.ReplaysBucket + ".M." // and the name in base64
	chunkSize    = 128 << 10
)

// ErrSum is the error of a file whose content is not what was put.
var ErrSum = errors.New("checksum mismatch")

// leftAge is the age at which chunks without a last message belong to no running Put, and at which nobody asks any more
// whether a file was deleted. It is measured from the newest last message that was found, not by a clock here: a storage
// node that is behind, or a wrong clock, makes fewer messages old.
const leftAge = 7 * 24 * time.Hour

// longestWrite is the time after which a Put may not name its chunks any more. It is measured by the clock of the day, which
// also goes on while the machine sleeps.
var longestWrite = leftAge / 2 // tests change it

var errTooLate = errors.New("the upload took too long; its first chunks may be gone")

// SumOf returns the SHA-256 of the rest of r, as the bucket writes it.
func SumOf(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return jetstream.GetObjectDigestValue(h), nil
}

func infoSubjectOf(name string) string {
	return infoSubject + base64.URLEncoding.EncodeToString([]byte(name))
}

// info returns the last message of a file.
func (s *Store) info(ctx context.Context, name string) (*jetstream.ObjectInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	stream, err := s.messages(ctx)
	if err != nil {
		return nil, err
	}
	m, err := stream.GetLastMsgForSubject(ctx, infoSubjectOf(name))
	if err != nil {
		return nil, err
	}
	var info jetstream.ObjectInfo
	if err := json.Unmarshal(m.Data, &info); err != nil {
		return nil, err
	}
	if info.Deleted {
		return nil, jetstream.ErrMsgNotFound
	}
	return &info, nil
}

// write stores a file, each chunk after the one before it, and then removes what had its name.
func (s *Store) write(ctx context.Context, stream jetstream.Stream, name string, content io.Reader) (*jetstream.ObjectInfo, error) {
	began := time.Now().Round(0) // by the clock of the day
	old, err := s.info(ctx, name)
	if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, err
	}
	info := &jetstream.ObjectInfo{
		ObjectMeta: jetstream.ObjectMeta{Name: name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: chunkSize}},
		Bucket:     storage.ReplaysBucket, NUID: rand.Text(),
	}
	if err = s.writeChunks(ctx, info, content); err == nil && time.Since(began) > longestWrite {
		err = errTooLate
	}
	if err != nil {
		old = info // nobody knows these chunks
	} else if err = s.writeInfo(ctx, info); err != nil {
		old = nil // whether the message was stored is not known, so each of the two may be the file
	}
	if old != nil {
		purge, stop := context.WithTimeout(context.WithoutCancel(ctx), requestTime/5)
		defer stop()
		stream.Purge(purge, jetstream.WithPurgeSubject(chunkSubject+old.NUID))
	}
	return info, err
}

// writeChunks stores the content, and notes its size and sum.
func (s *Store) writeChunks(ctx context.Context, info *jetstream.ObjectInfo, content io.Reader) error {
	h, chunk := sha256.New(), make([]byte, chunkSize)
	for {
		n, err := io.ReadFull(content, chunk)
		if n > 0 {
			h.Write(chunk[:n])
			if err := s.publish(ctx, &nats.Msg{Subject: chunkSubject + info.NUID, Data: chunk[:n]}); err != nil {
				return fmt.Errorf("after %d bytes: %w", info.Size, err)
			}
			info.Size, info.Chunks = info.Size+uint64(n), info.Chunks+1
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			info.Digest = jetstream.GetObjectDigestValue(h)
			return nil
		default:
			return err
		}
	}
}

// writeInfo stores the last message of a file, which replaces that of an older one.
func (s *Store) writeInfo(ctx context.Context, info *jetstream.ObjectInfo) error {
	b, err := json.Marshal(info)
	if err != nil {
		return err
	}
	m := nats.NewMsg(infoSubjectOf(info.Name))
	m.Data = b
	m.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	return s.publish(ctx, m)
}

// publish stores a message, within a limit: an answer can be lost with a connection.
func (s *Store) publish(ctx context.Context, m *nats.Msg) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	_, err := s.conn.JS.PublishMsg(ctx, m)
	return err
}

// read copies a file to w, a chunk at a time, and compares its sum.
func (s *Store) read(ctx context.Context, o *jetstream.ObjectInfo, w io.Writer) error {
	h := sha256.New()
	to := io.MultiWriter(w, h)
	stream, err := s.messages(ctx)
	if err != nil {
		return err
	}
	var read, last uint64
	for read < o.Size {
		m, err := chunk(ctx, stream, chunkSubject+o.NUID, last+1)
		if err != nil {
			return fmt.Errorf("after %d of %d bytes: %w", read, o.Size, err)
		}
		if _, err := to.Write(m.Data); err != nil {
			return err
		}
		read, last = read+uint64(len(m.Data)), m.Sequence
	}
	if got := jetstream.GetObjectDigestValue(h); got != o.Digest {
		return fmt.Errorf("%w: got %s, want %s", ErrSum, got, o.Digest)
	}
	return nil
}

// chunk returns the first message of a subject from a sequence on. It tries again for a while: the storage may be away,
// or a copy that answers may not have the message yet.
func chunk(ctx context.Context, stream jetstream.Stream, subject string, from uint64) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	for {
		one, stop := context.WithTimeout(ctx, time.Second)
		m, err := stream.GetMsg(one, from, jetstream.WithGetMsgSubject(subject))
		stop()
		if err == nil {
			return m, nil
		}
		if !storage.Pause(ctx, 50*time.Millisecond) {
			return nil, err
		}
	}
}

// Clean implements [archive.Cleaner]. It removes the chunks of each Put that a crash has cut short, and the last messages of
// files that were deleted, if they are a week older than the newest file. The first call looks at the whole bucket,
// and needs some bytes of memory for each file. Later calls look only at what was too young.
func (s *Store) Clean(ctx context.Context) (removed int, err error) { return s.clean(ctx, leftAge) }

func (s *Store) clean(ctx context.Context, age time.Duration) (removed int, err error) {
	s.mu.Lock()
	from := max(s.cleaned, 1)
	s.mu.Unlock()
	left, err := s.left(ctx, from, age)
	if err != nil {
		return 0, failed("clean", err)
	}
	stream, err := s.messages(ctx)
	if err != nil {
		return 0, failed("clean", err)
	}
	for subject, last := range left.messages {
		one, stop := context.WithTimeout(ctx, requestTime)
		err := stream.Purge(one, jetstream.WithPurgeSubject(subject), jetstream.WithPurgeSequence(last+1)) // not a newer file
		stop()
		if err != nil {
			return removed, failed("clean", err)
		}
		removed++
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleaned = left.next
	return removed, nil
}

// leftovers are messages that nobody needs.
type leftovers struct {
	messages map[string]uint64 // the sequence of the last one, by subject
	next     uint64            // the sequence at which the next search begins
}

// found is a last message of a deleted file.
type found struct {
	subject  string
	sequence uint64
	stored   time.Time
}

// left finds the leftovers from a sequence on. The last message of a file comes after its chunks, so messages in front of that
// sequence do not matter.
func (s *Store) left(ctx context.Context, from uint64, age time.Duration) (*leftovers, error) {
	seed, named := maphash.MakeSeed(), make(map[uint64]struct{}) // hashes of the subjects of chunks
	var deleted []found
	var newest time.Time
	if err := s.infos(ctx, from, func(o *jetstream.ObjectInfo, m *nats.Msg, at *nats.MsgMetadata) bool {
		newest = at.Timestamp
		if o.Deleted {
			deleted = append(deleted, found{m.Subject, at.Sequence.Stream, at.Timestamp})
		} else {
			named[maphash.String(seed, chunkSubject+o.NUID)] = struct{}{}
		}
		return true
	}); err != nil {
		return nil, err
	}
	before, l := newest.Add(-age), &leftovers{make(map[string]uint64), from}
	young := uint64(math.MaxUint64) // the sequence of the first message that is too young
	for _, d := range deleted {
		if d.stored.Before(before) {
			l.messages[d.subject] = d.sequence
		} else {
			young = min(young, d.sequence)
		}
	}
	err := s.scan(ctx, chunkSubject+"*", from, nats.HeadersOnly(), func(m *nats.Msg, at *nats.MsgMetadata) (bool, error) {
		if !at.Timestamp.Before(before) {
			young = min(young, at.Sequence.Stream)
			return false, nil // so are all others
		}
		l.next = at.Sequence.Stream + 1
		if _, ok := named[maphash.String(seed, m.Subject)]; !ok {
			l.messages[m.Subject] = at.Sequence.Stream
		}
		return true, nil
	})
	l.next = min(l.next, young)
	return l, err
}

// infos calls f with the last messages of files, also of deleted ones, from a sequence on, in order, until f returns false.
func (s *Store) infos(ctx context.Context, from uint64, f func(*jetstream.ObjectInfo, *nats.Msg, *nats.MsgMetadata) bool) error {
	return s.scan(ctx, infoSubject+"*", from, nil, func(m *nats.Msg, at *nats.MsgMetadata) (bool, error) {
		var info jetstream.ObjectInfo
		err := json.Unmarshal(m.Data, &info)
		return err == nil && f(&info, m, at), err
	})
}

// scan calls f with the messages of a subject from a sequence on, in order, until f returns false.
func (s *Store) scan(ctx context.Context, subject string, from uint64, option nats.SubOpt, f func(*nats.Msg, *nats.MsgMetadata) (bool, error)) error {
	js, err := s.conn.NATS.JetStream()
	if err != nil {
		return err
	}
	options := []nats.SubOpt{nats.OrderedConsumer(), nats.BindStream(streamName), nats.StartSequence(from)}
	if option != nil {
		options = append(options, option)
	}
	sub, err := js.SubscribeSync(subject, options...)
	if err != nil {
		return err
	}
	defer sub.Unsubscribe()
	info, err := sub.ConsumerInfo()
	if err != nil {
		return err
	}
	for more := info.NumPending+info.Delivered.Consumer > 0; more; {
		one, stop := context.WithTimeout(ctx, requestTime)
		m, err := sub.NextMsgWithContext(one)
		stop()
		if err != nil {
			return err
		}
		at, err := m.Metadata()
		if err != nil {
			return err
		}
		if more, err = f(m, at); err != nil {
			return err
		}
		more = more && at.NumPending > 0
	}
	return nil
}

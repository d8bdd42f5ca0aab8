//go:build !js

package objects

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"math"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

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
	if err := s.scan(ctx, infoSubject+"*", from, nil, func(m *nats.Msg, at *nats.MsgMetadata) (bool, error) {
		var info jetstream.ObjectInfo
		if err := json.Unmarshal(m.Data, &info); err != nil {
			return false, err
		}
		newest = at.Timestamp
		if info.Deleted {
			deleted = append(deleted, found{m.Subject, at.Sequence.Stream, at.Timestamp})
		} else {
			named[maphash.String(seed, chunkSubject+info.NUID)] = struct{}{}
		}
		return true, nil
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

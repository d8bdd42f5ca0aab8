//go:build !js

package objects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/server/archive"
)

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

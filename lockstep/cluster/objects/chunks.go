//go:build !js

package objects

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/lockstep/cluster/storage"
)

// ErrSum is the error of a file whose content is not what was put.
var ErrSum = errors.New("the sum of the content is wrong")

// SumOf returns the SHA-256 of the rest of r, as the bucket writes it.
func SumOf(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return jetstream.GetObjectDigestValue(h), nil
}

// read copies a file to w, a chunk at a time, and compares its sum. It does not use the library's reader, which neither
// ends with its context nor outlives a lost connection.
func (s *Store) read(ctx context.Context, o *jetstream.ObjectInfo, w io.Writer) error {
	h := sha256.New()
	to := io.MultiWriter(w, h)
	if o.Size > 0 {
		stream, err := s.conn.JS.Stream(ctx, "OBJ_"+storage.ReplaysBucket)
		if err != nil {
			return err
		}
		subject := "$O." + storage.ReplaysBucket + ".C." + o.NUID
		var read, next uint64
		for read < o.Size {
			m, err := chunk(ctx, stream, subject, next+1)
			if err != nil {
				return fmt.Errorf("after %d of %d bytes: %w", read, o.Size, err)
			}
			if _, err := to.Write(m.Data); err != nil {
				return err
			}
			read, next = read+uint64(len(m.Data)), m.Sequence
		}
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
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

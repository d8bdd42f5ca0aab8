//go:build !js

package archive

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-49bee653/samestep/lockstep/server"
)

// Keep says which files stay in the archive. A zero field sets no limit. The oldest files go first, and a replay takes
// its bundles with it.
type Keep struct {
	Age     time.Duration // since the end of the match
	Replays int
	Bytes   int64 // of all files, without their descriptions
}

func (k Keep) check() error {
	if k.Age < 0 || k.Replays < 0 || k.Bytes < 0 {
		return errors.New("archive: got a negative limit of what to keep")
	}
	return nil
}

// retainEvery is the interval at which the age of files is looked at, besides after each new file.
const retainEvery = 10 * time.Minute

// retain deletes what is not to be kept. Files that the store does not have yet stay.
func (c *catalog) retain(ctx context.Context, k Keep, now time.Time) error {
	if k == (Keep{}) {
		return nil
	}
	var gone []string
	if err := c.index.view(func(tx *bolt.Tx) error {
		gone = surplus(tx, k, now)
		return nil
	}); err != nil {
		return err
	}
	for _, name := range gone {
		names, err := c.group(name)
		if errors.Is(err, server.ErrArchived) {
			continue // it went with its replay
		}
		if err != nil {
			return err
		}
		for _, n := range names {
			if err := c.delete(ctx, n); err != nil {
				return err
			}
			c.log.Info("archive deleted", "name", n)
		}
	}
	return nil
}

// surplus returns the names of the files that are not to be kept, the oldest first.
func surplus(tx *bolt.Tx, k Keep, now time.Time) (names []string) {
	replays, bytes := 0, int64(0)
	each := func(f func(place []byte, size int64, flags byte) bool) {
		c := tx.Bucket(byEnd).Cursor()
		for place, v := c.First(); place != nil; place, v = c.Next() {
			if !f(place, int64(binary.BigEndian.Uint64(v)), v[8]) {
				return
			}
		}
	}
	each(func(_ []byte, size int64, flags byte) bool {
		if flags&isReplay != 0 {
			replays++
		}
		bytes += size
		return true
	})
	each(func(place []byte, size int64, flags byte) bool {
		old := k.Age > 0 && now.Unix()-int64(binary.BigEndian.Uint64(place)) > int64(k.Age/time.Second)
		tooMany := k.Replays > 0 && replays > k.Replays && flags&isReplay != 0
		tooLarge := k.Bytes > 0 && bytes > k.Bytes
		if flags&isStored != 0 && (old || tooMany || tooLarge) {
			names = append(names, placeName(place))
			bytes -= size
			if flags&isReplay != 0 {
				replays--
			}
		}
		return true
	})
	return names
}

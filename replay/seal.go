//go:build !samestep_page

package replay

import (
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/seed-49bee653/samestep/lockstep"
)

// All encoding at one level shares one encoder, because one takes megabytes.
var compressors = [...]func() *zstd.Encoder{
	LevelBest:   newCompressor(zstd.SpeedBestCompression),
	LevelBetter: newCompressor(zstd.SpeedBetterCompression),
}

func newCompressor(l zstd.EncoderLevel) func() *zstd.Encoder {
	return sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(l), zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false), zstd.WithWindowSize(2*maxGathered), zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic(err) // the options are constants
		}
		return e
	})
}

func packRules(module []byte) ([]byte, error) {
	return compressors[LevelBest]().EncodeAll(module, nil), nil
}

// sealBody returns the body of a segment of records, or nil if they compress better than a segment may.
func sealBody(dst, records []byte, first lockstep.Tick, ticks uint32, l Level) []byte {
	h := segmentHead{first, ticks, uint64(len(records)), xxhash.Sum64(records)}
	dst = h.append(dst)
	head := len(dst)
	dst = compressors[l]().EncodeAll(records, dst)
	if h.size > largest(len(dst)-head) {
		return nil
	}
	return dst
}

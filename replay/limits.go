package replay

import "github.com/seed-49bee653/samestep/lockstep"

// The limits of a replay file and of a reader's work. A reader refuses a file that exceeds one, with [ErrLimit].
// docs/spec/replay.md lists those of the format, docs/limits.md the others; a test compares them with this file.
const (
	// maxBlock is the size of a block's body in bytes, and of the records in it. The state of a keyframe in it does not count.
	maxBlock = 8 << 20

	// maxRecord is the size of a record without a keyframe's state. A Writer gathers less than maxGathered before it, and so keeps maxBlock.
	maxRecord = maxBlock - maxGathered

	// A segment has at most maxRatio times its compressed bytes, after the first ratioFree. What compresses better stays in a batch.
	maxRatio  = 1000
	ratioFree = 64 << 10

	// The records of all segments of a file have together at most maxUnpackedRatio times the bytes of the file, after
	// the first unpackedFree bytes. This limits the time for a small file. The states of keyframes do not count.
	maxUnpackedRatio = 100
	unpackedFree     = 32 << 20

	// maxWindow is how far back a segment's compressed bytes may refer.
	maxWindow = 16 << 20

	// maxKeyframes is how many keyframes a file has.
	maxKeyframes = 1 << 16

	// maxSignatures is how many signatures a file has.
	maxSignatures = 16

	// maxSignature is the size of a signature of any kind in bytes.
	maxSignature = 64 << 10

	// MaxRules is the size of a module of rules in bytes. Compressed, it has half of a block.
	MaxRules = 32 << 20

	// The files in a bundle have together at most maxBundleRatio times the bytes of the bundle, after the first bundleFree bytes. States count
	// by themselves, with maxStateRatio: they may be read twice, and deflate makes a byte of 1,032.
	maxBundleRatio = 100
	maxStateRatio  = 2100
	bundleFree     = 32 << 20

	// maxBundleReplay is the size of the replay in a bundle that a [File] unpacks.
	maxBundleReplay = 1 << 30

	// maxManifest is the size of a bundle's table of contents in bytes.
	maxManifest = 1 << 20

	// A reader simulates at most maxTicksRatio ticks for each byte of the file, after the first ticksFree, unless the caller says otherwise.
	maxTicksRatio = 64
	ticksFree     = 1 << 18

	// maxWorkers is the memory of all workers of one verification in bytes. Large blocks or states mean fewer workers.
	maxWorkers = 24 << 20

	// maxDifferences is how many differences a [Verification] keeps.
	maxDifferences = 1 << 17
)

// DefaultMaxTicks is the default limit of simulated ticks: nine days at 20 ticks a second. Small files have less; see [SimulateOptions].
const DefaultMaxTicks lockstep.Tick = 1 << 24

// maxTicks returns how many ticks of a file of size bytes may be simulated. A limit of 0 means the default.
func maxTicks(limit lockstep.Tick, size int64) lockstep.Tick {
	switch {
	case limit > 0:
		return limit
	case size >= int64(DefaultMaxTicks-ticksFree)/maxTicksRatio:
		return DefaultMaxTicks
	}
	return ticksFree + maxTicksRatio*lockstep.Tick(size)
}

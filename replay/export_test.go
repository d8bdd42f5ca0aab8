package replay

import (
	"encoding/binary"
	"io"
	"os"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// LockShared takes the shared lock that Locked takes for a moment.
func LockShared(f *os.File) error { return tryLock(f, false) }

// CreateBy is create, which takes the steps that secure the file as arguments.
var CreateBy = create

// SealOver is sealOver: SealFile for open files, with the function that replaces one file by the other.
var SealOver = sealOver

// Resign appends a signature block to a file, which must not be sealed.
func Resign(file, body []byte) []byte { return AppendBlock(file, blockSignature, body) }

// AppendBlock appends a block to a file.
func AppendBlock(file []byte, kind byte, body []byte) []byte {
	block := append(appendBlockHeader(nil, kind, len(body)), body...)
	before := binary.LittleEndian.Uint64(file[len(file)-checkSize:])
	file = append(append([]byte{}, file...), block...)
	return binary.LittleEndian.AppendUint64(file, checkBlock(before, block))
}

// Try returns the next record, or nil if it has not been written yet.
func (l *LiveReader) Try() (*record.Record, error) {
	for {
		rec, err := l.next()
		if rec != nil || err != nil {
			return rec, err
		}
		if more, err := l.grow(); err != nil || !more {
			return nil, err
		}
	}
}

// A Block is a block of a file.
type Block struct {
	Kind   byte
	Body   []byte
	Offset int64
}

// Blocks returns the blocks of a good file.
func Blocks(file []byte) (all []Block) {
	for at := prefixSize; at < len(file); {
		kind, size, header, err := parseBlockHeader(file[at:])
		if err != nil {
			panic(err) // the file is good
		}
		body := at + header
		all = append(all, Block{kind, file[body : body+int(size)], int64(at)})
		at = body + int(size) + checkSize
	}
	return all
}

// Chained returns a file of blocks, with right checks. Its prefix is that of another file.
func Chained(file []byte, blocks []Block) []byte {
	dst := append([]byte{}, file[:prefixSize]...)
	before := xxhash.Sum64(dst)
	for _, b := range blocks {
		block := append(appendBlockHeader(nil, b.Kind, len(b.Body)), b.Body...)
		before = checkBlock(before, block)
		dst = binary.LittleEndian.AppendUint64(append(dst, block...), before)
	}
	return dst
}

// CopyReplay unpacks the replay in a bundle.
func (b *Bundle) CopyReplay(w io.Writer, max int64) error {
	return b.unpack(w, &b.left, bundleReplay, max)
}

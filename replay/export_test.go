package replay

import (
	"encoding/binary"
	"os"

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

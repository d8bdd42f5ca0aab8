package main

import (
	"fmt"
	"io"
	"os"

	"github.com/seed-49bee653/samestep/replay"
)

// maxBundleReplay is how many bytes the replay in a bundle may have, if the bundle
// is large enough for it.
const maxBundleReplay = 1 << 30

// unbundle opens a file that is a bundle, and returns it with its replay as a
// file of its own, which must be discarded. It returns nothing for another file.
func unbundle(f *os.File) (*replay.Bundle, *os.File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	var head [4]byte
	if n, err := f.ReadAt(head[:], 0); err != nil && err != io.EOF || string(head[:n]) != "PK\x03\x04" {
		return nil, nil, nil // whoever reads on says what is wrong
	}
	b, err := replay.OpenBundle(f, info.Size())
	if err != nil {
		return nil, nil, err
	}
	extracted, err := os.CreateTemp("", "samestep-*.ssr") // not in memory: it may be large
	if err != nil {
		return nil, nil, err
	}
	os.Remove(extracted.Name()) // so nothing is left over, however the program ends; Windows refuses it
	if err := b.CopyReplay(extracted, maxBundleReplay); err != nil {
		discard(extracted)
		return nil, nil, err
	}
	return b, extracted, nil
}

// discard closes a temporary file, and removes it if that was not possible before.
func discard(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}

// bundleLine says what bundle it is.
func bundleLine(b *replay.Bundle) string {
	who := fmt.Sprintf("of player %d", b.Manifest.Player)
	if b.Manifest.Tie {
		who = "without a majority"
	}
	return fmt.Sprintf("bundle     of the desync %s at tick %d: the replay in it is verified", who, b.Manifest.Tick)
}

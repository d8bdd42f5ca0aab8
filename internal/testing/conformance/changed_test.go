package conformance

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// difference is a line of the reader in Python: a file, its verdict and ours.
var difference = regexp.MustCompile(`^(\w+): got (\w+) (.*), want (\w+) (.*)`)

// afterTick is the place of a fault.
var afterTick = regexp.MustCompile(`"tick": \d+`)

// The reader in Python accepts a file with random changes and right checks if and only if
// we accept it, and then gets the same content. Of several faults both report the first one: if they name different ones,
// these are after the same tick.
func TestPythonAgreesOnChangedFiles(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "replay"), 0o777); err != nil {
		t.Fatal(err)
	}
	var pool [][]byte
	for _, c := range slices.Concat(goodReplays(), brokenContents()) {
		pool = append(pool, c.Content)
	}
	random := rand.New(rand.NewPCG(11, 11))
	index, accepted := Index{Format: 1}, 0
	changedFiles := 600
	if testenv.Small(t) {
		changedFiles = 150
	}
	for i := range changedFiles {
		file := changed(random, pool[random.IntN(len(pool))])
		got := runReplay(file)
		if got.Verdict == "ok" {
			accepted++
		}
		id := fmt.Sprintf("changed%d", i)
		index.Cases = append(index.Cases, Case{ID: id, Kind: "replay", File: "replay/" + id, Verdict: got.Verdict, Expect: got.Expect})
		if err := os.WriteFile(filepath.Join(folder, "replay", id), file, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if accepted < changedFiles/50 || accepted > changedFiles/2 {
		t.Errorf("%d of %d files are good: the changes are too large or too small", accepted, changedFiles)
	}
	text, err := encodeIndex(&index)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "index.json"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	differ, _ := runPython(t, folder)
	for _, line := range differ {
		m := difference.FindStringSubmatch(line)
		if m != nil && m[2] == "desync" && m[4] == "ok" {
			continue // a checksum of a tick whose state we do not keep: F-checksum allows it
		}
		if m == nil || m[2] == "ok" || m[4] == "ok" || afterTick.FindString(m[3]) != afterTick.FindString(m[5]) {
			t.Error(line)
		}
	}
}

// changed returns a file with a few changed bytes in its blocks and right checks.
func changed(random *rand.Rand, file []byte) []byte {
	f := newFile()
	for at := 32; at < len(file); {
		size, n := binary.Uvarint(file[at+1:])
		body := slices.Clone(file[at+1+n : at+1+n+int(size)])
		kind := file[at]
		for random.IntN(2) == 0 && len(body) > 0 {
			i := random.IntN(len(body))
			switch random.IntN(5) {
			case 0:
				body[i] ^= 1 << random.IntN(8)
			case 1:
				body[i] += byte(1 + 254*random.IntN(2)) // one more or less
			case 2:
				body = slices.Delete(body, i, i+1)
			case 3:
				body = slices.Insert(body, i, byte(random.IntN(256)))
			case 4:
				kind = []byte{1, 2, 64, 65, 200}[random.IntN(5)]
			}
		}
		f.block(kind, body)
		at += 1 + n + int(size) + 8
	}
	return f.b
}

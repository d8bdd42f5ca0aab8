package conformance

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
	differ, _ := runPython(t, "reader.py", folder)
	for _, line := range differ {
		m := difference.FindStringSubmatch(line)
		if m != nil && m[2] == "desync" && m[4] != "desync" {
			continue // a checksum of a tick whose state we do not keep: F-checksum allows it, and we may find a later fault
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

// Our reader and the one in Python agree on datagrams, views, messages of modules, recordings and flight records with changed bytes.
func TestPythonAgreesOnChangedAnnexes(t *testing.T) {
	folder := t.TempDir()
	var pools [][]Built // each has dice of its own, so that a new case of one kind changes no other
	var dice []*rand.Rand
	for kind, all := range [][]Built{datagrams(), views(), moduleMessages(), goodRecordings(), flights()} {
		var pool []Built
		for _, c := range all {
			if c.Verdict == "ok" && !strings.Contains(c.ID, "gzip") && !bytes.Contains(c.Content, []byte("\nschema: ")) {
				pool = append(pool, c)
			}
		}
		pools, dice = append(pools, pool), append(dice, rand.New(rand.NewPCG(12, uint64(kind))))
	}
	index, accepted := Index{Format: 1}, 0
	files := 3000
	if testenv.Small(t) {
		files = 500
	}
	for i := range files {
		pool, random := pools[i%len(pools)], dice[i%len(pools)]
		c := pool[random.IntN(len(pool))].Case
		text := changedText(random, c.Kind == "recording", pool[slices.IndexFunc(pool, func(b Built) bool { return b.ID == c.ID })].Content)
		got := runners[c.Kind](text)
		if got.Verdict == "ok" {
			accepted++
		}
		id := fmt.Sprintf("%d-%s", i, c.ID)
		index.Cases = append(index.Cases, Case{ID: id, Kind: c.Kind, File: id, Verdict: got.Verdict, Expect: got.Expect})
		if err := os.WriteFile(filepath.Join(folder, id), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if accepted < files/50 || accepted > files*3/4 {
		t.Errorf("%d of %d files are good: the changes are too large or too small", accepted, files)
	}
	text, err := encodeIndex(&index)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "index.json"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	differ, ran := runPython(t, "annexes.py", folder)
	if ran != files {
		t.Errorf("got %d cases, want %d", ran, files)
	}
	for _, line := range differ {
		t.Error(line)
	}
}

// changedText returns a file with a few changed characters: any of a recording, digits of others.
func changedText(random *rand.Rand, any bool, file []byte) []byte {
	file = slices.Clone(file)
	from := 0
	if !any {
		from = bytes.IndexByte(file, '\n') + 1 // behind the comment
	}
	for range 1 + random.IntN(2) {
		i := from + random.IntN(len(file)-from)
		const digits = "0123456789abcdef"
		switch c := file[i]; {
		case any && random.IntN(4) == 0:
			file = slices.Delete(file, i, i+1)
		case any:
			file[i] = []byte(`0123456789abcdef{}[]",:.-eT` + "\n ")[random.IntN(29)]
		case strings.IndexByte(digits, c) >= 0 && file[max(i-1, 0)] != 'd': // no letter of a label
			if label := bytes.LastIndexByte(file[:i], '\n'); bytes.IndexByte(file[label+1:i], ':') >= 0 || !bytes.Contains(file[label+1:], []byte(":")) {
				file[i] = digits[random.IntN(len(digits))]
			}
		}
	}
	return file
}

package archtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// parsers are the fuzz targets of what reads files and messages: "folder.Target".
var parsers = strings.Fields(`
	desync.FuzzExplain desync/recordings.FuzzRecording desync/probe.FuzzReader
	examples/platforms/compat.FuzzParse examples/skirmish.FuzzParseMap
	internal/matchlog.FuzzQuickEntry internal/matchlog.FuzzReader internal/pack.FuzzReader
	lockstep.FuzzIdentity lockstep/abi.FuzzMessages lockstep/abi.FuzzParseDescription
	cluster/audience.FuzzReceive cluster/audience.FuzzSource
	cluster/ownership.FuzzReader cluster/storage.FuzzSegment
	lockstep/datagram.FuzzReader lockstep/disclosure.FuzzParse lockstep/feed.FuzzApply lockstep/feed.FuzzParsePlan
	lockstep/host.FuzzHost module.FuzzGuard lockstep/player.FuzzClient
	lockstep/protocol.FuzzMessage lockstep/record.FuzzDecoder
	replay.FuzzHeads replay.FuzzReader state.FuzzDecode state.FuzzParseSchema state.FuzzParseType`)

const (
	leastInputs   = 50       // of each parser
	mostInputSize = 16 << 10 // bytes of each
)

// corpusFindings looks for parsers with too few inputs, and for inputs that are too large.
func corpusFindings(root string, targets []string) (found []finding, err error) {
	for _, t := range targets {
		folder, name, _ := strings.Cut(t, ".")
		folder = folder + "/testdata/fuzz/" + name
		entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(folder)))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		if len(entries) < leastInputs {
			found = append(found, finding{folder, 0, "corpus", fmt.Sprintf("got %d inputs, want at least %d", len(entries), leastInputs)})
		}
		for _, e := range entries {
			if info, err := e.Info(); err != nil {
				return nil, err
			} else if info.Size() > mostInputSize {
				found = append(found, finding{folder + "/" + e.Name(), 0, "corpus", fmt.Sprintf("got %d bytes, want at most %d", info.Size(), mostInputSize)})
			}
		}
	}
	return found, nil
}

// Each parser of files and messages has a small corpus in the repository, which go test runs and fuzzing begins with.
func TestCorpora(t *testing.T) {
	found, err := corpusFindings(ours(t).dir, parsers)
	if err != nil {
		t.Fatal(err)
	}
	report(t, found)
}

func TestCorporaControl(t *testing.T) {
	root := t.TempDir()
	for target, sizes := range map[string][]int{"few": make([]int, leastInputs-1), "enough": make([]int, leastInputs), "large": append(make([]int, leastInputs), mostInputSize+1)} {
		folder := filepath.Join(root, "a", "testdata", "fuzz", target)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for i, size := range sizes {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i)), make([]byte, size), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	found, err := corpusFindings(root, []string{"a.none", "a.few", "a.enough", "a.large"})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, found, "a/testdata/fuzz/none:0: corpus: got 0 inputs", "a/testdata/fuzz/few:0: corpus: got 49 inputs", "a/testdata/fuzz/large/50:0: corpus: got 16385 bytes")
}

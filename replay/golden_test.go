package replay_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/script"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

const goldenDir = "../testdata/replays"

// The golden replays verify, and playing their commands again writes the same bytes, on every machine that runs this
// test. With -rewrite the files and the list of their checksums are written. A file that the rules of the same build no
// longer verify is not overwritten: RulesBuild has to change first.
func TestGolden(t *testing.T) {
	game := lockstep.MustGame(skirmish.Rules())
	if script.Rewrite() {
		writeGoldens(t, game)
	}
	list := readList(t)
	files, err := filepath.Glob(filepath.Join(goldenDir, "*.ssr"))
	if err != nil || len(files) == 0 || len(files) != len(list) {
		t.Fatalf("got %d golden replays and %v, want the %d in the list", len(files), err, len(list))
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".ssr")
		t.Run(name, func(t *testing.T) {
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			v, err := replay.Verify(open(t, file), game, replay.VerifyOptions{})
			if err != nil {
				t.Fatalf("%v. Have the rules of the game changed? Then its build changes too, and the golden replays.", err)
			}
			if !v.Ended || v.Ticks < 300 || v.Commands < 20 || v.Checked < int(v.Ticks)/40 {
				t.Errorf("got verdict %+v", v)
			}
			r := again(t, game, file)
			if !bytes.Equal(r.file.Bytes(), file) {
				t.Errorf("the same match again makes another file: %d bytes, want %d", r.file.Len(), len(file))
			}
			if got, want := line(name, file, r), list[name]; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// line returns the line of the list for a golden replay.
func line(name string, file []byte, r *rerun) string {
	hash := checksum.FormatHash(r.c.Referee().Simulation().Hash())
	return fmt.Sprintf("%-8s %6d %6d %9d  %s  %016x", name, len(file), r.c.Now(), r.commands, hash, xxhash.Sum64(file))
}

const listHeading = "match     bytes  ticks  commands  checksum at end   xxHash64 of file"

func listPath() string { return filepath.Join(goldenDir, "checksums.txt") }

// readList returns the lines of the list by replay name.
func readList(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(listPath())
	if err != nil {
		t.Fatal(err)
	}
	list := make(map[string]string)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	for _, l := range lines[1:] {
		name, _, _ := strings.Cut(l, " ")
		list[name] = l
	}
	return list
}

// writeGoldens records the golden matches.
func writeGoldens(t *testing.T, game *lockstep.Game) {
	t.Helper()
	list := []string{listHeading}
	for _, g := range goldens {
		path := filepath.Join(goldenDir, g.name+".ssr")
		if old, err := os.ReadFile(path); err == nil {
			if err := mayReplace(game, old); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
		}
		file := g.recordMatch(t, game)
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		list = append(list, line(g.name, file, again(t, game, file)))
	}
	if err := os.WriteFile(listPath(), []byte(strings.Join(list, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
}

// mayReplace returns an error if a golden replay shows that the rules changed but their build did not.
func mayReplace(game *lockstep.Game, file []byte) error {
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil // of another format
	}
	rec, err := r.Next()
	if err != nil || rec.Header.Build != game.Build() {
		return nil
	}
	if r, err = replay.NewReader(bytes.NewReader(file), int64(len(file))); err != nil {
		return err
	}
	if _, err := replay.Verify(r, game, replay.VerifyOptions{}); err != nil {
		return fmt.Errorf("%w: the rules have changed, but not their build %q", err, game.Build())
	}
	return nil
}

// Control: changed rules under the same build are refused.
func TestGoldenOfOtherRules(t *testing.T) {
	g, file, _ := recordMatch(t, 60, replay.WriterOptions{})
	if err := mayReplace(g, file); err != nil {
		t.Errorf("the same rules: %v", err)
	}
	rules := dotsRules()
	step := rules.Step
	rules.Step = func(w *dots, config *dotsConfig, t *lockstep.Turn) {
		step(w, config, t)
		w.Dots[0].Pos.X++
	}
	if err := mayReplace(lockstep.MustGame(rules), file); err == nil {
		t.Error("other rules of the same build may replace the file")
	}
	rules.Build = "2"
	if err := mayReplace(lockstep.MustGame(rules), file); err != nil {
		t.Errorf("other rules of another build: %v", err)
	}
}

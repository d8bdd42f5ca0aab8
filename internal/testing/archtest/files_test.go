package archtest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const maxBinary = 400 << 10 // bytes of a file that is not text

var (
	// machinePath is a path of somebody's machine, where a path can begin.
	machinePath = regexp.MustCompile("(?:^|[\\s\"'`=(:,;<>\\[])(/(?:work|tmp|home|root|Users)/[\\w.-]+)")

	// unfinished is a note about work that is left. (Written apart, so that this
	// file does not contain one.)
	unfinished = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX)\b`)

	// suspicious are parts of all that these expressions match. Most files have none of them, which takes less time to see.
	suspicious = []string{"/work/", "/tmp/", "/home/", "/root/", "/Users/", "TO" + "DO", "FIX" + "ME", "X" + "XX"}
)

// contentFindings looks for what must not lie in the tree.
func contentFindings(name string, content []byte) []finding {
	if head := content[:min(len(content), 8<<10)]; bytes.IndexByte(head, 0) >= 0 || !utf8.Valid(trimRune(head)) {
		if len(content) > maxBinary {
			return []finding{{name, 0, "binary", fmt.Sprintf("got %d bytes, want at most %d", len(content), maxBinary)}}
		}
		return nil
	}
	var found []finding
	if !slices.ContainsFunc(suspicious, func(part string) bool { return bytes.Contains(content, []byte(part)) }) {
		return nil
	}
	line := 0
	for text := range strings.Lines(string(content)) {
		line++
		if m := machinePath.FindStringSubmatch(text); m != nil {
			found = append(found, finding{name, line, "machine path", m[1]})
		}
		if m := unfinished.FindString(text); m != "" {
			found = append(found, finding{name, line, "unfinished", m})
		}
	}
	return found
}

// trimRune cuts off a character that the end of b may have cut in two.
func trimRune(b []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(b); i++ {
		if utf8.RuneStart(b[len(b)-i]) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			return b
		}
	}
	return b
}

// tracked returns the files of the tree: those that git tracks, or where git
// cannot be asked, all of them.
func tracked(dir string) ([]string, error) {
	out, err := exec.Command("git", "-C", dir, "ls-files", "-z").Output()
	if err == nil && len(out) > 0 {
		return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
	}
	var names []string
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case d.Name() == ".git": // of a worktree
			return nil
		case d.Type().IsRegular():
			rel, err := filepath.Rel(dir, name)
			names = append(names, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	return names, err
}

func TestFiles(t *testing.T) {
	tr := ours(t)
	names, err := tracked(tr.dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 50 {
		t.Errorf("got only %d files", len(names))
	}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(tr.dir, filepath.FromSlash(name)))
		if os.IsNotExist(err) {
			continue // removed, but not from git yet
		}
		if err != nil {
			t.Fatal(err)
		}
		report(t, contentFindings(name, content))
	}
}

func TestFilesControl(t *testing.T) {
	binary := bytes.Repeat([]byte{0xff, 0}, maxBinary/2+1)
	for _, row := range []struct {
		name, content string
		want          []string
	}{
		{"clean", "https://example.test/home/x\na/tmp/x and /tmp alone\n", nil},
		{"path", "\nsee /ho" + "me/someone/notes", []string{"f:2: machine path: /ho" + "me/someone"}},
		{"quoted path", "open(\"/tm" + "p/x\")", []string{"f:1: machine path"}},
		{"note", "a\nb\n// TO" + "DO: later", []string{"f:3: unfinished"}},
		{"large binary", string(binary), []string{"f:0: binary"}},
		{"small binary", string(binary[:100]) + "FIX" + "ME", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			expect(t, contentFindings("f", []byte(row.content)), row.want...)
		})
	}
}

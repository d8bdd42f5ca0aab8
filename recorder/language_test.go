// A browser starts no programs.
//go:build !js

package recorder_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/recorder"
)

// The recorders in C and Python write the same bytes as that in Go, and fail with the same errors. The compilers find nothing
// to warn about, and the sanitizers no undefined behaviour. A game that is killed has lost the same lines.
func TestLanguages(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the recorders in other languages are the same on every platform")
	}
	t.Setenv(recorder.Variable, "")
	random := rand.New(rand.NewPCG(1, 2))
	scripts := []string{busy}
	for range 30 {
		scripts = append(scripts, randomScript(random))
	}
	for _, row := range refusals {
		if !row.long(t) {
			scripts = append(scripts, row.script)
		}
	}
	for _, row := range omissions {
		scripts = append(scripts, row.script())
	}
	scripts = append(scripts, sizedScripts(random, 200)...)
	texts := randomTexts(random)
	killed := strings.TrimSuffix(busy, "end 11\n") + "command 11 0 2 x\ncommand 90 0 3 x\ncommand 91 0 4 x\nkill\n"
	lost, _ := play(t, killed)
	if whole, _ := play(t, strings.TrimSuffix(killed, "kill\n")); len(whole) == len(lost) || bytes.Count(lost, []byte("\n")) < 2*8192+2 {
		t.Fatalf("a game that is killed has lost %d of %d bytes", len(whole)-len(lost), len(whole))
	}
	programs := []struct {
		name, compiler string
		flags          []string
		long           bool
	}{
		{"C99", "gcc", []string{"-std=c99", "-O2"}, false},
		{"C99 sanitized", "gcc", []string{"-std=c99", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}, true},
		{"C++11", "g++", []string{"-std=c++11", "-O1", "-x", "c++"}, true},
		{"Python", "python3", nil, false},
	}
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			if p.long {
				testenv.Long(t)
			}
			compiler, err := exec.LookPath(p.compiler)
			testenv.Or(t, p.compiler, err)
			command, scripts := []string{compiler, filepath.Join("testdata", "calls.py")}, scripts
			if p.flags != nil { // Python has no texts that are not UTF-8
				scripts = append(scripts[:len(scripts):len(scripts)], texts...)
				program := filepath.Join(t.TempDir(), "calls")
				args := append([]string{"-Wall", "-Wextra", "-Werror", "-pedantic", "-I", "c", "-o", program}, p.flags...)
				if out, err := exec.Command(compiler, append(args, filepath.Join("testdata", "calls.c"))...).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				command = []string{program}
			}
			dir, out := runCalls(t, command, strings.Join(scripts, ""))
			outputs := strings.SplitAfter(out, "closed\n")
			if len(outputs) != len(scripts)+1 {
				t.Fatalf("got %d recordings, want %d", len(outputs)-1, len(scripts))
			}
			for i, script := range scripts {
				want, output := play(t, script)
				got, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d.jsonl", i)))
				if err != nil {
					t.Fatal(err)
				}
				if output += "closed\n"; !bytes.Equal(got, want) || outputs[i] != output {
					t.Errorf("%.2000s\ngot  %.2000s%s\nwant %.2000s%s", script, got, outputs[i], want, output)
				}
			}
			dir, _ = runCalls(t, command, killed)
			if got, err := os.ReadFile(filepath.Join(dir, "0.jsonl")); err != nil || !bytes.Equal(got, lost) {
				t.Errorf("killed: got %d bytes, want %d: %v", len(got), len(lost), err)
			}
		})
	}
}

// runCalls makes the calls of scripts with another program. It returns the folder of the recordings, and what it prints.
func runCalls(t *testing.T, command []string, scripts string) (dir, output string) {
	t.Helper()
	dir = t.TempDir()
	run := exec.Command(command[0], append(command[1:len(command):len(command)], dir)...)
	run.Stdin = strings.NewReader(scripts)
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir, string(out)
}

// randomTexts returns scripts with notes that may not be UTF-8: a good character, of which one byte may be another one.
func randomTexts(random *rand.Rand) (scripts []string) {
	characters := []rune{'a', 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfffd, 0xffff, 0x10000, 0x10ffff}
	for range 500 {
		b := utf8.AppendRune([]byte("x"), characters[random.IntN(len(characters))])
		at := 1 + random.IntN(len(b)-1)
		switch random.IntN(4) {
		case 0:
			b[at] = byte(1 + random.IntN(255))
		case 1:
			b[at] = max(b[at]+byte(random.IntN(3))-1, 1)
		case 2:
			b = b[:at]
		}
		scripts = append(scripts, header(1)+"note 1 0 x61 "+word(string(append(b, "y"[:random.IntN(2)]...)))+"\n")
	}
	return scripts
}

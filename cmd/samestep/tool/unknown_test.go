//go:build !js

package tool

import (
	"archive/zip"
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// newer returns files that a newer program could have written: each needs a reader that knows more.
func newer(t *testing.T, file []byte) map[string][]byte {
	t.Helper()
	type block struct {
		kind byte
		body []byte
	}
	var blocks []block
	for at := 32; at < len(file); {
		size, n := binary.Uvarint(file[at+1:])
		from := at + 1 + n
		blocks = append(blocks, block{file[at], file[from : from+int(size)]})
		at = from + int(size) + 8
	}
	written := func(blocks []block) []byte {
		b := bytes.Clone(file[:32])
		check := xxhash.Sum64(b)
		for _, x := range blocks {
			from := len(b)
			b = append(binary.AppendUvarint(append(b, x.kind), uint64(len(x.body))), x.body...)
			check = xxhash.Sum64(append(binary.LittleEndian.AppendUint64(nil, check), b[from:]...))
			b = binary.LittleEndian.AppendUint64(b, check)
		}
		return b
	}
	if blocks[0].kind != 1 || !bytes.Equal(written(blocks), file) {
		t.Fatal("want an open file")
	}
	with := func(change func(body []byte) []byte) []byte {
		first := block{1, change(bytes.Clone(blocks[0].body))}
		return written(append([]block{first}, blocks[1:]...))
	}
	set := func(at int, v byte) func(b []byte) []byte {
		return func(b []byte) []byte { b[at] = v; return b }
	}
	files := map[string][]byte{
		"version": bytes.Clone(file), "flags": bytes.Clone(file),
		"block":           written(append([]block{{5, []byte("new")}}, blocks...)),
		"block-in-midst":  written(append(append(blocks[:1:1], block{63, nil}), blocks[1:]...)),
		"block-after-end": written(append(blocks[:len(blocks):len(blocks)], block{5, []byte("new")})),
		"record":          with(func(b []byte) []byte { return append(b, 0x92, 8, 7) }),
		"record-alone":    with(func(b []byte) []byte { return append(b, 0x91, 31) }),
		"record-large":    with(func(b []byte) []byte { return append(append(b, 0xdd, 0, 1, 0, 0, 63), make([]byte, 1<<16-1)...) }),
	}
	files["version"][8], files["flags"][12] = 2, 1
	files["version-alone"], files["flags-alone"] = files["version"][:12], files["flags"][:16]
	for name, first := range map[string]byte{"two": 0x92, "twelve": 0x9c, "thirteen": 0x9d, "fourteen": 0x9e} {
		files["header-of-"+name] = with(func(b []byte) []byte { return set(0, first)(set(2, 3)(b)) })
	}
	return files
}

// Every verb that reads a file refuses what only a newer reader knows, with the exit code of that, and writes nothing.
func TestUnknownVersions(t *testing.T) {
	t.Parallel()
	good, err := filepath.Abs("../../../examples/minimal/testdata/golden/minimal-1.ssr")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	secret, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed(make([]byte, 32)))
	if err == nil {
		err = os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out.ssr")
	for name, b := range newer(t, file) {
		path := filepath.Join(dir, name+".ssr")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, verb := range []string{
			"info FILE", "info --json FILE", "verify FILE", "verify --json FILE", "dump FILE", "dump --commands FILE", "export FILE", "export --to mcap FILE OUT",
			"seek --tick 60 FILE", "step --tick 60 FILE", "follow FILE", "watch --once FILE", "diff GOOD FILE", "bisect GOOD FILE",
			"seal FILE OUT", "recover FILE OUT", "sign --key KEY FILE OUT", "cut --tick 70 FILE OUT", "rekey --every 20 FILE OUT",
		} {
			if name == "block-after-end" && slices.Contains([]string{"seek", "step", "cut"}, strings.Fields(verb)[0]) {
				continue // it reads no further than to a tick
			}
			args := strings.Fields(strings.NewReplacer("FILE", path, "GOOD", good, "OUT", out, "KEY", key).Replace("replay " + verb))
			tooltest.Output(t, console.ExitUnsupported, args...)
			if os.Remove(out) == nil {
				t.Errorf("%s %s: wrote a file", verb, name)
			}
		}
	}
}

// So does every verb with a bundle of another format.
func TestUnknownBundles(t *testing.T) {
	dir := t.TempDir()
	path, out := filepath.Join(dir, "bundle.zip"), filepath.Join(dir, "out.zip")
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("manifest.json")
	if err == nil {
		_, err = w.Write([]byte(`{"format":3}`))
	}
	if err := errors.Join(err, z.Close(), os.WriteFile(path, b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{
		"desync explain FILE", "desync explain --json FILE", "desync redact FILE OUT", "desync triage FILE", "replay info FILE", "replay verify FILE", "replay dump FILE", "replay diff FILE",
		"replay seal FILE OUT", "replay recover FILE OUT",
	} {
		tooltest.Output(t, console.ExitUnsupported, strings.Fields(strings.NewReplacer("FILE", path, "OUT", out).Replace(verb))...)
		if os.Remove(out) == nil {
			t.Errorf("%s: wrote a file", verb)
		}
	}
}

//go:build linux

package memory

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

const recordedState = 8 << 20 // bytes of a state in states.jsonl

const matchHeader = `{"log":1,"title":"x","tick_rate_hz":10,"players":250}` + "\n"

// matches writes matches of other engines that are hostile. With all, it also writes
// matches that are as large as they may be.
func matches(t *testing.T, folder string, all bool) (files []string) {
	t.Helper()
	add := func(name string, n int, line func(i int) string, end int) {
		var b bytes.Buffer
		b.WriteString(matchHeader)
		for i := range n {
			b.WriteString(line(i))
		}
		fmt.Fprintf(&b, `{"t":%d,"end":true}`, end)
		files = append(files, write(t, folder, name, b.Bytes(), 0))
	}
	files = append(files, write(t, folder, "bomb.jsonl.gz", bomb(t), 0))
	add("line.jsonl", 1, func(int) string { return strings.Repeat(" ", 100<<20) }, 0)
	add("field.jsonl", 1, func(int) string { return `{"` + strings.Repeat("a", 1000000) + `":1}` + "\n" }, 0)
	if !all {
		return files
	}
	const most = 1<<20 - 1
	add("checksums.jsonl", most, func(i int) string { return fmt.Sprintf(`{"t":%d,"p":0,"sum":"%016x"}`+"\n", i, i) }, most)
	add("late.jsonl", most, func(i int) string { return fmt.Sprintf(`{"t":%d,"p":%d,"sum":"%016x"}`+"\n", (most-i)/250, i%250, i) }, most)
	// The import streams the rest, and could not keep that many lines.
	add("kinds.jsonl", most/2, func(i int) string { return fmt.Sprintf(`{"t":%d,"p":0,"s":%d,"k":%d,"d":""}`+"\n", i/8192, i+1, i%256) }, most/2)
	add("notes.jsonl", most/4, func(i int) string { return `{"t":0,"note":"chat","text":"` + strings.Repeat("x", 200) + `"}` + "\n" }, 0)
	names, sums := `"`, ""
	for i := range 64 {
		names += fmt.Sprintf(`s%d","`, i)
		sums += fmt.Sprintf(`"%016x",`, i)
	}
	recording := func(name, fields string, n int, line func(i int) string) {
		text := strings.Replace(matchHeader, "}", ","+fields+"}", 1) + strings.Join(lines(n, line), "") + fmt.Sprintf(`{"t":%d,"end":true}`, most)
		files = append(files, write(t, folder, name, []byte(text), 0))
	}
	recording("sections.jsonl", `"by":0,"sections":[`+strings.TrimSuffix(names, `,"`)+`]`, 40900, func(i int) string {
		return fmt.Sprintf(`{"t":%d,"p":0,"sum":"%016x","sections":[%s]}`+"\n", i, i, strings.TrimSuffix(sums, ","))
	})
	// The largest state, of 16 equal parts: the last one has the bytes after the count.
	recording("states.jsonl", `"by":0,"state":"struct { A []uint8 }"`, 8*16, func(i int) string {
		part := make([]byte, recordedState/16)
		more := `,"more":true`
		if i%16 == 0 {
			binary.LittleEndian.PutUint32(part, recordedState-4)
		} else if i%16 == 15 {
			more = ""
		}
		return fmt.Sprintf(`{"t":%d,"p":0,"state":"%s"%s}`+"\n", i/16, base64.StdEncoding.EncodeToString(part), more)
	})
	payload := make([]byte, 16380)
	random := rand.NewChaCha8([32]byte{})
	add("fat.jsonl", 256*20, func(i int) string {
		random.Read(payload)
		return fmt.Sprintf(`{"t":%d,"p":0,"s":%d,"k":0,"d":"%s"}`+"\n", i/256, i+1, base64.StdEncoding.EncodeToString(payload))
	}, 99)
	return files
}

func lines(n int, line func(i int) string) (all []string) {
	for i := range n {
		all = append(all, line(i))
	}
	return all
}

// bomb returns 3.4 MB of gzip that decompress to gigabytes.
func bomb(t *testing.T) []byte {
	t.Helper()
	member := func(text string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	lines := member(strings.Repeat(strings.Repeat(" ", 1000000)+`{"t":0,"p":0,"sum":"0000000000000001"}`+"\n", 4))
	return append(member(matchHeader), bytes.Repeat(lines, 3_400_000/len(lines))...)
}

// Explain keeps the files of a bundle in memory, and no more than docs/limits.md says.
func TestExplainMemory(t *testing.T) {
	folder := t.TempDir()
	bin := build(t, folder)
	size := int64(20 << 20)
	if !testenv.Small(t) {
		size = 200 << 20
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	put := func(name string, content []byte) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put("manifest.json", []byte(`{"format":1,"tick":1}`))
	put("replay.ssr", append(file(1), make([]byte, size)...))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	got := peak(t, bin, "desync", "explain", write(t, folder, "bundle.zip", b.Bytes(), 0))
	if limit := base + 2*size; got > limit {
		t.Errorf("explain of %s: got %d MiB, want at most %d MiB", filepath.Base("bundle.zip"), got>>20, limit>>20)
	}
	t.Logf("a bundle of %d bytes: %d MiB", b.Len(), got>>20)
}

//go:build linux

package memory

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// most is replay.maxEvidence, and the number of reports that bisect reads.
const most = 1 << 17

// atLimits writes files with as many records of a kind as a verb keeps.
func atLimits(t *testing.T, folder string) (open, sealed []string) {
	t.Helper()
	header, keyframe := beginning(t)
	add := func(name string, h lockstep.Header, more func(e *record.Encoder, put func([]byte))) {
		open = append(open, write(t, folder, name+"-open.ssr", match(t, &h, keyframe, replay.WriterOptions{}, more), 0))
		sealed = append(sealed, write(t, folder, name+"-sealed.ssr", match(t, &h, keyframe, replay.WriterOptions{SegmentTicks: 600}, more), 0))
	}
	add("evidence", *header, contradicted(most-1))
	add("contradicted", *header, contradicted(2*most))
	crowd := *header
	crowd.Settings.Players = 250
	add("mismatches", crowd, func(e *record.Encoder, put func([]byte)) {
		for i := range lockstep.Tick(2000) {
			put(e.Empty(1))
			put(e.Checksum(i+1, 0))
			for p := range lockstep.Player(250) {
				put(e.Mismatch(i+1, p, uint64(p)+1))
			}
		}
	})
	kinds := *header
	kinds.Commands = nil
	for i := range 4096 {
		d := slices.MinFunc(header.Commands, func(a, b record.CommandDescription) int { return cmp.Compare(len(a.Schema), len(b.Schema)) })
		d.Kind, d.Name = lockstep.Kind(i), strings.Repeat("x", 120)+fmt.Sprint(i)
		kinds.Commands = append(kinds.Commands, d)
	}
	add("kinds", kinds, func(*record.Encoder, func([]byte)) {})
	join := joined(t)
	add("presence", *header, func(e *record.Encoder, put func([]byte)) {
		for i := range lockstep.Tick(most) {
			c := join
			c.Tick, c.Sequence = i+1, lockstep.Sequence(i+1)
			put(e.Frame(&lockstep.Frame{Tick: c.Tick, Commands: []lockstep.Command{c}}))
			put(e.Mismatch(i+1, 0, 1))
		}
	})
	return open, sealed
}

// contradicted appends checksums, each with one mismatch.
func contradicted(n lockstep.Tick) func(e *record.Encoder, put func([]byte)) {
	return func(e *record.Encoder, put func([]byte)) {
		for i := range n {
			put(e.Empty(1))
			put(e.Checksum(i+1, uint64(i)))
			put(e.Mismatch(i+1, 1, 1))
		}
	}
}

// match returns a replay.
func match(t *testing.T, h *lockstep.Header, keyframe *record.Record, o replay.WriterOptions, more func(e *record.Encoder, put func([]byte))) []byte {
	t.Helper()
	var b bytes.Buffer
	w := replay.NewWriter(&b, o)
	var e record.Encoder
	put := func(record []byte) {
		if err := w.Append(record); err != nil {
			t.Fatal(err)
		}
	}
	put(e.Header(h))
	put(e.Keyframe(keyframe.Tick, keyframe.Keyframe.Hash, keyframe.Keyframe.Last, keyframe.Keyframe.State))
	more(&e, put)
	put(e.End(""))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// joined returns the command of a player who joins.
func joined(t *testing.T) lockstep.Command {
	t.Helper()
	b, err := os.ReadFile("../../../testdata/replays/duel.ssr")
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(b), int64(len(b)))
	for err == nil {
		var rec *record.Record
		if rec, err = r.Next(); err != nil {
			break
		}
		for _, c := range rec.Frame.Commands {
			if value, err := record.SystemValue(&c); err == nil {
				if _, ok := value.(*lockstep.Joined); ok {
					c.Payload = bytes.Clone(c.Payload)
					return c
				}
			}
		}
	}
	t.Fatal("nobody joined: ", err)
	return lockstep.Command{}
}

// supplies writes the keys and reports that some verbs take besides a replay.
func supplies(t *testing.T, folder string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	open, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	write(t, folder, "private.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0)
	write(t, folder, "public.pem", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: open}), 0)
	var b bytes.Buffer
	for i := range most {
		fmt.Fprintf(&b, `{"t":%d,"p":0,"sum":"%016x"}`+"\n", i+1, i)
	}
	write(t, folder, "reports.jsonl", b.Bytes(), 0)
}

// bundled writes a bundle with a replay.
func bundled(t *testing.T, folder string) string {
	t.Helper()
	b, err := os.ReadFile("../../../testdata/replays/duel.ssr")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, content := range map[string][]byte{"manifest.json": []byte(`{"format":1,"tick":1}`), "replay.ssr": b} {
		var w io.Writer
		if w, err = z.Create(name); err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return write(t, folder, "bundle-of-duel.zip", out.Bytes(), 0)
}

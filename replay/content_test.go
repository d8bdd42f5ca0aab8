package replay_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

func contentOf(tb testing.TB, file []byte, tick lockstep.Tick) replay.Hash {
	tb.Helper()
	h, _, err := replay.HashContent(open(tb, file), tick)
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

// The content hash of a match, and of every part of it, does not depend on how the file is written, divided, compressed
// and keyed.
func TestContentHash(t *testing.T) {
	g, file, _ := recordMatch(t, 205, replay.WriterOptions{})
	want := contentOf(t, file, replay.WholeMatch)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		o := replay.WriterOptions{FlushTicks: 1 + r.Uint32N(100), SegmentTicks: r.Uint32N(3) * (1 + r.Uint32N(90)), Level: replay.Level(r.IntN(2))}
		every := lockstep.Tick(r.IntN(4) * r.IntN(40))
		var out bytes.Buffer
		if err := replay.Rekey(replay.NewWriter(&out, o), open(t, file), g, every, replay.SimulateOptions{}); err != nil {
			t.Fatal(i, err)
		}
		b := out.Bytes()
		if got := contentOf(t, b, replay.WholeMatch); got != want {
			t.Fatalf("%+v, a keyframe every %d: another content hash", o, every)
		}
		info, err := replay.ReadInfo(open(t, b))
		if err != nil || info.ContentHash != want {
			t.Fatalf("%+v: info %v, %v", o, info.ContentHash, err)
		}
		if keys := 1; every > 0 {
			if keys += int(205 / every); len(info.Keyframes) != keys {
				t.Fatalf("a keyframe every %d: got %d, want %d", every, len(info.Keyframes), keys)
			}
		}
		if v, err := replay.Verify(open(t, b), g, replay.VerifyOptions{}); err != nil || v.Ticks != 205 {
			t.Fatalf("%+v, a keyframe every %d: %+v, %v", o, every, v, err)
		}
		tick := lockstep.Tick(r.IntN(205))
		var cut bytes.Buffer
		if err := replay.Cut(replay.NewWriter(&cut, o), open(t, b), tick); err != nil {
			t.Fatal(err)
		}
		if contentOf(t, cut.Bytes(), tick) != contentOf(t, file, tick) {
			t.Fatalf("cut after tick %d: another content hash up to there", tick)
		}
		v, err := replay.Verify(open(t, cut.Bytes()), g, replay.VerifyOptions{})
		if err != nil || v.Ticks != tick || v.Reason != fmt.Sprintf("cut after tick %d", tick) {
			t.Fatalf("cut after tick %d: %+v, %v", tick, v, err)
		}
	}
	seen := map[replay.Hash]lockstep.Tick{}
	for tick := range lockstep.Tick(206) {
		h := contentOf(t, file, tick)
		if before, ok := seen[h]; ok {
			t.Fatalf("ticks %d and %d have one content hash", before, tick)
		}
		seen[h] = tick
	}
}

// Every change of the match changes the content hash. The recorder's identity and the notes do not.
func TestContentHashChanges(t *testing.T) {
	_, file, _ := recordMatch(t, 205, replay.WriterOptions{})
	file = change(t, file, func(r *record.Record) { // an unused kind
		if r.Header != nil {
			more := r.Header.Commands[0]
			more.Kind++
			r.Header.Commands = append(r.Header.Commands, more)
		}
	})
	want := contentOf(t, file, replay.WholeMatch)
	for name, c := range map[string]struct {
		same bool
		f    func(*record.Record)
	}{
		"platform": {true, func(r *record.Record) {
			if r.Header != nil {
				r.Header.Platform = "another"
			}
		}},
		"a name":     {true, func(r *record.Record) { r.Text = strings.ReplaceAll(r.Text, "ada", "eve") }},
		"a keyframe": {true, func(r *record.Record) { r.Keyframe.Hash += b2i(r.Kind == record.KindKeyframe && r.Tick == 50) }},
		"seed": {false, func(r *record.Record) {
			if r.Header != nil {
				r.Header.Settings.Seed++
			}
		}},
		"the first state": {false, func(r *record.Record) { r.Keyframe.Hash += b2i(r.Kind == record.KindKeyframe && r.Tick == 0) }},
		"a payload": {false, func(r *record.Record) {
			if r.Tick == 36 && len(r.Frame.Commands) > 0 {
				r.Frame.Commands[0].Payload[2]++
			}
		}},
		"a kind": {false, func(r *record.Record) {
			if r.Tick == 36 && len(r.Frame.Commands) > 0 {
				r.Frame.Commands[0].Kind++
			}
		}},
		"a checksum": {false, func(r *record.Record) { r.Hash += b2i(r.Kind == record.KindChecksum && r.Tick == 200) }},
		"the reason": {false, func(r *record.Record) { r.Text = strings.ReplaceAll(r.Text, "done", "won") }},
	} {
		if got := contentOf(t, change(t, file, c.f), replay.WholeMatch); (got == want) != c.same {
			t.Errorf("%s changed: same content hash: %t, want %t", name, got == want, c.same)
		}
	}
}

// Recover makes a whole file of a torn or damaged one and reports the loss.
func TestRecover(t *testing.T) {
	g, file, _ := recordMatch(t, 400, replay.WriterOptions{FlushTicks: 10})
	sealedFile := sealed(t, file, replay.WriterOptions{SegmentTicks: 100})
	inside := bytes.Clone(sealedFile)
	r := open(t, sealedFile)
	if _, err := r.Seek(250); err != nil {
		t.Fatal(err)
	}
	inside[r.Offset()+30]++
	for name, c := range map[string]struct {
		file        []byte
		ticks, next lockstep.Tick
	}{
		"whole":                {file, 400, 0},
		"torn":                 {file[:len(file)-30], 400, 0},
		"torn, sealed":         {sealedFile[:len(sealedFile)-10], 400, 0},
		"damaged in a segment": {inside, 200, 300},
	} {
		var out bytes.Buffer
		rec, err := replay.Recover(replay.NewWriter(&out, replay.WriterOptions{SegmentTicks: 100}), open(t, c.file))
		if err != nil || rec.Ticks != c.ticks && name != "torn" || (rec.Damage == nil) != (name == "whole") {
			t.Fatalf("%s: %+v, %v", name, rec, err)
		}
		if c.next > 0 && (rec.Damage.NextTick != c.next || rec.Damage.Next == 0) {
			t.Errorf("%s: %v", name, rec.Damage)
		}
		v, err := replay.Verify(open(t, out.Bytes()), g, replay.VerifyOptions{})
		if err != nil || v.Ticks != rec.Ticks || !v.Ended {
			t.Errorf("%s: recovered %+v, %v", name, v, err)
		}
	}
	var out bytes.Buffer
	if _, err := replay.Recover(replay.NewWriter(&out, replay.WriterOptions{}), open(t, file[:60])); err == nil {
		t.Error("recovered a file without a state")
	}
	newer := replay.AppendBlock(bytes.Clone(file), 63, []byte("of a later version"))
	if _, err := replay.Recover(replay.NewWriter(&out, replay.WriterOptions{}), open(t, newer)); !errors.Is(err, replay.ErrUnsupported) {
		t.Errorf("a file with a block that only a newer reader knows: got %v, want %v", err, replay.ErrUnsupported)
	}
}

// A match whose checksums are not those of the simulation gets no keyframes.
func TestRekeyFalse(t *testing.T) {
	g, file, _ := recordMatch(t, 100, replay.WriterOptions{})
	file = change(t, file, func(r *record.Record) { r.Hash += b2i(r.Kind == record.KindChecksum && r.Tick == 30) })
	var desync *lockstep.DesyncError
	if err := replay.Rekey(replay.NewWriter(&bytes.Buffer{}, replay.WriterOptions{}), open(t, file), g, 10, replay.SimulateOptions{}); !errors.As(err, &desync) || desync.Tick != 30 {
		t.Errorf("got %v", err)
	}
}

// Recordings of one match of different lengths are equal up to a tick that both have, whether they end with another
// text, without an end, or with a damaged block.
func TestContentHashUpTo(t *testing.T) {
	_, long, _ := recordMatch(t, 205, replay.WriterOptions{FlushTicks: 1})
	const tick = 137
	want := contentOf(t, long, tick)
	end := func(at lockstep.Tick, text string) []byte {
		var out bytes.Buffer
		if err := replay.Cut(replay.NewWriter(&out, replay.WriterOptions{SegmentTicks: 50}), open(t, long), at); err != nil {
			t.Fatal(err)
		}
		return change(t, out.Bytes(), func(r *record.Record) {
			if r.Kind == record.KindEnd {
				r.Text = text
			}
		})
	}
	for name, file := range map[string][]byte{
		"another end": change(t, long, func(r *record.Record) {
			if r.Kind == record.KindEnd {
				r.Text = "another"
			}
		}),
		"ends there": end(tick, "the server stopped"), "ends behind it": end(tick+1, "x"),
	} {
		if got := contentOf(t, file, tick); got != want {
			t.Errorf("%s: another content hash up to tick %d", name, tick)
		}
		if contentOf(t, file, replay.WholeMatch) == contentOf(t, long, replay.WholeMatch) {
			t.Errorf("%s: the same content hash of the whole match", name)
		}
	}
	// The file is torn at any byte: all readable ticks have the same hash.
	for n := len(long) * 3 / 4; n < len(long); n += 3 {
		info, err := replay.ReadInfo(open(t, long[:n]))
		if err == nil || info.Ticks < 100 {
			t.Fatalf("torn at byte %d: got %d ticks, %v", n, info.Ticks, err)
		}
		if got, last, err := replay.HashContent(open(t, long[:n]), info.Ticks); err != nil || last != info.Ticks || got != contentOf(t, long, info.Ticks) {
			t.Fatalf("torn at byte %d: up to tick %d of %d: %v", n, last, info.Ticks, err)
		}
		if _, last, err := replay.HashContent(open(t, long[:n]), info.Ticks+1); err == nil {
			t.Fatalf("torn at byte %d: hashed up to tick %d, want an error", n, last)
		}
	}
	if got, last, err := replay.HashContent(open(t, end(100, "x")), tick); err != nil || last != 100 || got != contentOf(t, long, 100) {
		t.Errorf("a shorter recording: up to tick %d, %v", last, err)
	}
}

func ExampleHashContent_upTo() {
	_, long := exampleFile()
	open := func(b []byte) *replay.Reader {
		r, err := replay.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			panic(err)
		}
		return r
	}
	var short bytes.Buffer // another recording, of which the server stopped after tick 50
	if err := replay.Cut(replay.NewWriter(&short, replay.WriterOptions{}), open(long), 50); err != nil {
		panic(err)
	}
	for _, tick := range []lockstep.Tick{50, replay.WholeMatch} {
		a, _, _ := replay.HashContent(open(long), tick)
		b, last, err := replay.HashContent(open(short.Bytes()), tick)
		fmt.Println(a == b, last, err)
	}
	// Output:
	// true 50 <nil>
	// false 50 <nil>
}

func ExampleHashContent() {
	game, file := exampleFile()
	open := func(b []byte) *replay.Reader {
		r, err := replay.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			panic(err)
		}
		return r
	}
	var keyed bytes.Buffer
	err := replay.Rekey(replay.NewWriter(&keyed, replay.WriterOptions{SegmentTicks: 20}), open(file), game, 20, replay.SimulateOptions{})
	fmt.Println(err)
	var a, b replay.Hash
	a, _, _ = replay.HashContent(open(file), replay.WholeMatch)
	b, _, _ = replay.HashContent(open(keyed.Bytes()), replay.WholeMatch)
	fmt.Println(a == b)
	// Output:
	// <nil>
	// true
}

func ExampleRecover() {
	_, file := exampleFile()
	torn := file[:len(file)-40]
	r, err := replay.NewReader(bytes.NewReader(torn), int64(len(torn)))
	if err != nil {
		fmt.Println(err)
		return
	}
	var out bytes.Buffer
	var found *replay.Recovery
	found, err = replay.Recover(replay.NewWriter(&out, replay.WriterOptions{}), r)
	fmt.Println(found.Ticks, found.Damage != nil, err)
	// Output: 80 true <nil>
}

// A signature covers the content of the match: sealing before signing changes nothing, and a signature of another
// content is invalid.
func TestSignature(t *testing.T) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))
	public := key.Public().(ed25519.PublicKey)
	_, file, _ := recordMatch(t, 100, replay.WriterOptions{})
	sign := func(b []byte) []byte {
		var out bytes.Buffer
		if err := replay.Sign(&out, open(t, b), key); err != nil {
			t.Fatal(err)
		}
		if err := replay.VerifySignature(open(t, out.Bytes()), public); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	signed := sign(file)
	sealedFile := sign(sealed(t, file, replay.WriterOptions{SegmentTicks: 30}))
	if !bytes.Contains(sealedFile, signed[len(file)+2:len(file)+99]) {
		t.Error("another signature of the sealed file")
	}
	if at, err := open(t, sealedFile).Seek(60); at != 50 || err != nil {
		t.Errorf("signed: keyframe %d, %v", at, err)
	}
	// The same file length, one changed bit of a command, valid checksums, and the old signature.
	changed := change(t, file, func(r *record.Record) {
		if r.Tick == 36 && len(r.Frame.Commands) > 0 {
			r.Frame.Commands[0].Payload[2] ^= 1
		}
	})
	forged := replay.Resign(changed, signed[len(signed)-8-97:len(signed)-8])
	if err := replay.VerifySignature(open(t, forged), public); !errors.Is(err, replay.ErrSignature) {
		t.Errorf("a changed command under the old signature: %v", err)
	}
	for name, c := range map[string]struct {
		file   []byte
		signer string
		signed bool
	}{
		"signed": {signed, hex.EncodeToString(public), true},
		"sealed": {sealedFile, hex.EncodeToString(public), true},
		"forged": {forged, hex.EncodeToString(public), false},
		"not":    {file, "", false},
	} {
		info, err := replay.ReadInfo(open(t, c.file))
		if err != nil || info.Signer != c.signer || info.Signed != c.signed {
			t.Errorf("%s: got signer %q, signed %v, %v", name, info.Signer, info.Signed, err)
		}
	}
	if err := replay.VerifySignature(open(t, file), public); !errors.Is(err, replay.ErrSignature) {
		t.Errorf("without a signature: %v", err)
	}
	for i := len(file); i < len(signed); i++ {
		b := bytes.Clone(signed)
		b[i] ^= 1
		if err := replay.VerifySignature(open(t, b), public); err == nil {
			t.Errorf("byte %d of the signature changed, and it holds", i-len(file))
		}
	}
}

func ExampleSign() {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
	_, file := exampleFile()
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	var signed bytes.Buffer
	if err := replay.Sign(&signed, r, key); err != nil {
		fmt.Println(err)
		return
	}
	if r, err = replay.NewReader(bytes.NewReader(signed.Bytes()), int64(signed.Len())); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(replay.VerifySignature(r, key.Public().(ed25519.PublicKey)))
	info, err := replay.ReadInfo(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	var first replay.Signature = info.Signatures[0]
	fmt.Println(first.Kind, first.Signed)
	// Output:
	// <nil>
	// 1 true
}

// Signing keeps the signatures of other keys and replaces that of the same key. A signature of an unknown kind is
// skipped; a verification that asks for a key reports it.
func TestSignaturesOfSeveralKeys(t *testing.T) {
	_, file := exampleFile()
	file = replay.AppendBlock(file, 65, []byte{9, 1, 2, 3})
	var public []ed25519.PublicKey
	for _, seed := range []byte{1, 2, 1} {
		key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32))
		if err := replay.VerifySignature(open(t, file), key.Public().(ed25519.PublicKey)); len(public) == 0 &&
			(!errors.Is(err, replay.ErrSignature) || !strings.Contains(err.Error(), "a signature of unknown kind 9: not checked")) {
			t.Errorf("got %v", err)
		}
		var out bytes.Buffer
		if err := replay.Sign(&out, open(t, file), key); err != nil {
			t.Fatal(err)
		}
		file, public = out.Bytes(), append(public, key.Public().(ed25519.PublicKey))
	}
	for _, key := range public {
		if err := replay.VerifySignature(open(t, file), key); err != nil {
			t.Error(err)
		}
	}
	info, err := replay.ReadInfo(open(t, file))
	if err != nil || len(info.Signatures) != 3 || info.Signatures[0] != (replay.Signature{Kind: 9}) || !info.Signatures[2].Signed || !info.Signed {
		t.Errorf("got %+v, %v", info.Signatures, err)
	}
}

package replay_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

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

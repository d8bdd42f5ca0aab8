package replay_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// module returns bytes that stand for a module, and that compress a little.
func module(size int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(r.IntN(32))
	}
	return b
}

func rulesOf(t *testing.T, module []byte) *replay.Rules {
	t.Helper()
	rules, err := replay.NewRules(module)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func attached(t *testing.T, file []byte, rules *replay.Rules) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := replay.Attach(&out, open(t, file), rules); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A file gives back the module that was attached to it, and is the same match as before; without it, it has the same bytes.
func TestAttach(t *testing.T) {
	code, other := module(300_000, 1), module(1000, 2)
	_, plain, _ := recordMatch(t, 100, replay.WriterOptions{})
	for name, file := range map[string][]byte{"open": plain, "sealed": sealed(t, plain, replay.WriterOptions{SegmentTicks: 30})} {
		before, err := replay.ReadInfo(open(t, file))
		if err != nil || before.Rules != nil {
			t.Fatalf("%s: rules %v, %v", name, before.Rules, err)
		}
		with := attached(t, file, rulesOf(t, code))
		if len(with) > len(file)+len(code)*3/4 {
			t.Errorf("%s: %d bytes more for %d", name, len(with)-len(file), len(code))
		}
		info, err := replay.ReadInfo(open(t, with))
		if err != nil || info.ContentHash != before.ContentHash || info.Rules == nil || info.Rules.Sum != replay.SumRules(code) || info.Rules.SizeBytes != len(code) {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
		got, err := open(t, with).Rules()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := got.Module(); err != nil || !bytes.Equal(back, code) {
			t.Errorf("%s: another module, %v", name, err)
		}
		if at, err := open(t, with).Seek(60); at != 50 || err != nil {
			t.Errorf("%s: keyframe %d, %v", name, at, err)
		}
		if again := attached(t, with, rulesOf(t, other)); !bytes.Equal(again, attached(t, file, rulesOf(t, other))) {
			t.Errorf("%s: other rules do not replace the first", name)
		}
		if !bytes.Equal(attached(t, with, nil), file) {
			t.Errorf("%s: without the rules it is another file", name)
		}
		far, err := open(t, attached(t, file, rulesOf(t, code).Reference())).Rules()
		if err != nil || far.Sum != replay.SumRules(code) || far.SizeBytes != 0 {
			t.Errorf("%s: reference %+v, %v", name, far, err)
		}
		if code, err := far.Module(); code != nil || err != nil {
			t.Errorf("%s: a reference has a module of %d bytes, %v", name, len(code), err)
		}
		if none, err := open(t, file).Rules(); none != nil || err != nil {
			t.Errorf("%s: got %v, %v", name, none, err)
		}
	}
	var out bytes.Buffer
	w := replay.NewWriter(&out, replay.WriterOptions{SegmentTicks: 30, Rules: rulesOf(t, other)})
	if err := replay.Cut(w, open(t, plain), replay.WholeMatch); err != nil || !bytes.Equal(out.Bytes(), attached(t, sealed(t, plain, replay.WriterOptions{SegmentTicks: 30}), rulesOf(t, other))) {
		t.Errorf("sealed with rules: %d bytes, %v", out.Len(), err)
	}
}

// A signature of the match holds with any rules. One that covers the rules is gone with them.
func TestSignWithRules(t *testing.T) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))
	public := key.Public().(ed25519.PublicKey)
	_, file, _ := recordMatch(t, 50, replay.WriterOptions{})
	sign := func(how func(io.Writer, *replay.Reader, ed25519.PrivateKey) error, file []byte) []byte {
		var out bytes.Buffer
		if err := how(&out, open(t, file), key); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	first, second := rulesOf(t, module(1000, 1)), rulesOf(t, module(1000, 2))
	ofMatch := attached(t, sign(replay.Sign, file), first)
	ofBoth := sign(replay.SignWithRules, attached(t, file, first))
	var out bytes.Buffer
	if err := replay.SignWithRules(&out, open(t, file), key); err == nil || out.Len() > 0 {
		t.Errorf("signed rules that are not there: %d bytes, %v", out.Len(), err)
	}
	for name, c := range map[string]struct {
		file []byte
		good bool
	}{
		"match":                  {ofMatch, true},
		"match, other rules":     {attached(t, ofMatch, second), true},
		"both":                   {ofBoth, true},
		"both, same rules":       {attached(t, ofBoth, first.Reference()), true},
		"both, other rules":      {attached(t, ofBoth, second), false},
		"both, no rules":         {attached(t, ofBoth, nil), false},
		"both, moved by force":   {replay.Resign(attached(t, file, second), ofBoth[len(ofBoth)-8-97:len(ofBoth)-8]), false},
		"match, signed for both": {sign(replay.SignWithRules, ofMatch), true},
	} {
		err := replay.VerifySignature(open(t, c.file), public)
		info, e := replay.ReadInfo(open(t, c.file))
		if (err == nil) != c.good || e != nil || info.Signed != c.good {
			t.Errorf("%s: %v; info: signed %t, %v", name, err, info.Signed, e)
		}
	}
}

// Rules that are not what they say are refused when they are used. Their sizes cost no memory.
func TestBadRules(t *testing.T) {
	_, file, _ := recordMatch(t, 20, replay.WriterOptions{})
	code := module(50_000, 3)
	with := attached(t, file, rulesOf(t, code))
	body := with[len(file)+4 : len(with)-8]
	if len(body) < 33 || body[0] != 1 {
		t.Fatalf("got %x", body[:1])
	}
	for name, change := range map[string]func([]byte) []byte{
		"another sum":   func(b []byte) []byte { b[5] ^= 1; return b },
		"another size":  func(b []byte) []byte { b[33] ^= 1; return b },
		"one byte less": func(b []byte) []byte { return b[:len(b)-1] },
		"no frame":      func(b []byte) []byte { b[37] ^= 1; return b },
		"32 MiB": func(b []byte) []byte {
			return append(binary.AppendUvarint(b[:33:33], replay.MaxRules), b[36:]...)
		},
	} {
		bad := replay.AppendBlock(file, 66, change(bytes.Clone(body)))
		rules, err := open(t, bad).Rules()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if code, err := rules.Module(); !errors.Is(err, replay.ErrCorrupt) || code != nil {
			t.Errorf("%s: got %d bytes, %v", name, len(code), err)
		}
		if _, err := replay.ReadInfo(open(t, bad)); err != nil {
			t.Errorf("%s: the match is not read: %v", name, err)
		}
	}
	for i := len(file); i < len(with); i += 97 {
		b := bytes.Clone(with)
		b[i] ^= 4
		if rules, err := open(t, b).Rules(); err == nil && rules != nil {
			t.Errorf("byte %d changed, and there are rules", i)
		}
	}
	for _, size := range []int{0, replay.MaxRules + 1} {
		if _, err := replay.NewRules(make([]byte, size)); !errors.Is(err, replay.ErrLimit) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func ExampleAttach() {
	_, file := exampleFile()
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		panic(err)
	}
	rules, err := replay.NewRules([]byte("\x00asm\x01\x00\x00\x00")) // of samestep rules build
	if err != nil {
		panic(err)
	}
	var out bytes.Buffer
	if err := replay.Attach(&out, r, rules); err != nil {
		panic(err)
	}
	if r, err = replay.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len())); err != nil {
		panic(err)
	}
	found, err := r.Rules()
	if err != nil {
		panic(err)
	}
	var sum replay.Hash = found.Sum
	module, err := found.Module()
	fmt.Println(len(module), "bytes,", sum, err)
	// Output: 8 bytes, 93a44bbb96c751218e4c00d479e4c14358122a389acca16205b1e4d0dc5f9476 <nil>
}

// The search for the rules ends where a file is no replay, such as at the zeros of a sparse file, of which there can be many.
func TestRulesOfZeros(t *testing.T) {
	_, plain, _ := recordMatch(t, 100, replay.WriterOptions{})
	r := open(t, append(bytes.Clone(plain), make([]byte, 1000)...))
	rules, err := r.Rules()
	if damage := (*replay.DamageError)(nil); rules != nil || !errors.As(err, &damage) || damage.Offset != int64(len(plain)) {
		t.Errorf("got %v, %v, want damage at byte %d", rules, err, len(plain))
	}
}

// A log says by an event of its server which module has the rules of its match, near its beginning. What is attached to the file counts more.
func TestRulesEvent(t *testing.T) {
	code := module(1000, 1)
	sum := replay.SumRules(code).String()
	_, plain, _ := recordMatch(t, 200, replay.WriterOptions{})
	for name, c := range map[string]struct {
		before record.Kind // of the records, that before which it stands
		note   []byte
		want   string
	}{
		"at the beginning":  {record.KindFrame, record.Event(record.System, record.EventRules, sum), sum},
		"a note":            {record.KindFrame, record.Note(record.System, record.EventRules, sum), ""},
		"another event":     {record.KindFrame, record.Event(record.System, "rule", sum), ""},
		"no sum":            {record.KindFrame, record.Event(record.System, record.EventRules, sum[1:]), ""},
		"at the end":        {record.KindEnd, record.Event(record.System, record.EventRules, sum), ""},
		"the first counts":  {record.KindFrame, slices.Concat(record.Event(record.System, record.EventRules, sum), record.Event(record.System, record.EventRules, strings.Repeat("0", 64))), sum},
		"none (of control)": {record.KindFrame, nil, ""},
	} {
		var out bytes.Buffer
		w := replay.NewWriter(&out, replay.WriterOptions{})
		r := open(t, plain)
		put := false
		for rec, err := range r.All() {
			if err != nil {
				t.Fatal(err)
			}
			if !put && (rec.Kind == c.before || c.before == record.KindFrame && rec.Ticks() > 0) {
				put = true
				if c.note != nil {
					if err := w.Append(c.note); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := w.Append(r.Record()); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		file := out.Bytes()
		for form, b := range map[string][]byte{"open": file, "sealed": sealed(t, file, replay.WriterOptions{SegmentTicks: 30}), "cut": file[:len(file)-20]} {
			got := ""
			if rules, _ := open(t, b).Rules(); rules != nil {
				got = rules.Sum.String()
			}
			if got != c.want {
				t.Errorf("%s, %s: got %q, want %q", name, form, got, c.want)
			}
			info, err := replay.ReadInfo(open(t, b))
			if (err != nil) != (form == "cut") || (info.Rules != nil) != (c.want != "") || info.Rules != nil && info.Rules.Sum.String() != c.want {
				t.Errorf("%s, %s: info: %v, %v, want %q", name, form, info.Rules, err, c.want)
			}
		}
		other := module(1000, 2)
		if rules, err := open(t, attached(t, file, rulesOf(t, other))).Rules(); err != nil || rules == nil || rules.Sum != replay.SumRules(other) || rules.SizeBytes != len(other) {
			t.Errorf("%s: attached: got %v, %v", name, rules, err)
		}
	}
}

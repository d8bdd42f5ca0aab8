package replay_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/testing/script"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

const versionDir = goldenDir + "/versions"

// versionFiles are files of every format version, in every form of it. In those of "v1result" the
// rules end the match with a result, and a tick has a long period. They must be readable, verifiable and seekable
// forever, so neither they nor their game change: a new format version adds files and rows. With -rewrite a missing
// file is made and its row printed. Existing files are never written.
var versionFiles = []versionFile{
	{"v1-open", 0x7fd127776a62e4d0, 330, 40, true, 0x81377675851c9ea1, "306b241c19bc034947ed1e6771b0114ee0b20d7c758e496c0404aba14dfc0c25"},
	{"v1-sealed", 0x60db827c6b867652, 330, 40, true, 0x81377675851c9ea1, "306b241c19bc034947ed1e6771b0114ee0b20d7c758e496c0404aba14dfc0c25"},
	{"v1-signed", 0x9c5f98e1ac43cdbc, 330, 40, true, 0x81377675851c9ea1, "306b241c19bc034947ed1e6771b0114ee0b20d7c758e496c0404aba14dfc0c25"},
	{"v1-torn", 0x26c17696af26edb5, 160, 19, false, 0xc1b65c970e0641ab, "a77e30c8b3f28f75e5005563f79d0b828b108361bb73fa9303b539d3f0ebd822"},
	{"v1-optional", 0x4822ac6fde335780, 330, 40, true, 0x81377675851c9ea1, "306b241c19bc034947ed1e6771b0114ee0b20d7c758e496c0404aba14dfc0c25"},
	{"v1result-open", 0x3058ce950825fad3, 330, 40, true, 0x81377675851c9ea1, "b698770c7cc387fc4b8da0cdd325b8778cae122c4d5677f32c800cb8bc2be3b7"},
	{"v1result-sealed", 0x06c9f0f2ad95a37a, 330, 40, true, 0x81377675851c9ea1, "b698770c7cc387fc4b8da0cdd325b8778cae122c4d5677f32c800cb8bc2be3b7"},
}

// A versionFile is the expected contents of a file.
type versionFile struct {
	name    string
	sum     uint64 // xxHash64 of the file
	ticks   lockstep.Tick
	checked int
	whole   bool   // else it is torn
	hash    uint64 // at the last tick
	content string // content hash
}

// The game of the version files. It must never change.
type (
	ledger struct {
		Day      uint32
		Closed   bool
		Title    string
		Balances []int64
		Totals   [2]uint16
		Entries  []entry
	}
	entry struct {
		Who    uint8
		Amount int32
	}
	post struct {
		To     uint8
		Amount int32
		Text   string
	}
	shut         struct{}
	ledgerConfig struct{ Accounts uint16 }
	audit        struct {
		Day  uint32
		Best uint8
		Sums []int64
	}
)

const auditResult = `{"Day":330,"Best":1,"Sums":["345","415"]}`

// auditRules are the rules of the ledger that end the match with a result. They must never change either.
func auditRules() lockstep.Rules[ledger, ledgerConfig] {
	r := ledgerRules()
	step := r.Step
	r.Name, r.Result = "audited ledger", lockstep.Result[audit]()
	r.Step = func(w *ledger, config *ledgerConfig, t *lockstep.Turn) {
		if step(w, config, t); w.Day == 330 {
			t.End(&audit{Day: w.Day, Best: uint8(slices.Index(w.Balances, slices.Max(w.Balances))), Sums: w.Balances[:2]})
		}
	}
	return r
}

// versionGame returns the game of a file.
func versionGame(name string) *lockstep.Game {
	if strings.HasPrefix(name, "v1result-") {
		return lockstep.MustGame(auditRules())
	}
	return lockstep.MustGame(ledgerRules())
}

func ledgerRules() lockstep.Rules[ledger, ledgerConfig] {
	return lockstep.Rules[ledger, ledgerConfig]{
		Name: "ledger", Build: "for ever",
		Commands: []lockstep.CommandType{lockstep.Type[post](1, "post"), lockstep.Type[shut](40000, "shut")},
		New: func(w *ledger, s *lockstep.Settings, c *ledgerConfig) error {
			w.Balances = make([]int64, c.Accounts)
			w.Totals[0] = uint16(s.Seed)
			return nil
		},
		Step: func(w *ledger, _ *ledgerConfig, t *lockstep.Turn) {
			w.Day++
			for i := range t.Commands {
				switch v := t.Commands[i].Value.(type) {
				case *post:
					w.Balances[int(v.To)%len(w.Balances)] += int64(v.Amount)
					w.Entries = append(w.Entries, entry{uint8(t.Commands[i].Player), v.Amount})
					w.Title = v.Text
				case *shut:
					w.Closed = !w.Closed
				default:
					w.Totals[1]++
				}
			}
			if len(w.Entries) > 20 {
				w.Entries = append(w.Entries[:0], w.Entries[10:]...)
			}
		},
	}
}

// playLedger plays the match of the version files into a log: every record kind, and a record of an unknown kind that
// readers may skip.
func playLedger(t *testing.T, g *lockstep.Game, log lockstep.Log) {
	t.Helper()
	s := lockstep.DefaultSettings(3)
	s.Seed, s.CheckEvery, s.KeyframeEvery = 0x1234, 10, 50
	if g.Name() == "audited ledger" {
		s.TickMicros = 600_000
	}
	h, err := g.NewHeader(lockstep.MatchID{1, 2, 3}, s, &ledgerConfig{Accounts: 5})
	if err != nil {
		t.Fatal(err)
	}
	h.Platform, h.Sources = "golden", ""
	c, err := coordinator.New(g, h, log, coordinator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	payloads := g.NewPayloads()
	for p := range lockstep.Player(3) {
		c.Join(p)
		c.Note(p, record.TopicName, fmt.Sprintf("player %d \u00e9", p))
	}
	for i := range 330 {
		var value any = &post{uint8(i), int32(i*i%701) - 350, strings.Repeat("x", i%5)}
		if i%90 == 80 {
			value = &shut{}
		}
		if i%100 < 60 && i%3 == 0 { // quiet ticks follow
			kind, b, err := payloads.Encode(value)
			if err != nil {
				t.Fatal(err)
			}
			if r := c.Submit(lockstep.Player(i%2), lockstep.Sequence(i/6+1), kind, b); r.Err() != nil {
				t.Fatal(r)
			}
		}
		switch i {
		case 120:
			c.Lose(2)
		case 140:
			c.Note(0, record.TopicChat, "gg")
			log.Append([]byte("\x92\x7b\xc4\x02hi")) // kind 123
		case 145:
			c.Report(1, 140, &checksum.Sum{Hash: 99})
		case 150:
			c.TakeOver(2)
		}
		if _, err := c.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	if _, byRules := c.Result(); byRules {
		return
	}
	if err := c.End("the golden match is over"); err != nil {
		t.Fatal(err)
	}
}

// makeVersion returns the named file in the current format version.
func makeVersion(t *testing.T, name string) []byte {
	t.Helper()
	g := versionGame(name)
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	playLedger(t, g, w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b := file.Bytes()
	switch _, form, _ := strings.Cut(name, "-"); form {
	case "open":
		return b
	case "torn":
		return b[:len(b)*3/5]
	case "optional": // a block of an unknown kind
		return replay.AppendBlock(b, 100, []byte("of a later version"))
	case "sealed":
		return sealed(t, b, replay.WriterOptions{SegmentTicks: 90})
	case "signed":
		var out bytes.Buffer
		key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
		if err := replay.Sign(&out, open(t, sealed(t, b, replay.WriterOptions{SegmentTicks: 90})), key); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	t.Fatalf("no form %s", name)
	return nil
}

// Old files still verify, are whole, and can be sought in.
func TestVersions(t *testing.T) {
	if script.Rewrite() {
		makeVersions(t)
	}
	for _, f := range versionFiles {
		t.Run(f.name, func(t *testing.T) {
			g := versionGame(f.name)
			b, err := os.ReadFile(filepath.Join(versionDir, f.name+".ssr"))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := describeVersion(t, g, f.name, b), f; got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			last := lockstep.Tick(0)
			for _, tick := range []lockstep.Tick{0, 99, 170, f.ticks} {
				if at, err := open(t, b).Seek(tick); err != nil || at > tick || at+50 <= tick && tick <= f.ticks || at < last {
					t.Errorf("sought tick %d: got keyframe %d, %v", tick, at, err)
				}
			}
			info, err := replay.ReadInfo(open(t, b))
			if got := string(info.Result); strings.HasPrefix(f.name, "v1result-") && (err != nil || got != auditResult || info.Header.Settings.TickMicros != 600_000) {
				t.Errorf("got the result %s and a period of %d µs, want %s and 600000", got, info.Header.Settings.TickMicros, auditResult)
			}
			if strings.HasSuffix(f.name, "signed") {
				key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32)).Public().(ed25519.PublicKey)
				if err := replay.VerifySignature(open(t, b), key); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if files, err := filepath.Glob(filepath.Join(versionDir, "*.ssr")); err != nil || len(files) != len(versionFiles) || len(files) == 0 {
		t.Errorf("got %d files and %v, want the %d in the table", len(files), err, len(versionFiles))
	}
}

// describeVersion returns the row of a file.
func describeVersion(t *testing.T, g *lockstep.Game, name string, b []byte) versionFile {
	t.Helper()
	v, err := replay.Verify(open(t, b), g, replay.VerifyOptions{})
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	f := g.NewFollower(lockstep.FollowerOptions{})
	replay.Play(open(t, b), f, nil)
	info, _ := replay.ReadInfo(open(t, b))
	return versionFile{name, xxhash.Sum64(b), v.Ticks, v.Checked, err == nil && v.Ended, f.Simulation().Hash(), info.ContentHash.String()}
}

// makeVersions makes the missing files.
func makeVersions(t *testing.T) {
	t.Helper()
	for _, name := range []string{"v1-open", "v1-sealed", "v1-signed", "v1-torn", "v1-optional", "v1result-open", "v1result-sealed"} {
		b := makeVersion(t, name)
		err := writeVersion(filepath.Join(versionDir, name+".ssr"), b)
		if err == nil {
			f := describeVersion(t, versionGame(name), name, b)
			t.Errorf("add to versionFiles:\n\t{%q, %#016x, %d, %d, %t, %#016x, %q},", f.name, f.sum, f.ticks, f.checked, f.whole, f.hash, f.content)
		} else if !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
	}
}

// writeVersion writes a new file. It fails if the file exists.
func writeVersion(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// Control: an existing file is not overwritten, and a change of any byte contradicts its row.
func TestVersionsControl(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v1-open.ssr")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := writeVersion(path, []byte("new")); !errors.Is(err, os.ErrExist) {
		t.Errorf("an old file is written: %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "old" {
		t.Errorf("got %q, %v", b, err)
	}
	for _, f := range versionFiles {
		g := versionGame(f.name)
		b, err := os.ReadFile(filepath.Join(versionDir, f.name+".ssr"))
		if err != nil {
			t.Fatal(err)
		}
		if !f.whole {
			continue
		}
		if strings.HasSuffix(f.name, "-sealed") || f.name == "v1-signed" { // no block may follow an index
			if err := replay.Play(open(t, replay.AppendBlock(b, 101, nil)), nil, nil); !errors.Is(err, replay.ErrInvalid) {
				t.Errorf("%s: a block after the index: got %v, want %v", f.name, err, replay.ErrInvalid)
			}
			continue
		}
		if got := describeVersion(t, g, f.name, replay.AppendBlock(b, 101, nil)); got == f {
			t.Errorf("%s: a byte more is not noticed", f.name)
		}
	}
}

package replay_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// evidence returns the evidence of a desync of player 1 in the match of this package's tests.
func evidence() *host.Evidence {
	return &host.Evidence{
		Report: coordinator.DesyncReport{
			Tick: 30, Player: 1, Agreed: 20, Section: "Dots",
			Groups: []coordinator.Reporters{{Hash: 7, Referee: true, Players: []lockstep.Player{0}}, {Hash: 8, Players: []lockstep.Player{1}}},
		},
		Participants: []host.Participant{{Player: 0, Name: "ada", Build: "1", Platform: "linux/amd64"}, {Player: 1, Name: "bob", Build: "1", Platform: "js/wasm", Sources: "example.com/hex 3b18e512dba7"}},
		Resimulation: &host.Resimulation{
			From: 20, To: 22, Outcome: protocol.WrongTheSameWay, First: 22, Section: "Dots",
			Right: []uint64{1, 2}, Runs: [][]uint64{{1, 3}, {1, 3}},
			RightPhases: []host.PhaseSum{{Name: "move", Hash: 1}, {Name: "combat", Hash: 4}}, Phases: []host.PhaseSum{{Name: "move", Hash: 1}, {Name: "combat", Hash: 5}},
		},
		Exhibits: []host.Exhibit{{Tick: 20, Referee: []byte{1}, Player: []byte{1}}, {Tick: 30, Referee: []byte{2}}},
	}
}

func ExampleBundle() {
	var archive bytes.Buffer
	header := &lockstep.Header{Game: "dots", Build: "1"}
	if err := replay.WriteBundle(&archive, header, evidence(), strings.NewReader("the replay")); err != nil {
		panic(err)
	}
	var b *replay.Bundle
	b, err := replay.OpenBundle(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		panic(err)
	}
	var m replay.Manifest = b.Manifest
	fmt.Printf("player %d differs at tick %d in %s\n", m.Player, m.Tick, m.Section)
	for _, g := range m.Groups {
		fmt.Println(replay.BundleGroup(g))
	}
	fmt.Println(replay.BundleParticipant(m.Participants[1]))
	fmt.Println(replay.BundleExhibit(m.Exhibits[1]))
	var again *replay.BundleResimulation = m.Resimulation
	fmt.Println(again.Outcome, again.First, again.Runs[0])
	var phase replay.BundlePhase = again.Phases[1]
	fmt.Println(phase, again.RightPhases[1])
	state, err := b.State(m.Exhibits[1].Referee)
	fmt.Println(state, err)
	// Output:
	// player 1 differs at tick 30 in Dots
	// {0000000000000007 true [0]}
	// {0000000000000008 false [1]}
	// {1 bob 1 js/wasm example.com/hex 3b18e512dba7}
	// {30 states/30-referee.state }
	// wrong in the same way 22 [0000000000000001 0000000000000003]
	// {combat 0000000000000005} {combat 0000000000000004}
	// [2] <nil>
}

// A redacted bundle has no names and no chat. The texts that the match cannot be computed without stay.
func ExampleRedactBundle() {
	game, file := exampleFile()
	var archive, out bytes.Buffer
	if err := replay.WriteBundle(&archive, &lockstep.Header{Game: game.Name()}, evidence(), bytes.NewReader(file)); err != nil {
		panic(err)
	}
	b, err := replay.OpenBundle(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err == nil {
		err = replay.RedactBundle(&out, b, 1<<20)
	}
	if err == nil {
		b, err = replay.OpenBundle(bytes.NewReader(out.Bytes()), int64(out.Len()))
	}
	fmt.Printf("%q %v\n", b.Manifest.Participants[1].Name, err)
	stay, err := replay.PlainTexts(&lockstep.Header{StateSchema: state.MustCompile[struct{ Title string }]().Schema().AppendDescription(nil)})
	fmt.Println(stay, err)
	// Output:
	// "" <nil>
	// [state: Title] <nil>
}

// No text of a person is left of a replay, whatever record it is in: the reason of the end, a note, a foreign line, a kind of record
// that this build does not know, or the sources of a program. Everything else stays.
func TestRedactLeavesNoText(t *testing.T) {
	const secret = "s3cret"
	_, example := exampleFile()
	from, err := replay.NewReader(bytes.NewReader(example), int64(len(example)))
	if err != nil {
		t.Fatal(err)
	}
	var first [2]*record.Record
	for i := range first {
		if first[i], err = from.Next(); err != nil {
			t.Fatal(err)
		}
		first[i] = new(*first[i])
	}
	h := first[0].Header
	h.Sources = "example.com/" + secret + " 3b18e512dba7"
	var file, archive, out bytes.Buffer
	var e record.Encoder
	sum := strings.Repeat("0f", 32)
	w := replay.NewWriter(&file, replay.WriterOptions{})
	records := [][]byte{
		bytes.Clone(e.Header(h)), bytes.Clone(e.Record(first[1])), bytes.Clone(e.Note(1, record.TopicChat, secret)),
		bytes.Clone(e.Event(record.System, record.EventRules, secret)), bytes.Clone(e.Event(record.System, record.EventRules, sum)),
		bytes.Clone(e.Note(1, record.TopicReady, record.ReadyYes)), bytes.Clone(e.Foreign([]byte(`{"a":"` + secret + `"}`))), bytes.Clone(e.Empty(5)),
		append([]byte{0x92, 99, 0xc4, byte(len(secret))}, secret...),
	}
	for _, rec := range append(records, e.End(secret)) {
		if err := w.Append(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	found := evidence()
	found.Participants[1].Sources, found.Participants[1].Name = secret, secret
	if err := replay.WriteBundle(&archive, h, found, bytes.NewReader(file.Bytes())); err != nil {
		t.Fatal(err)
	}
	b, err := replay.OpenBundle(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err == nil {
		err = replay.RedactBundle(&out, b, 1<<20)
	}
	if err == nil {
		b, err = replay.OpenBundle(bytes.NewReader(out.Bytes()), int64(out.Len()))
	}
	var clean []byte
	if err == nil {
		clean, err = b.Replay(1 << 20)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(file.Bytes(), []byte(secret)) || bytes.Contains(clean, []byte(secret)) || strings.Contains(fmt.Sprint(b.Manifest), secret) {
		t.Errorf("the text is left in %q or %+v", clean, b.Manifest)
	}
	r, err := replay.NewReader(bytes.NewReader(clean), int64(len(clean)))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []record.Kind
	err = replay.Play(r, nil, func(rec *record.Record) error {
		kinds = append(kinds, rec.Kind)
		return nil
	})
	if want := []record.Kind{record.KindHeader, record.KindKeyframe, record.KindEvent, record.KindNote, record.KindEmpty, record.KindEnd}; err != nil || !slices.Equal(kinds, want) {
		t.Errorf("got the records %v, %v, want %v", kinds, err, want)
	}
	if rules, err := r.Rules(); err != nil || rules == nil || rules.Sum.String() != sum {
		t.Errorf("got the rules %v, %v, want %s", rules, err, sum)
	}
}

// A bundle that WriteBundle wrote is readable even if its files compress extremely well.
func TestBundleOfEmptyStates(t *testing.T) {
	e, zeros := evidence(), make([]byte, 24<<20)
	e.Exhibits[0].Referee, e.Exhibits[0].Player = zeros, zeros
	var archive, copied bytes.Buffer
	if err := replay.WriteBundle(&archive, &lockstep.Header{}, e, bytes.NewReader(zeros)); err != nil {
		t.Fatal(err)
	}
	b, err := replay.OpenBundle(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{b.Manifest.Exhibits[0].Referee, b.Manifest.Exhibits[0].Player} {
		if state, err := b.State(name); err != nil || !bytes.Equal(state, zeros) {
			t.Errorf("%s: got %d bytes, %v, want %d", name, len(state), err, len(zeros))
		}
	}
	if err := b.CopyReplay(&copied, 1<<30); err != nil || !bytes.Equal(copied.Bytes(), zeros) {
		t.Errorf("got a replay of %d bytes, %v, want %d", copied.Len(), err, len(zeros))
	}
}

// The entries of a bundle have a date that every ZIP reader accepts. Equal evidence gives equal bytes.
func TestBundleDates(t *testing.T) {
	var archive, again bytes.Buffer
	for _, w := range []*bytes.Buffer{&archive, &again} {
		if err := replay.WriteBundle(w, &lockstep.Header{Game: "dots"}, evidence(), strings.NewReader("the replay")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(archive.Bytes(), again.Bytes()) {
		t.Error("two bundles of the same evidence differ")
	}
	z, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil || len(z.File) != 5 {
		t.Fatalf("got %d files, %v", len(z.File), err)
	}
	for _, f := range z.File {
		// The MS-DOS date field holds the day (from 1) in its low bits and then the month (from 1).
		if day, month := f.ModifiedDate&31, f.ModifiedDate>>5&15; day != 1 || month != 1 || f.Modified.Year() != 1980 {
			t.Errorf("%s: got day %d of month %d, %v, want 1980-01-01", f.Name, day, month, f.Modified)
		}
	}
}

func TestBundleRefusesWhatIsNone(t *testing.T) {
	var archive bytes.Buffer
	if err := replay.WriteBundle(&archive, &lockstep.Header{}, evidence(), strings.NewReader("")); err != nil {
		t.Fatal(err)
	}
	whole := archive.Bytes()
	for name, b := range map[string][]byte{"nothing": {}, "text": []byte("not a zip archive"), "cut": whole[:len(whole)-30]} {
		if _, err := replay.OpenBundle(bytes.NewReader(b), int64(len(b))); !errors.Is(err, replay.ErrBundle) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for text, want := range map[string]replay.Class{
		`{"format":3,"game":{"name":"tag"}}`: replay.ClassUnsupported, // a field has another type
		`{}`:                                 replay.ClassOf(replay.ErrBundle),
	} {
		var archive bytes.Buffer
		z := zip.NewWriter(&archive)
		w, err := z.Create("manifest.json")
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err := errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := replay.OpenBundle(bytes.NewReader(archive.Bytes()), int64(archive.Len())); replay.ClassOf(err) != want {
			t.Errorf("the manifest %s: got %v, want %s", text, err, want)
		}
	}
	b, err := replay.OpenBundle(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.State("states/99-player.state"); !errors.Is(err, replay.ErrBundle) {
		t.Errorf("a state that is not there: got %v", err)
	}
	if _, err := b.Replay(-1); !errors.Is(err, replay.ErrBundle) {
		t.Errorf("a replay over the limit: got %v", err)
	}
}

// written counts the bytes that are written to it.
type written int

func (w *written) Write(p []byte) (int, error) {
	*w += written(len(p))
	return len(p), nil
}

// The size of a bundle bounds its unpacked contents, and also how much is unpacked before an error.
func TestBundleBomb(t *testing.T) {
	const name = "states/1-player.state"
	zeros := strings.Repeat("\x00", 1<<20)
	// The size of each file in it is in MiB. Neither is ever in memory as a whole.
	bomb := func(size int) *bytes.Reader {
		var file bytes.Buffer
		z := zip.NewWriter(&file)
		for _, entry := range []struct {
			name, part string
			parts      int
		}{{"manifest.json", `{"format":1}`, 1}, {name, zeros, size}, {"replay.ssr", zeros, size}} {
			f, err := z.Create(entry.name)
			for i := 0; err == nil && i < entry.parts; i++ {
				_, err = io.WriteString(f, entry.part)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return bytes.NewReader(file.Bytes())
	}
	opened := func(file *bytes.Reader) *replay.Bundle {
		b, err := replay.OpenBundle(file, file.Size())
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	read := func(b *replay.Bundle) (int, error) {
		file, err := b.Replay(1 << 30)
		return len(file), err
	}
	copied := func(b *replay.Bundle) (int, error) {
		var n written
		err := b.CopyReplay(&n, 1<<30)
		return int(n), err
	}
	large := bomb(64)
	for name, unpack := range map[string]func(*replay.Bundle) (int, error){"read": read, "copied": copied} {
		if n, err := unpack(opened(large)); !errors.Is(err, replay.ErrLimit) || !errors.Is(err, replay.ErrBundle) || n > 48<<20 {
			t.Errorf("%s, 64 MiB in a small bundle: got %d bytes and %v, want less than 48 MiB and %v", name, n, err, replay.ErrLimit)
		}
	}
	b := opened(bomb(24)) // each alone is not too large, but both together are
	_, first := copied(b)
	if _, second := read(b); first != nil || !errors.Is(second, replay.ErrLimit) {
		t.Errorf("twice 24 MiB in a small bundle: got %v and %v, want the second one to be %v", first, second, replay.ErrLimit)
	}
	b = opened(bomb(1)) // a state may be read again, but not for ever
	n := 0
	var err error
	for ; n < 100 && err == nil; n++ {
		_, err = b.State(name)
	}
	if n < 10 || n == 100 || !errors.Is(err, replay.ErrLimit) {
		t.Errorf("a state of 1 MiB was read %d times: got %v, want %v", n, err, replay.ErrLimit)
	}
}

// A bundle has large states as differences, and gives each in any order, also of different lengths.
func TestBundleDifferences(t *testing.T) {
	base := make([]byte, 1<<20)
	dice := rand.New(rand.NewPCG(1, 2))
	for i := range base {
		base[i] = byte(dice.Uint32())
	}
	var want [][]byte
	e := evidence()
	e.Exhibits = nil
	for i := range 10 {
		longer := append(bytes.Clone(base), base[:100*i]...)
		shorter := bytes.Clone(base[:len(base)-i])
		longer[i*1000]++
		e.Exhibits = append(e.Exhibits, host.Exhibit{Tick: lockstep.Tick(i + 1), Referee: longer, Player: shorter})
		want = append(want, longer, shorter)
	}
	var archive bytes.Buffer
	if err := replay.WriteBundle(&archive, &lockstep.Header{}, e, strings.NewReader("the replay")); err != nil {
		t.Fatal(err)
	}
	if archive.Len() > len(base)+1<<16 {
		t.Errorf("20 states of %d bytes: got a bundle of %d", len(base), archive.Len())
	}
	b, err := replay.OpenBundle(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil || b.Manifest.Format != 2 {
		t.Fatalf("got format %d, %v, want 2", b.Manifest.Format, err)
	}
	check := func(i int) {
		t.Helper()
		name := b.Manifest.Exhibits[i/2].Referee
		if i%2 == 1 {
			name = b.Manifest.Exhibits[i/2].Player
		}
		if got, err := b.State(name); err != nil || !bytes.Equal(got, want[i]) {
			t.Errorf("state %d, %s: got %d bytes, %v, want %d", i, name, len(got), err, len(want[i]))
		}
	}
	for _, i := range []int{7, 7, 3, 0, 19, 18, 1, 2} {
		check(i)
	}
	if _, err := b.State("replay.ssr"); !errors.Is(err, replay.ErrBundle) {
		t.Errorf("what is no state: got %v", err)
	}
}

// A bundle gives each content by its sum, and no other.
func TestBundleContents(t *testing.T) {
	one, two := []byte("a map"), []byte("a module")
	var archive bytes.Buffer
	if err := replay.WriteBundle(&archive, &lockstep.Header{Game: "dots"}, &host.Evidence{}, strings.NewReader("the replay"), one, two); err != nil {
		t.Fatal(err)
	}
	sum := func(b []byte) string { return replay.SumRules(b).String() }
	open := func(b []byte) *replay.Bundle {
		t.Helper()
		bundle, err := replay.OpenBundle(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		return bundle
	}
	b := open(archive.Bytes())
	for _, want := range [][]byte{one, two} {
		if got, err := b.Content(sum(want), 100); err != nil || !bytes.Equal(got, want) {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if _, err := b.Content(sum(one), 4); !errors.Is(err, replay.ErrLimit) {
		t.Errorf("more than is allowed: got %v", err)
	}
	if _, err := b.Content(sum([]byte("no map")), 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a content that it lacks: got %v", err)
	}
	other := bytes.ReplaceAll(archive.Bytes(), []byte(sum(one)), []byte(sum([]byte("no map"))))
	if _, err := open(other).Content(sum([]byte("no map")), 100); !errors.Is(err, replay.ErrBundle) {
		t.Errorf("a content under the sum of another: got %v", err)
	}
}

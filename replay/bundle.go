package replay

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// A bundle is a zip archive with the evidence of one desync, or of one panic of the rules:
//
//	manifest.json              who differed, when, and who took part; or who panicked, where
//	replay.ssr                 the replay so far
//	states/TICK-referee.state  canonical bytes of the referee's state
//	states/TICK-player.state   the state that the player sent
//	states/TICK-referee.diff   in place of a large one, its difference to the state before it in the manifest's order,
//	states/TICK-player.diff    see [appendDifference]; such a bundle has format 2
//	flights/referee.flight     the record of the last ticks of the referee (package flight), and
//	flights/N.flight           that of player N, as its machine sent it
//	contents/SHA256            an asset of the match, or the module of its rules
//
// An explanation needs nothing else besides the rules that are no module: the replay's header describes the states.
const (
	bundleFormat   = 1
	bundleDiffs    = 2 // the same, with differences of states
	manifestName   = "manifest.json"
	bundleReplay   = "replay.ssr"
	bundleContents = "contents/"
	maxBundleState = lockstep.MaxStateSize

	maxFlightFile = protocol.MaxFlight
)

// A Manifest is a bundle's table of contents, with the report.
type Manifest struct {
	Format       int                 `json:"format"`
	Match        string              `json:"match"`
	Game         string              `json:"game"`
	Build        string              `json:"build"`
	Tick         lockstep.Tick       `json:"tick"`            // the checked tick
	Agreed       lockstep.Tick       `json:"agreed"`          // the last checked one at which the player agreed, or on a tie all who reported; 0 if none is known
	Began        lockstep.Tick       `json:"began,omitempty"` // of the last state sent to the player before the tick; 0 if not known
	Player       lockstep.Player     `json:"player"`
	Tie          bool                `json:"tie,omitempty"`
	Section      string              `json:"section,omitempty"`
	Groups       []BundleGroup       `json:"groups"`
	Participants []BundleParticipant `json:"participants"`
	Exhibits     []BundleExhibit     `json:"exhibits"`

	// Flights names the records of the last ticks, at most [MaxFlights]: of the referee, and of machines as they sent them.
	Flights []BundleFlight `json:"flights,omitempty"`

	// Panic is that of the rules, which the bundle is about; nil in a bundle of a desync. Tick is the tick that they did not compute.
	Panic *BundlePanic `json:"panic,omitempty"`

	// Twin is set in a bundle of the heavy mode: a state and its cold twin differ at Tick. The exhibits have the warm state as the
	// referee's, and the cold one as the player's. Player is whose machine it was, or 255 for the server. Agreed is Since.
	Twin *BundleTwin `json:"twin,omitempty"`

	// Resimulation is nil if the player's machine was not asked to compute the ticks again, or did not answer.
	Resimulation *BundleResimulation `json:"resimulation,omitempty"`
}

// A BundlePanic is a panic of the rules: on the server if Player of the manifest is 255, and else on that player's machine, as it says.
type BundlePanic struct {
	Where string `json:"where"`
	Text  string `json:"text"`
	Stack string `json:"stack"`
}

// A BundleTwin is a difference of the heavy mode, see [twin.Options].
type BundleTwin struct {
	Since   lockstep.Tick `json:"since"`             // the twin was restored from the state after it
	Field   string        `json:"field,omitempty"`   // the first that differs; "" if the states do not
	Warm    string        `json:"warm"`              // its values, or how the tick ended
	Cold    string        `json:"cold"`              //
	Unfixed bool          `json:"unfixed,omitempty"` // a second twin had a third result
}

// Where says on whose machine a panic was.
func (m *Manifest) Where() string {
	if m.Player == lockstep.System {
		return "on the server"
	}
	return fmt.Sprintf("on the machine of player %d", m.Player)
}

// A BundleResimulation is what a player's machine has computed when it was asked to compute ticks again. Hashes are of the ticks after From.
type BundleResimulation struct {
	From    lockstep.Tick `json:"from"`
	To      lockstep.Tick `json:"to"`
	Outcome string        `json:"outcome"`           // as [protocol.Outcome.String] has it
	First   lockstep.Tick `json:"first,omitempty"`   // the first tick at which it differed again; 0 for none
	Section string        `json:"section,omitempty"` // the first section that differed then, if known

	// The parts of tick First that Step marks, of the referee and, as it says, of the player. Nil if not known.
	RightPhases []BundlePhase `json:"right_phases,omitempty"`
	Phases      []BundlePhase `json:"phases,omitempty"`

	Right []string   `json:"right"` // the referee's state hashes, up to First if there is one
	Runs  [][]string `json:"runs"`  // the player's, which may be anything
}

// A BundlePhase is a part of a tick, and the state hash at its beginning.
type BundlePhase struct {
	Name     string `json:"name"`
	Checksum string `json:"checksum"`
}

// A BundleGroup is the players that reported the same checksum.
type BundleGroup struct {
	Checksum string            `json:"checksum"`
	Referee  bool              `json:"referee,omitempty"`
	Players  []lockstep.Player `json:"players"`
}

// A BundleParticipant is a participant of the match, as its client describes it.
type BundleParticipant = host.Participant

// A BundleExhibit names the states of one tick in the archive. A name is empty if the archive lacks that side's state.
type BundleExhibit struct {
	Tick    lockstep.Tick `json:"tick"`
	Referee string        `json:"referee,omitempty"`
	Player  string        `json:"player,omitempty"`
}

// A BundleFlight names the record of the last ticks of a machine in the archive.
type BundleFlight struct {
	Player lockstep.Player `json:"player"` // 255 for the referee
	File   string          `json:"file"`
}

// MaxFlights is how many records of last ticks a bundle has.
const MaxFlights = 16

// WriteBundle writes the evidence of a desync in the match with header h, and the match's replay so far, as a bundle. The contents are
// what another machine needs to simulate the match: its assets, and the module of its rules. Readers find them by their SHA-256.
func WriteBundle(w io.Writer, h *lockstep.Header, e *host.Evidence, replay io.Reader, contents ...[]byte) error {
	state := func(i int, side string) ([]byte, error) {
		if side == sides[0] {
			return e.Exhibits[i].Referee, nil
		}
		return e.Exhibits[i].Player, nil
	}
	content := func(i int) ([]byte, error) { return contents[i], nil }
	m := manifest(h, e)
	flight := func(i int) ([]byte, error) { return e.Flights[i].Bytes, nil }
	return writeBundle(w, m, state, flight, len(contents), content, replay)
}

var sides = [...]string{"referee", "player"}

// writeBundle writes the files of a bundle. A side without a state in an exhibit gives nil. The manifest gets the names of the states.
func writeBundle(w io.Writer, m *Manifest, state func(i int, side string) ([]byte, error), flight func(i int) ([]byte, error), contents int, content func(i int) ([]byte, error), replay io.Reader) error {
	z := zip.NewWriter(w)
	m.Format = bundleFormat
	var before, difference []byte
	for i := range m.Exhibits {
		x := &m.Exhibits[i]
		for k, name := range []*string{&x.Referee, &x.Player} {
			b, err := state(i, sides[k])
			if err == nil && b != nil {
				*name = fmt.Sprintf("states/%d-%s.state", x.Tick, sides[k]) // a stranger's bundle may have any other
				file := b
				if before != nil && len(b) >= minDifference {
					difference = appendDifference(difference[:0], before, b)
					m.Format, *name, file = bundleDiffs, strings.TrimSuffix(*name, ".state")+diffSuffix, difference
				}
				err = addState(z, *name, file)
				before = b
			}
			if err != nil {
				return err
			}
		}
	}
	for i := range m.Flights {
		f := &m.Flights[i]
		if f.File = fmt.Sprintf("flights/%d.flight", f.Player); f.Player == lockstep.System {
			f.File = "flights/referee.flight"
		}
		b, err := flight(i)
		if err == nil {
			err = addFile(z, f.File, b)
		}
		if err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = addFile(z, manifestName, text)
	}
	for i := 0; i < contents && err == nil; i++ { // the match cannot be computed without them
		var b []byte
		if b, err = content(i); err == nil {
			err = addFile(z, bundleContents+SumRules(b).String(), b)
		}
	}
	if err != nil {
		return err
	}
	whole := bufio.NewReaderSize(replay, bundleSample)
	sample, err := whole.Peek(bundleSample)
	if err != nil && err != io.EOF {
		return err
	}
	f, err := createFile(z, bundleReplay, sample)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, whole); err != nil {
		return err
	}
	return z.Close()
}

// minDifference is the size of a state in bytes from which a bundle has its difference.
const minDifference = 64 << 10

const diffSuffix = ".diff"

// appendDifference appends the bytes of a state, each xor that at the same place of the state before. It is its own inverse.
func appendDifference(dst, before, b []byte) []byte {
	n := min(len(before), len(b))
	at := len(dst)
	dst = append(dst, b...)
	subtle.XORBytes(dst[at:at+n], before[:n], b[:n])
	return dst
}

// bundleDate is the date of every file in a bundle: equal evidence gives equal bundles, and some readers refuse a file without a date.
var bundleDate = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// bundleSample is how many bytes of a file decide whether to compress it.
const bundleSample = 1 << 20

// createFile begins a file that starts with sample. It stores the file uncompressed if it would compress so well that a
// reader takes the bundle for a bomb: see maxBundleRatio. The bytes after the sample may use half of the ratio.
func createFile(z *zip.Writer, name string, sample []byte) (io.Writer, error) {
	h := zip.FileHeader{Name: name, Method: zip.Deflate, Modified: bundleDate}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	w.Write(sample[:min(len(sample), bundleSample)]) // a Buffer takes everything
	w.Close()
	if packed.Len()*maxBundleRatio/2 < min(len(sample), bundleSample) {
		h.Method = zip.Store
	}
	return z.CreateHeader(&h)
}

// addState adds a state, always compressed: see maxStateRatio.
func addState(z *zip.Writer, name string, b []byte) error {
	f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: bundleDate})
	if err == nil {
		_, err = f.Write(b)
	}
	return err
}

func addFile(z *zip.Writer, name string, b []byte) error {
	f, err := createFile(z, name, b)
	if err == nil {
		_, err = f.Write(b)
	}
	return err
}

func manifest(h *lockstep.Header, e *host.Evidence) *Manifest {
	r := &e.Report
	m := &Manifest{
		Format: bundleFormat, Match: h.Match.String(), Game: h.Game, Build: h.Build,
		Tick: r.Tick, Agreed: r.Agreed, Began: e.Began, Player: r.Player, Tie: r.Tie, Section: r.Section,
		Participants: append([]BundleParticipant(nil), e.Participants...),
	}
	for _, g := range r.Groups {
		m.Groups = append(m.Groups, BundleGroup{checksum.FormatHash(g.Hash), g.Referee, g.Players})
	}
	for _, x := range e.Exhibits {
		m.Exhibits = append(m.Exhibits, BundleExhibit{Tick: x.Tick})
	}
	for _, f := range e.Flights[:min(len(e.Flights), MaxFlights)] {
		m.Flights = append(m.Flights, BundleFlight{Player: f.Player})
	}
	if p := e.Panic; p != nil {
		m.Panic = &BundlePanic{p.Where, p.Text, p.Stack}
	}
	if t := e.Twin; t != nil {
		m.Twin = &BundleTwin{t.Since, t.Path, t.Warm, t.Cold, t.Unfixed}
	}
	if a := e.Resimulation; a != nil {
		m.Resimulation = &BundleResimulation{
			From: a.From, To: a.To, Outcome: a.Outcome.String(), First: a.First, Section: a.Section, Right: hashTexts(a.Right),
		}
		m.Resimulation.RightPhases, m.Resimulation.Phases = bundlePhases(a.RightPhases), bundlePhases(a.Phases)
		for _, hashes := range a.Runs {
			m.Resimulation.Runs = append(m.Resimulation.Runs, hashTexts(hashes))
		}
	}
	return m
}

func bundlePhases(phases []host.PhaseSum) (all []BundlePhase) {
	for _, p := range phases {
		all = append(all, BundlePhase{p.Name, checksum.FormatHash(p.Hash)})
	}
	return all
}

func hashTexts(hashes []uint64) []string {
	texts := []string{}
	for _, h := range hashes {
		texts = append(texts, checksum.FormatHash(h))
	}
	return texts
}

// A Bundle is an opened bundle.
type Bundle struct {
	Manifest Manifest
	files    *zip.Reader
	size     int64 // of the archive

	mu     sync.Mutex // of left and states
	left   int64      // bytes that readers may still unpack
	states int64      // the same of states, which compress better

	last     []byte // the state that was read last
	lastName string
}

// OpenBundle opens the bundle in the first size bytes of r.
func OpenBundle(r io.ReaderAt, size int64) (*Bundle, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBundle, err)
	}
	b := &Bundle{files: z, size: size, left: bundleFree + maxBundleRatio*size, states: bundleFree + maxStateRatio*size}
	text, err := b.read(&b.left, manifestName, maxManifest)
	if err != nil {
		return nil, err
	}
	var version struct{ Format *int } // read first: another format may have other fields
	switch err := json.Unmarshal(text, &version); {
	case err == nil && version.Format == nil:
		return nil, fmt.Errorf("%w: %s has no format, want %d", ErrBundle, manifestName, bundleFormat)
	case err == nil && *version.Format != bundleFormat && *version.Format != bundleDiffs:
		return nil, fmt.Errorf("%w: a bundle of format %d, want %d or %d", ErrUnsupported, *version.Format, bundleFormat, bundleDiffs)
	}
	if err := json.Unmarshal(text, &b.Manifest); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrBundle, manifestName, err)
	}
	return b, nil
}

// State returns the state that an exhibit names. Those of a bundle of differences are best read in their order.
func (b *Bundle) State(name string) ([]byte, error) {
	if b.Manifest.Format != bundleDiffs {
		return b.read(&b.states, name, maxBundleState)
	}
	var names []string
	for _, x := range b.Manifest.Exhibits {
		names = append(names, x.Referee, x.Player)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	at := slices.Index(names, name)
	if at < 0 {
		return nil, fmt.Errorf("%w: no exhibit has the state %q", ErrBundle, name)
	}
	begin := slices.Index(names, b.lastName) + 1
	if begin > at+1 {
		begin = 0
	}
	for _, x := range names[begin : at+1] {
		file, err := b.read(&b.states, x, maxBundleState)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(x, diffSuffix) {
			file = appendDifference(nil, b.last, file)
		}
		b.last, b.lastName = file, x
	}
	return slices.Clone(b.last), nil
}

// Flight returns a record of last ticks that the manifest names.
func (b *Bundle) Flight(f BundleFlight) ([]byte, error) {
	return b.read(&b.left, f.File, maxFlightFile)
}

// Content returns an asset or a module of at most max bytes by its SHA-256, in hexadecimal digits. The error wraps [fs.ErrNotExist] if the
// bundle does not have it, and [ErrBundle] if that is another content. It is safe for concurrent use.
func (b *Bundle) Content(sum string, max int64) ([]byte, error) {
	content, err := b.read(&b.left, bundleContents+sum, max)
	if err == nil && SumRules(content).String() != sum {
		err = fmt.Errorf("%w: %s%s: got a content with SHA-256 %s", ErrBundle, bundleContents, sum, SumRules(content))
	}
	return content, err
}

// contents returns the names of the contents, at most as many as a match can have.
func (b *Bundle) contents() (sums []string) {
	for _, f := range b.files.File {
		if sum, ok := strings.CutPrefix(f.Name, bundleContents); ok && record.IsAssetSum(sum) && len(sums) <= record.MaxAssets {
			sums = append(sums, sum)
		}
	}
	return sums
}

// Replay returns the replay in the bundle. It returns [ErrLimit] for a larger one than maxBytes.
func (b *Bundle) Replay(maxBytes int64) ([]byte, error) {
	return b.read(&b.left, bundleReplay, maxBytes)
}

// read returns a file of at most max bytes. It reserves memory for the claimed size only if the limits allow it.
func (b *Bundle) read(budget *int64, name string, max int64) ([]byte, error) {
	var p bytes.Buffer
	b.mu.Lock()
	left := *budget
	b.mu.Unlock()
	if info, err := fs.Stat(b.files, name); err == nil && info.Size() < min(max, left) {
		p.Grow(int(info.Size()) + bytes.MinRead)
	}
	if err := b.unpack(&p, budget, name, max); err != nil {
		return nil, err
	}
	return p.Bytes(), nil
}

func (b *Bundle) unpack(w io.Writer, budget *int64, name string, max int64) error {
	f, err := b.files.Open(name)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBundle, err)
	}
	defer f.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := io.Copy(w, io.LimitReader(f, min(max, *budget)+1))
	switch left := *budget; {
	case err != nil:
		return fmt.Errorf("%w: %s: %w", ErrBundle, name, err)
	case n > max:
		return fmt.Errorf("%w: %s: %w: more than %d bytes", ErrBundle, name, ErrLimit, max)
	case n > left:
		return fmt.Errorf("%w: %s: %w: more than the %d bytes that are left in a bundle of %d", ErrBundle, name, ErrLimit, left, b.size)
	}
	*budget -= n
	return nil
}

// RedactBundle writes a bundle without the names of players, the sources of programs, and the texts of people in its replay: the reason
// of its end, what rules panicked with, lines of an imported match, notes, and events with such texts. The match, its checksums and its
// states stay, so it can be explained as before; [PlainTexts] names the texts that remain. Of a torn or damaged replay, only the
// readable part is copied. The error is [ErrLimit] for a replay of more than maxBytes.
func RedactBundle(w io.Writer, b *Bundle, maxBytes int64) error {
	m := b.Manifest
	m.Participants, m.Exhibits = slices.Clone(m.Participants), slices.Clone(m.Exhibits)
	for i := range m.Participants {
		m.Participants[i].Name, m.Participants[i].Sources = "", ""
	}
	if m.Panic != nil {
		m.Panic = &BundlePanic{Where: m.Panic.Where, Stack: withoutPlaces(m.Panic.Stack)}
	}
	if m.Twin != nil { // the states have the values
		t := *m.Twin
		t.Warm, t.Cold = "", ""
		m.Twin = &t
	}
	file, err := b.Replay(maxBytes)
	if err == nil {
		file, err = redacted(file)
	}
	if err != nil {
		return err
	}
	state := func(i int, side string) ([]byte, error) {
		name := b.Manifest.Exhibits[i].Player
		if side == sides[0] {
			name = b.Manifest.Exhibits[i].Referee
		}
		if name == "" {
			return nil, nil
		}
		return b.State(name)
	}
	m.Flights = slices.Clone(m.Flights[:min(len(m.Flights), MaxFlights)])
	flight := func(i int) ([]byte, error) { return b.Flight(b.Manifest.Flights[i]) }
	sums := b.contents()
	content := func(i int) ([]byte, error) { return b.Content(sums[i], record.MaxAssetBytes) }
	return writeBundle(w, &m, state, flight, len(sums), content, bytes.NewReader(file))
}

func redacted(file []byte) ([]byte, error) {
	r, err := NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	var e record.Encoder
	w := NewWriter(&out, WriterOptions{})
	err = Play(r, nil, func(rec *record.Record) error {
		clean := *rec
		switch {
		case rec.Kind == record.KindHeader:
			h := *rec.Header
			h.Sources = ""
			clean.Header = &h
		case rec.Kind == record.KindEnd:
			clean.Text = ""
		case rec.Kind == record.KindPanic:
			p := *rec.Panic
			p.Text, p.Stack = "", withoutPlaces(p.Stack)
			clean.Panic = &p
		case rec.RulesSum() != "": // without which nobody could choose the rules
		case rec.Kind >= record.FirstOptional && !rec.Plain():
			return nil
		}
		return w.Append(e.Record(&clean))
	})
	if err != nil && (!errors.As(err, new(*DamageError)) || !r.began) {
		return nil, err
	}
	err = w.Flush()
	return out.Bytes(), err
}

var placeLine = regexp.MustCompile(`(?m)^\t.*:\d+.*\n?`)

func withoutPlaces(stack string) string { return placeLine.ReplaceAllString(stack, "") }

// PlainTexts names what [RedactBundle] cannot remove: strings in states, configuration, commands and result, which are computed with.
func PlainTexts(h *lockstep.Header) ([]string, error) {
	all := []string{}
	add := func(what string, description []byte) error {
		if len(description) == 0 {
			return nil
		}
		s, err := state.ParseSchema(description)
		if err == nil {
			all = appendTexts(all, what, s.Root())
		}
		return err
	}
	err := errors.Join(add("state", h.StateSchema), add("configuration", h.ConfigSchema), add("result", h.ResultSchema))
	for _, c := range h.Commands {
		err = errors.Join(err, add("command "+c.Name, c.Schema))
	}
	return all, err
}

func appendTexts(all []string, what string, n state.Node) []string {
	switch n.Kind() {
	case state.String:
		return append(all, what+": "+n.Path())
	case state.Struct:
		for i := range n.NumFields() {
			all = appendTexts(all, what, n.Field(i))
		}
	case state.Array, state.Slice:
		return appendTexts(all, what, n.Elem())
	}
	return all
}

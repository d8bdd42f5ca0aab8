package replay

import (
	"cmp"
	"encoding/json"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Info is the content of a replay in numbers, without simulating anything.
type Info struct {
	Header     *lockstep.Header           `json:"-"`
	SizeBytes  int64                      `json:"size_bytes,string"` // of the file
	Ticks      lockstep.Tick              `json:"ticks"`
	Frames     int                        `json:"frames"`   // ticks with commands
	Commands   int                        `json:"commands"` // of players and of the system
	Checksums  int                        `json:"checksums"`
	Mismatches int                        `json:"mismatches"`
	Keyframes  []Keyframe                 `json:"keyframes"`
	Players    []PlayerInfo               `json:"players"` // who took a seat, by number, the system included
	Names      map[lockstep.Player]string `json:"names"`
	Ended      bool                       `json:"ended"`
	Reason     string                     `json:"reason"` // why the match ended
	ByRules    bool                       `json:"ended_by_rules,omitempty"`
	Result     json.RawMessage            `json:"result,omitempty"` // of the rules, by the header's schema

	// Lineage says in which state of which match this one began; nil if it began at its own beginning.
	Lineage *record.Lineage `json:"lineage,omitempty"`

	// Recording says what an imported recording has in addition; nil for other matches.
	Recording *RecordingInfo `json:"recording,omitempty"`

	// StateBytes is the size of all keyframes' states. The rest of SizeBytes is the cost of the ticks.
	StateBytes int64 `json:"state_bytes,string"`

	// RecordBytes is the size of all records, uncompressed.
	RecordBytes int64 `json:"record_bytes,string"`

	// Segments is how many segments there are; 0 if the file is not sealed.
	Segments int `json:"segments"`

	// ContentHash identifies the match's content.
	ContentHash ContentHash `json:"content_hash"`

	// Signer is the public key in the file's signature, in hexadecimal digits, or empty. The file does not say whose
	// key it is.
	Signer string `json:"signer,omitempty"`

	// Signed says that the Signer's signature is valid for this content.
	Signed bool `json:"signed"`

	// Signatures are all signatures of the file, in its order. The Signer is the first with a valid signature, or else
	// the first.
	Signatures []Signature `json:"signatures,omitempty"`

	// Rules say which module has the rules of the match, and whether it is in the file; nil if the file does not say.
	Rules *Rules `json:"rules,omitempty"`

	// Panic is the first panic of the rules in the file, or nil.
	Panic *Panic `json:"panic,omitempty"`

	// UpTo is the content hash up to a tick, if the caller has added it; see [HashContent].
	UpTo *PartHash `json:"upto,omitempty"`

	// Err is the error of ReadInfo, or nil.
	Err error `json:"-"`
}

// A Keyframe is the place of a keyframe.
type Keyframe struct {
	Tick      lockstep.Tick `json:"tick"`
	Offset    int64         `json:"offset,string"` // of its block in the file
	SizeBytes int           `json:"size_bytes"`    // of the state
}

// Player returns what a player did.
func (info *Info) Player(p lockstep.Player) PlayerInfo {
	for _, did := range info.Players {
		if did.Player == p {
			return did
		}
	}
	return PlayerInfo{Player: p}
}

// ReadInfo reads a replay to its end without a simulation, so it needs no game. With an error, the Info counts the
// records before it. A keyframe without the hash of its state is an error, but does not stop the reading.
func ReadInfo(r *Reader) (*Info, error) {
	info := &Info{SizeBytes: r.Size(), Names: make(map[lockstep.Player]string)}
	var players [256]PlayerInfo
	var absences absences
	content := newContent()
	segment := int64(0)
	var err, odd error // odd: of the first keyframe with another hash
	for rec, next := range r.All() {
		if err = next; err != nil {
			break
		}
		info.add(rec, r.Offset(), &players)
		info.RecordBytes += int64(len(r.Record()))
		if r.sealed && segment != r.Offset() {
			segment = r.Offset()
			info.Segments++
		}
		absences.add(rec, &players)
		content.add(rec)
		if rec.Kind == record.KindKeyframe && odd == nil && !r.holds(info.Header, &rec.Keyframe) {
			odd = r.odd(rec.Tick)
		}
	}
	info.ContentHash = content.sum()
	absences.end(info.Ticks, &players)
	for p := range players {
		if absences.took[p] || players[p] != (PlayerInfo{}) {
			players[p].Player = lockstep.Player(p)
			info.Players = append(info.Players, players[p])
		}
	}
	info.Rules = r.rules
	if err == nil {
		info.Signatures = r.signed(info.ContentHash)
		for _, s := range info.Signatures {
			if info.Signer == "" || !info.Signed && s.Signed {
				info.Signer, info.Signed = s.Signer, s.Signed
			}
		}
	}
	if odd != nil {
		err = odd // it comes before err
	}
	info.Err = err
	return info, err
}

func (info *Info) add(rec *record.Record, offset int64, players *[256]PlayerInfo) {
	if rec.Ticks() > 0 {
		info.Ticks = rec.Tick
	}
	if n := len(rec.Frame.Commands); n > 0 {
		info.Frames++
		info.Commands += n
	}
	for i := range rec.Frame.Commands {
		c := &rec.Frame.Commands[i]
		players[c.Player].Commands++
		players[c.Player].Bytes += len(c.Payload)
	}
	switch rec.Kind {
	case record.KindHeader:
		info.Header = rec.Header
	case record.KindKeyframe:
		size := len(rec.Keyframe.State)
		info.Keyframes = append(info.Keyframes, Keyframe{rec.Tick, offset, size})
		info.StateBytes += int64(size)
	case record.KindChecksum:
		info.Checksums++
	case record.KindMismatch:
		info.Mismatches++
	case record.KindNote:
		if rec.Topic == record.TopicName {
			info.Names[rec.Player] = rec.Text
		}
	case record.KindEvent:
		if l := lineageOf(rec); l != nil && info.Lineage == nil && info.Ticks == 0 {
			info.Lineage = l
		}
	case record.KindForeign:
		info.Recording = info.Recording.add(rec.Line)
	case record.KindPanic:
		info.Panic = cmp.Or(info.Panic, NewPanic(rec))
	case record.KindEnd:
		info.Ended, info.Reason, info.ByRules = true, rec.Text, rec.ByRules
		info.Result = json.RawMessage(info.Header.ResultJSON(rec.Result))
	}
}

// lineageOf returns the lineage in a record, or nil. An unreadable one says nothing.
func lineageOf(rec *record.Record) *record.Lineage {
	if rec.Event != record.EventLineage {
		return nil
	}
	l, err := record.ParseLineage(rec.Text)
	if err != nil {
		return nil
	}
	return &l
}

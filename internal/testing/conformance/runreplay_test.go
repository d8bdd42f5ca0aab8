package conformance

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

var (
	game     = sync.OnceValue(func() *lockstep.Game { return lockstep.MustGame(Rules()) })
	goalGame = sync.OnceValue(func() *lockstep.Game { return lockstep.MustGame(GoalRules()) })
)

// gameOf returns the game of a file: the one with a goal if the header has its build, else the other.
func gameOf(file []byte) *lockstep.Game {
	if r, err := openFile(file); err == nil {
		if rec, err := r.Next(); err == nil && rec.Kind == record.KindHeader && rec.Header.Build == goalGame().Build() {
			return goalGame()
		}
	}
	return game()
}

// runReplay verifies a replay file with one worker and with three, which must give the same
// verdict, and reads its content.
func runReplay(file []byte) Result {
	one, facts := verify(file, 1)
	if three, _ := verify(file, 3); three != one {
		return Result{one + " with 1 worker, " + three + " with 3", facts}
	}
	if one == string(replay.ClassOK) {
		facts = readReplay(file)
	}
	return Result{one, facts}
}

// verify returns the verdict on a file and the place of its first fault: the offset of the
// block and the last tick before it, or the differing checksums.
func verify(file []byte, workers int) (string, map[string]any) {
	r, err := openFile(file)
	if err == nil {
		_, err = replay.Verify(r, gameOf(file), replay.VerifyOptions{Workers: workers})
	}
	facts := map[string]any{}
	var (
		desync   *lockstep.DesyncError
		identity *lockstep.IdentityError
		damage   *replay.DamageError
	)
	switch {
	case errors.As(err, &desync) && desync.End != "":
		facts["tick"] = desync.Tick
	case errors.As(err, &desync):
		facts["tick"], facts["got"], facts["want"] = desync.Tick, checksum.FormatHash(desync.Got), checksum.FormatHash(desync.Want)
	case errors.As(err, &identity):
		facts["field"], _, _ = strings.Cut(identity.Field, ",")
	case errors.As(err, &damage):
		facts["byte"], facts["tick"] = damage.Offset, damage.Tick
	case err != nil && !errors.Is(err, replay.ErrLimit): // the limit of ticks is of the whole file
		facts["error"] = err.Error()
	}
	return string(replay.ClassOf(err)), facts
}

func openFile(file []byte) (*replay.Reader, error) {
	return replay.NewReader(bytes.NewReader(file), int64(len(file)))
}

// readReplay returns the content of a good file.
func readReplay(file []byte) map[string]any {
	r, err := openFile(file)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	info, err := replay.ReadInfo(r)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	facts := map[string]any{
		"ticks": info.Ticks, "frames": info.Frames, "commands": info.Commands,
		"checksums": info.Checksums, "mismatches": info.Mismatches, "end": info.Reason,
		"content": info.ContentHash.String(),
	}
	if info.ByRules {
		facts["result"] = nil
		if d := json.NewDecoder(bytes.NewReader(info.Result)); len(info.Result) > 0 {
			var result map[string]any
			d.UseNumber()
			if err := d.Decode(&result); err != nil {
				facts["error"] = err.Error()
			}
			facts["result"] = result
		}
	}
	keyframes := []lockstep.Tick{}
	for _, k := range info.Keyframes {
		keyframes = append(keyframes, k.Tick)
	}
	facts["keyframes"] = keyframes
	facts["seekable"] = r.Index()
	if info.Signer != "" {
		facts["signed_by"] = signers(file)
	}
	facts["state_hash"], facts["upto"] = lastHash(file), contentUpTo(file, lockstep.Tick((uint64(info.Keyframes[0].Tick)+uint64(info.Ticks))/2))
	return facts
}

// signers returns the suite's keys that have signed a file.
func signers(file []byte) []string {
	keys := []string{}
	for seed := range byte(16) {
		key := signer(seed).Public().(ed25519.PublicKey)
		if r, err := openFile(file); err == nil && replay.VerifySignature(r, key) == nil {
			keys = append(keys, hex.EncodeToString(key))
		}
	}
	slices.Sort(keys)
	return keys
}

// signer returns a key of the suite.
func signer(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

// lastHash returns the state hash of the last tick, computed by the simulation.
func lastHash(file []byte) string {
	r, err := openFile(file)
	f := gameOf(file).NewFollower(lockstep.FollowerOptions{})
	if err == nil {
		err = replay.Play(r, f, nil)
	}
	if err != nil {
		return err.Error()
	}
	return checksum.FormatHash(f.Simulation().Hash())
}

// contentUpTo returns the content hash up to a tick.
func contentUpTo(file []byte, tick lockstep.Tick) map[string]any {
	r, err := openFile(file)
	if err != nil {
		return nil
	}
	hash, reached, err := replay.HashContent(r, tick)
	if err != nil && err != io.EOF {
		return map[string]any{"error": err.Error()}
	}
	return map[string]any{"tick": reached, "content": hash.String()}
}

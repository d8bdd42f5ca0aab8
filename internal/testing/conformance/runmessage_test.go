package conformance

import (
	"encoding/hex"
	"strconv"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// The verdicts on messages and transcripts.
const (
	messageOK        = "ok"
	messageMalformed = "malformed"
)

// runMessage reads a file of hexadecimal lines. Each is one message that is not a record.
// The verdict is that of the last one.
func runMessage(text []byte) Result {
	lines, err := hexLines(text)
	if err != nil {
		return Result{Verdict: err.Error()}
	}
	var r protocol.Reader
	var w protocol.Writer
	result := Result{Verdict: "no messages"}
	for _, l := range lines {
		var m protocol.Message
		rest, err := r.Read(&m, l.bytes)
		switch {
		case err != nil:
			result = Result{Verdict: messageMalformed}
		case len(rest) > 0:
			result = Result{messageOK, map[string]any{"kind": int(m.Kind), "left": len(rest)}}
		case string(w.Append(nil, &m)) != string(l.bytes):
			result = Result{Verdict: "written back as other bytes"}
		default:
			result = Result{messageOK, messageFacts(&m)}
		}
	}
	return result
}

// messageFacts returns the values of a message. Numbers of 64 bits are text.
func messageFacts(m *protocol.Message) map[string]any {
	facts := map[string]any{"message": m.Kind.String()}
	switch m.Kind {
	case protocol.KindAuth:
		authFacts(facts, m.Auth)
	case protocol.KindCommand:
		facts["sequence"], facts["kind"], facts["payload"] = m.Sequence, m.Command, hex.EncodeToString(m.Bytes)
	case protocol.KindChecksum:
		facts["tick"], facts["state_hash"], facts["sections"] = m.Tick, checksum.FormatHash(m.Hash), sumTexts(m.Sections)
	case protocol.KindResimulated:
		facts["tick"], facts["first_hash"], facts["state_hash"], facts["sections"] = m.Tick, checksum.FormatHash(m.First), checksum.FormatHash(m.Hash), sumTexts(m.Sections)
	case protocol.KindPhases:
		names := []any{}
		for _, name := range m.Names {
			names = append(names, name)
		}
		facts["tick"], facts["names"], facts["state_hashes"] = m.Tick, names, sumTexts(m.Sections)
	case protocol.KindPanicked:
		facts["tick"], facts["where"], facts["text"], facts["stack"] = m.Tick, m.Field, m.Text, m.Stack
	case protocol.KindStateSync:
		facts["position"] = decimal(uint64(m.Position))
		fallthrough
	case protocol.KindState, protocol.KindFlight:
		facts["tick"], facts["offset"], facts["total"], facts["chunk"] = m.Tick, m.Offset, m.Total, hex.EncodeToString(m.Bytes)
	case protocol.KindPing:
		facts["nonce"] = decimal(m.Nonce)
	case protocol.KindPong:
		facts["nonce"], facts["tick"] = decimal(m.Nonce), m.Tick
	case protocol.KindChat:
		facts["text"] = m.Text
	case protocol.KindLeave:
		facts["reason"] = m.Text
	case protocol.KindAck:
		facts["position"], facts["tick"] = decimal(uint64(m.Position)), m.Tick
	default:
		serverFacts(facts, m)
	}
	return facts
}

func serverFacts(facts map[string]any, m *protocol.Message) {
	switch m.Kind {
	case protocol.KindWelcome:
		w := m.Welcome
		facts["seat"], facts["role"], facts["session"], facts["tick"] = w.Seat, int(w.Role), sessionText(w.Session), w.Tick
		facts["position"], facts["resumed"], facts["last_sequence"] = decimal(uint64(w.Position)), w.Resumed, w.LastSequence
		facts["ack_every"], facts["input_delay"], facts["speed"] = w.AckEvery, w.InputDelay, w.SpeedPercent
	case protocol.KindCommandAccepted:
		facts["sequence"], facts["tick"] = m.Sequence, m.Tick
	case protocol.KindCommandRejected:
		facts["sequence"], facts["reason"], facts["detail"] = m.Sequence, int(m.Reason), m.Text
	case protocol.KindStateRequest, protocol.KindFlightRequest:
		facts["tick"] = m.Tick
	case protocol.KindResimulate:
		facts["from"], facts["to"], facts["state"] = m.From, m.Tick, m.State
	case protocol.KindDesyncReport:
		facts["tick"], facts["player"], facts["last_agreed_tick"], facts["section"] = m.Tick, m.Player, m.Agreed, m.Field
	case protocol.KindError:
		facts["code"], facts["text"], facts["field"] = m.Code, m.Text, m.Field
	case protocol.KindReady:
		facts["ready"] = m.Ready
	case protocol.KindHeld:
		seats := []any{}
		for _, seat := range m.Seats {
			seats = append(seats, int(seat))
		}
		facts["reason"], facts["seats"], facts["since"], facts["until"] = m.Text, seats, m.SinceMS, m.UntilMS
	case protocol.KindClosing:
		facts["code"], facts["text"], facts["retry_after"] = m.Code, m.Text, m.RetryMS
	}
}

func authFacts(facts map[string]any, a *protocol.Auth) {
	facts["protocol"], facts["engine"], facts["game"], facts["build"] = a.Protocol, a.Engine, a.Game, a.Build
	facts["capabilities"] = a.Capabilities
	facts["state_schema"], facts["command_schema"] = checksum.FormatHash(a.StateSchema), checksum.FormatHash(a.CommandSchema)
	t := a.SelfTest
	facts["self_test"] = sumTexts([]uint64{t.Integers, t.Layout, t.Checksums, t.Records, t.Game})
	facts["platform"], facts["token"], facts["session"], facts["position"] = a.Platform, a.Token, sessionText(a.Session), decimal(uint64(a.Position))
}

func sumTexts(sums []uint64) []any {
	texts := []any{}
	for _, s := range sums {
		texts = append(texts, checksum.FormatHash(s))
	}
	return texts
}

// sessionText returns a session in hexadecimal digits; "" for none.
func sessionText(s protocol.SessionToken) string {
	if s == (protocol.SessionToken{}) {
		return ""
	}
	return hex.EncodeToString(s[:])
}

func decimal(v uint64) string { return strconv.FormatUint(v, 10) }

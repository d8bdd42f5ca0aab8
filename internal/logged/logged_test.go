package logged_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A seat is a number for programs. People read that nobody has it, and not a player that the match does not have.
func TestSeat(t *testing.T) {
	for seat, want := range map[logged.Seat][2]string{3: {"player=3", `"player":3`}, 255: {"player=nobody", `"player":255`}} {
		var text, json bytes.Buffer
		slog.New(slog.NewTextHandler(&text, nil)).Info("match", "player", seat)
		slog.New(slog.NewJSONHandler(&json, nil)).Info("match", "player", seat)
		if !strings.HasSuffix(text.String(), want[0]+"\n") || !strings.Contains(json.String(), want[1]) {
			t.Errorf("got %s%s, want %s and %s", &text, &json, want[0], want[1])
		}
	}
}

// The id is the client's if it has the form of one, wherever it stands among the subprotocols. Otherwise each connection gets another one.
func TestSessionOf(t *testing.T) {
	const id = "0123456789abcdef"
	for offered, want := range map[string]string{
		"samestep.v1, samestep.id." + id:                          id,
		"samestep.id." + id + ",samestep.v1":                      id,
		"samestep.id.no, samestep.id." + id:                       id,
		"samestep.v1":                                             "",
		"samestep.id.0123456789ABCDEF":                            "",
		"samestep.id." + id + "0":                                 "",
		"samestep.id.012345678\tabcdef":                           "",
		"samestep.session." + strings.Repeat("ab", 16):            "",
		"samestep.token." + id + ", samestep.id.samestep.token.x": "",
	} {
		r := &http.Request{Header: http.Header{"Sec-Websocket-Protocol": {offered}}}
		got := logged.SessionOf(r)
		if !protocol.IsSessionID(got) || want != "" && got != want || want == "" && (got == id || got == logged.SessionOf(r)) {
			t.Errorf("%q: got %q, want %q, or a random one for none", offered, got, want)
		}
	}
}

// A logger has what its caller knows, and nothing empty.
func TestLoggers(t *testing.T) {
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	logged.Session(logged.Match(log, "duel", "17f2"), "0123").Info("a")
	logged.Session(logged.Match(log, "duel", ""), "").Info("b")
	if got := text.String(); !strings.Contains(got, "msg=a match=duel id=17f2 session=0123\n") || !strings.Contains(got, "msg=b match=duel\n") {
		t.Errorf("got %s", got)
	}
}

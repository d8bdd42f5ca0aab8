package protocol

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// Subprotocols with which a client shows its session or its token already in the request for the WebSocket, so that a server which is
// flooded from the client's address can tell it from the flood.
const (
	ShownSession = "samestep.session." // and the session in hexadecimal digits
	ShownToken   = "samestep.token."   // and the same of the bytes of the token
)

// ShownID is the beginning of the subprotocol with which a client shows the id of its session, see [SessionID].
const ShownID = "samestep.id."

// SessionID returns a random number as the id of a session: of all the connections with which a client plays or watches a match. The
// client draws it and shows it to its user, and the logs of all servers name it. It is no secret, and gives no right.
func SessionID(random uint64) string { return fmt.Sprintf("%016x", random) }

// IsSessionID reports whether a text has the form of a session's id.
func IsSessionID(text string) bool {
	return len(text) == 16 && strings.Trim(text, "0123456789abcdef") == ""
}

// Shown returns the subprotocols that a client offers besides its own one. They do not replace the message auth.
func Shown(token string, session SessionToken) (all []string) {
	if session != (SessionToken{}) {
		all = append(all, ShownSession+hex.EncodeToString(session[:]))
	}
	if token != "" {
		all = append(all, ShownToken+hex.EncodeToString([]byte(token)))
	}
	return all
}

package protocol

import "encoding/hex"

// Subprotocols with which a client shows its session or its token already in the request for the WebSocket, so that a server which is
// flooded from the client's address can tell it from the flood.
const (
	ShownSession = "samestep.session." // and the session in hexadecimal digits
	ShownToken   = "samestep.token."   // and the same of the bytes of the token
)

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

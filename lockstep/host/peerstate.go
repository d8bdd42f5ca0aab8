package host

// A PeerState is the state of a connection.
//
//	              auth                  all chunks sent             acks near the present
//	Connecting ────────────► Syncing ────────────────► CatchingUp ────────────────► Live
//	    │  │                  ▲ │ ▲                       ▲ │ │                      │ │
//	    │  └ auth, resumed ───┼─┼─┼───────────────────────┘ │ │                      │ │
//	    │                     │ │ └── ring passed it by ────┘ │                      │ │
//	    │                     └─┼─── behind, desynced, or asked for a keyframe ──────┘ │
//	    ▼                       ▼                             ▼                        ▼
//	  Closed: refused, replaced, left, kicked, slow, silent, abusive, malformed, ended, or the socket is gone
type PeerState uint8

// The states of a connection.
const (
	Connecting PeerState = iota // auth has not arrived
	Syncing                     // receives a keyframe in chunks, or waits for one
	CatchingUp                  // receives records, but is still behind
	Live                        // keeps up with the match
	Closed                      // receives its last private messages, and is no longer read
	peerStates
)

func (s PeerState) String() string {
	return [...]string{"connecting", "syncing", "catching up", "live", "closed"}[s]
}

package host

// A PeerState is where a connection stands in its course.
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
	Connecting PeerState = iota // there is a socket; auth has not come
	Syncing                     // is sent a keyframe, in chunks, or waits for one
	CatchingUp                  // is sent records, and has not reached the present
	Live                        // keeps up with the match
	Closed                      // is sent the rest of its private messages, and is read no more
	peerStates
)

func (s PeerState) String() string {
	return [...]string{"connecting", "syncing", "catching up", "live", "closed"}[s]
}

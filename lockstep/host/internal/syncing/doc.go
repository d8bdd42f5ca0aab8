// Package syncing decides how connections come to know a match: which records and states a reader may have, with which state somebody
// joins, and how far each connection is. It is one of the machines of lockstep/host: it holds positions and states, and writes no message.
//
// # The barrier
//
// A [Barrier] hides records that are not durable in the log from all readers, and recent ticks from late ones (spectators of a match with a delay).
// The host says where the records of each tick end ([Barrier.Seal]) and what is durable ([Barrier.Durable], [Barrier.Reveal]), and asks what a
// reader may have: [Barrier.Shown] even if it is not durable yet, [Barrier.Visible] now.
//
// # Keyframes
//
// Who joins, or is too far behind, is sent a [Keyframe] and then the records after it. [Keyframes] holds them: the latest, which all
// joiners share while it is young and the ring has the records after it, and with a delay the earlier ones that late readers may see. For each
// joiner the host asks [Keyframes.Latest], which may say that a state is to be made ([Keyframes.Make]), and then [Keyframes.For] what this reader may
// have. A reader whose keyframe is not durable yet waits: [Keyframes.Awaited].
//
//	made ──► latest ──► (with a delay) kept while late readers may see no later one ──► gone, when the last transfer of it ends
//
// If the referee was wrong, [Keyframes.Distrust] drops what it has made since, and another one is due at once.
//
// # Donors
//
// A match without a referee has no state of its own. [Donors] finds one among the players: it remembers where the records of each checked tick end
// ([Donors.Remember]). When a joiner needs a state, [Donors.Wants] says how many players may be asked now: one, and with each second without an
// answer one more than have not answered. The host finds the players who have reported the agreed checksum of a tick ([Donors.Moments], latest
// first), and [Donors.Ask] chooses the one that was asked least recently. An answer becomes a keyframe if it has that
// checksum and is later than the latest one ([Donors.Take]). A liar cannot give a false state as long as most reports are right.
//
// # Streams
//
// A [Stream] is what one connection was sent, and how far it is. The host's PeerState has the states as others see them; the stream has what makes
// them change:
//
//	NewStream          Begin           Give                     Finish                   Near
//	   auth  ───────► waiting ───────► being sent a keyframe ───────► catching up ───────► live
//	     │               ▲ ▲                                            ▲  │                │
//	     └─── Resume ────┼─┼────────────────────────────────────────────┘  │                │
//	                     │ └──────────── the ring has passed it by ────────┘                │
//	                     └────────── too far behind (Behind), desynced, or asked ───────────┘
//
// The host sends chunks of the keyframe ([Stream.Next], [Stream.Take]), as many as the account of the connection and the time of a tick allow
// ([Stream.More]), and then records: from [Stream.Cursor] to [Stream.Window], which an ack moves on. What datagrams carried is [Stream.Carried].
// Until it is live, a connection has a [Stream.Deadline]: to authenticate, to acknowledge the keyframe, and from then on to reach the present. One that
// has the keyframe and is too slow ([Stream.Confirmed]), or that is live and too far behind, is struck: it begins again with another
// keyframe in less time ([Stream.Hurry]), and is closed when [Stream.Strike] says no.
//
// A viewer gets no keyframe and acknowledges no record: its stream only passes over the records ([Stream.Pass]).
//
//samestep:deterministic
package syncing

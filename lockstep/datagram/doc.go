// Package datagram has both ends of the datagrams that a host and a player of a live match exchange beside their stream of
// messages: a [HostEnd] for each player that has sent one, and a [PlayerEnd] for each connection of a player that has a path for
// them. A datagram may be lost, repeated, or late to any depth: it changes nothing that has a number twice. What it carries, the
// stream carries too, so the stream alone is enough.
//
// An end owns no socket and no clock. Time is an argument, and datagrams are bytes that its owner sends and receives, with what it
// gives each time: a host the records that the player lacks ([Supply]), a player its commands without an answer ([Demand]).
//
// A host gives a [HostEnd] what arrives, and sends what it returns, before it sends over the stream:
//
//	var end datagram.HostEnd
//	newest, err := end.Receive(now, &in, high) // an error closes the connection
//	if err == nil && newest {
//		end.Acknowledge(&in)
//	}
//	for {
//		out, sent := end.Send(&writer, nil, now, &datagram.Supply{Records: records, Period: period, Redundancy: 200})
//		if len(out) == 0 {
//			break
//		}
//		// send out; the stream need not carry the records before sent.High at once
//	}
//	due, next := end.Due(now) // when to do so again
//
// A player does the same with a [PlayerEnd], whose Receive returns receipts and records.
//
// # From the host to the player
//
// A record at position p is in one of these states for a [HostEnd]:
//
//	p < have                the player has said that it has it
//	have <= p < next        it waits for an acknowledgement; copies[p] datagrams have carried it
//	next <= p               no datagram was made for it
//
// have is 0 from the moment at which the player is sent a keyframe ([HostEnd.Restart]) to its first acknowledgement after it; then no
// record goes into datagrams. Otherwise those up to have + [Window] do.
//
// [HostEnd.Send] fills one datagram: the newest record, then the oldest that the player lacks. A record goes into [Path.Copies]
// datagrams without waiting for anything, one in each frame's, and into another one whenever it is overdue. Where datagrams
// are lost, the newest is sent again after [ResendAfter]. Repetitions are paid from a credit, so that a bad path costs at most
// [Supply].Redundancy percent of the stream. A record that fits into no datagram goes over the stream at once ([Sent].Urgent), and
// so do those behind it.
//
// The stream of a player whose path [Path.Flows] waits: its host calls [HostEnd.Hold] in place of sending records that [HostEnd.Holds]
// names, and sends them together after a second, or when the path flows no longer. Receipts wait 50 ms for a frame to travel with, and
// are in each datagram until one is acknowledged ([HostEnd.Receipt]).
//
//	a datagram arrives      Receive, then if it is the newest Acknowledge, then the owner takes its commands
//	a command is accepted   Receipt
//	there are records       Send, until it returns nothing; then the stream, unless Holds
//	a keyframe is sent      Restart
//	time passes             Due says whether to do so again, and when
//
// # From the player to the host
//
// A [Pending] command is in each datagram with room for it, by rising sequence, until it is answered: at once when it is new, after
// [ResendAfter] where datagrams are lost, and when it is overdue. It waits half a second for the stream while the path flows
// ([PlayerEnd.Unheld]).
//
// A record that arrives is the next one, waits for the ones before, or is here already; then its bytes must be the same.
// The stream brings each of them again. The player then skips it by [PlayerEnd.Repeated], which compares a hash of it.
//
//	a datagram arrives      Receive; each of its records goes to Offer. If that is the next one the player takes it,
//	                        and then what Waiting returns, until that is nil
//	the stream's record     Early: Repeated. Otherwise the player takes it, and then what Waiting returns
//	a record was taken      Took, wherever it came from
//	a state was taken       Begin
//	something may be sent   Send, until it returns nothing; then the stream, but for commands beyond Unheld
//	time passes             Wake says when to do so again
//
// # The path
//
// Each end is a [Path]: it numbers what it sends and measures round trip and losses by what the other end acknowledges. Acknowledgements
// are in the [Head] of each datagram. A player without news acknowledges one, two or four datagrams at once, the more the
// longer nothing was lost.
//
//	unknown ──(first acknowledgement)──> flows ──(none for its patience)──> alive ──(none for 2 s)──> dead
//	                                       ^                                  |                         |
//	                                       └──────────────(any)───────────────┴─────────────────────────┘
//
// On an unknown or dead path a host sends four datagrams a second, and a player two, which find it when it is there again.
//
// A path flows while the other end acknowledges in time; on one that does, the stream waits. A path that is alive may only be bad: both
// ends go on, and the stream carries everything at once. Repetitions at once and [Path.Copies] in all follow the loss:
//
//	lost        sent again after ResendAfter    copies without an acknowledgement
//	below 0.2 % no                              2
//	to 5 %      once                            2, or as many as lose one record of 10,000
//	above       twice, and with each frame      the same, at most 8
//
// # Trust
//
// Datagrams are as untrusted as messages. An end takes a datagram once, in any order; one that says what cannot be, such as
// an acknowledgement of what was not sent or less than before, is an error, and the connection is closed. Bytes of a record that differ
// from those of the stream are one, too. Both ends keep a bounded memory: [HostMemory] and [PlayerMemory].
//
// # Bytes
//
// A datagram is a sequence of MessagePack values in their smallest form, in at most [MaxSize] bytes. A [Writer] and a [Reader] are the
// only ones to know them. docs/spec/datagrams.md shows both forms, and a test compares its examples.
//
//samestep:deterministic
package datagram

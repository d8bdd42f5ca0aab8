// Package budget enforces the rate limits of one match. It counts messages, bytes, commands, keyframes, re-simulated ticks and
// match time per person, and decides whether the next one is allowed. It is one of the machines that lockstep/host composes.
//
// # Accounts
//
// A [Ledger] holds the accounts of a match. An account belongs to a person, not to a connection, so reconnecting does not refill it.
// Its key depends on how much the server knows about the person:
//
//	p + subject   a player with a verified token
//	s + subject   all spectators that use the same token
//	a + address   all guests of the same address, because a guest can make up any subject
//
// The last two are shared accounts. Their limits are eight times those of one person, except for kinds that cost the referee's
// time, the match's time or the lobby's time.
//
// A [Tab] says which accounts a connection is charged to. Before the welcome it has an account of its own, which is
// discarded with the connection. [Ledger.Welcome] attaches the accounts of the person, and [Ledger.Leave] detaches them:
//
//	              messages, bytes, commands, chat, offences   all other kinds
//	connecting    its own account                             its own account
//	player        p + subject                                 p + subject
//	guest         p + subject                                 a + address
//	spectator     its own account                             s + subject, or a + address for a guest
//	closed        its own account                             its own account
//
// A seat costs match time even while its player is away, so the seat refers to the account by [ID] and keeps it in use with
// [Ledger.Bill]. The zero ID stands for players who are unknown because the match was recovered.
//
// # Kinds
//
// Each [Kind] of use has a [Rate] and is counted by a [Bucket]. Some kinds also have a limit for the whole match:
//
//	Notes          a rate of its own; shared accounts may use only half of its burst
//	Keyframes      bytes to shared accounts: 32 times the rate of one person, which grows with the size of the state
//	Resimulations  ticks: twice the rate of one person
//	Comparisons    the same again
//	Pace           match time in microseconds: twice the rate of one person
//
// [Ledger.Take] charges the account and the match, or neither if either would exceed its limit. The exception is Notes: the account is
// charged even if the match is at its limit. Pace is charged with [Ledger.Grant] per account and [Ledger.GrantAll] for the match.
//
// When an account asks for more match time than it has left, its share is spent. Until half of the burst has refilled, it is granted
// only what refills in the meantime. This prevents one short slowdown after another.
//
// # Memory
//
// The table has room for two accounts per welcomed connection and 256 more. An unused account is removed once all of its buckets are
// full and the times counted by [Ledger.Wait] and [Ledger.Await] have expired. If the table is full, the unused account that would
// be removed first makes room.
//
// Every method takes the current time as an argument. A Ledger belongs to one goroutine.
//
//samestep:deterministic
package budget

// Package budget decides what the people of one match may still use: it counts messages, bytes, commands, keyframes, re-simulated
// ticks and match time, and says whether one more is allowed. It is one of the machines of lockstep/host.
//
// # Accounts
//
// A [Ledger] has accounts. An account belongs to a person, not to a connection, so that reconnecting does not refill it. Its key is
//
//	p + subject   a player with a verified token
//	s + subject   the spectators of one token together
//	a + address   all guests of one address together: each of them could make up any subject
//
// The last two are shared: their rates are those of a crowd, eight times one person's, but for what costs the referee or the
// other players time. A [Tab] is what one connection is charged for. It begins with an account of its own, which nobody else has, and
// which is forgotten with the connection. [Ledger.Welcome] opens the accounts of a person on it, and [Ledger.Leave] releases them:
//
//	             its own messages (messages, bytes, commands, chat, offences)   its cost to others (all other kinds)
//	connecting   the connection                                                 the connection
//	player       p + subject                                                    p + subject
//	guest        p + subject                                                    a + address
//	spectator    the connection                                                 s + subject, or a + address of a guest
//	left         the connection                                                 the connection
//
// The match time that a seat costs is charged to the account of its player, also while the player is away. Its seat therefore
// holds the account by its [ID], with [Ledger.Bill]. The zero ID is the account of players who are not known since a recovery.
//
// # Kinds
//
// A [Kind] of use has a [Rate], counted by a [Bucket]. Some kinds are also bounded for all people of the match together:
//
//	Notes          by a rate of its own, of whose burst shared accounts leave half to the others
//	Keyframes      bytes, for shared accounts together: 32 times one person's rate, which grows with the size of the state
//	Resimulations  ticks: twice one person's rate; Comparisons is the same again
//	Pace           match time in microseconds: twice one person's rate
//
// [Ledger.Take] takes from both or, if one of them has too little left, from neither. (An account pays for a note also if the match
// has no room for it.) Pace is taken by [Ledger.Grant] and then, for the longest of the grants, [Ledger.GrantAll].
//
// An account's share of the pace is spent once it asks for more than it has. Until half of its burst is back it is then granted no
// more than what an interval refills, so that one short slowdown does not follow another.
//
// # Memory
//
// The table has two accounts for each connection that may be welcomed, and 256 more. It forgets an account that nobody uses once all
// of its buckets are full and what [Ledger.Wait] and [Ledger.Await] have counted no longer matters; earlier only if the table is
// full, and then the one that will be full first.
//
// All methods take the time as an argument. A Ledger belongs to one goroutine.
//
//samestep:deterministic
package budget

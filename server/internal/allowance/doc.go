// Package allowance limits what each address may spend on a server: connections, requests, bytes, handshakes, wrong tokens. It is one of
// the machines that server composes.
//
// A [Table] has one budget for each key, usually an address: a burst, refilled evenly over a period. Callers pass the time.
//
//	Spend   takes n, or nothing and reports false       a request that is refused
//	UpTo    takes what is left, at most n               the burst of extra frames of a new connection
//	Wait    takes n in any case, and says how long      bytes, which are sent later rather than refused
//	        the caller must wait before it spends them
//	Spent   says how much is spent, in percent          the list of connections for an admin
//
// A budget never begins empty: a key that is unknown has a full one. The table is bounded to [MaxKeys] keys in two generations, and drops
// the older one after a period, or earlier when the younger one is full. A flood from many addresses therefore costs bounded memory, and
// a key that is in use is never forgotten.
//
// The budgets of one match are in lockstep/host/internal/budget: they belong to people, not to addresses.
package allowance

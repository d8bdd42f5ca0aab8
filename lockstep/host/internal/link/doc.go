// Package link measures one connection: whether it is silent, and how long a round trip takes. It is one of the machines of
// lockstep/host, which has a [Link] for each connection.
//
// # States
//
//	             Begin                Ping, at Next            Pong
//	connecting ────────► idle ─────────────────────► pinged ────────► idle
//
// From [Link.Begin] on the host asks [Link.Due] at the time of [Link.Next], and sends a ping with the nonce of [Link.Ping]. The
// connections of a match ping at slightly different intervals, so that not all do at once. Every message that arrives is
// [Link.Heard]. A connection is [Link.Silent] when nothing was heard for the timeout, whatever it was sent.
//
// # Measurements
//
// The answer to the latest ping is a measurement, once ([Link.Pong]). It updates the round trip and its mean deviation as TCP does
// (RFC 6298). There are three exceptions, because they measure something else:
//
//   - a client that is not live yet is busy with a state, so its answers do not count; of the ping on its way when it comes to
//     the present, the answer counts only if there was a measurement before ([Link.Live]);
//   - of the first two measurements of a connection the smaller one is taken: a page may draw for the first time;
//   - after a stall of the host itself the answer on its way does not count ([Link.Forgive]).
//
// RTT is 0 until something was measured.
//
//samestep:deterministic
package link

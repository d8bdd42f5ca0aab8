// Package ending says when a match is over, why, and how long its connections stay open then. It is one of the machines of
// lockstep/host.
//
// # States
//
//	             Finish                      ClosesAt
//	goes on ───────────► over, connections open ─────► over, connections closed
//
// The host calls [Ending.Finish] as soon as no tick can follow. There are four ways to that:
//
//   - the rules have ended the match. Its result is in the log. Players may connect until the connections close, to see it
//     ([Ending.Lingers]), and have Policy.EndLinger for that, or Policy.Linger if all have seen the end;
//   - an admin ends it ([Ending.End]), or the host itself because all its players have left for good for Policy.Abandoned
//     ([Ending.Abandoned], which counts from the first player on). The connections close after Policy.Linger;
//   - its log has failed. The error is the reason;
//   - it is suspended ([Ending.Suspend]). Its log has no end, because another host continues it. The host closes the connections at
//     once, and tells the clients when to come back.
//
// # Reasons
//
// [Ending.Reason] is why no tick follows, for the event of the end: the rules come before an admin's reason, and that before the
// error of the log. [Ending.Closing] is what a connection that is closed is told: the error, that the match is suspended, or
// no more than that it has ended, because the log's last record says more.
//
//samestep:deterministic
package ending

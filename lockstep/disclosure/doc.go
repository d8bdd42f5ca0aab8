// Package disclosure says who may see what of a match, and when.
//
// The server that begins a match decides it once, and writes it into the log as an event [record.EventDisclosure],
// after the first state. It holds for the whole match, also when another server resumes it. Everything that passes a log, or
// something made of one, to somebody else asks the [Policy]:
//
//	question                                     method
//	may this reader have records and states?     Policy.Records
//	up to which tick?                            Policy.Shown, Policy.Late
//	which settings of the match?                 Policy.Settings
//	counters and sizes, which tell of commands?  Policy.Figures
//	files: replays, saves, bundles?              Policy.Files
//
// A program that reads a log finds the Policy with a [Log], and passes nothing on before that. A program that cannot do as the
// Policy says refuses. For example, a mirror has no rules, so it cannot make views, and refuses a match that is sent as views.
//
// The text of the event is "players=all delay=0": players are sent all or views, and spectators see the match so many ticks
// later.
//
//samestep:deterministic
package disclosure

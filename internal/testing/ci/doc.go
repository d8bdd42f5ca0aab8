// Ci runs the steps of the table in .ci/run. A step is a shell command, often a short script of .ci/steps, or a command of
// this program:
//
//	ci run [PATTERN] <TABLE      the steps by day, or those whose titles match the regular expression
//	ci test [FLAGS] -- ARGS      go test ARGS: counts, skips with their reasons, a second try where clocks matter
//	ci long [FLAGS] EVENTS       the long forms of the tests whose events "ci test -events" has kept
//	ci fuzz [-all] -seconds N    fuzz targets, each with a floor of executions
//
// A line of the table has five columns:
//
//	when    day, or night: only with SAMESTEP_CI_NIGHT=1, or if the pattern names it
//	mode    how the step shares the processors, see below
//	floor   the least work, such as "200 matches"
//	title   what people read, and patterns match
//	command what bash runs, in the root of the repository
//
// A step prints how much it did, in a line that begins with a number and the unit of its floor. The step fails if no such line
// comes, or if the last one has a smaller number: a step that did nothing is no success.
//
// The modes are: "alone" runs while nothing else does. "clocks" is for steps with sockets and clocks, which a busy machine
// can fail: they run one after another. "work" is for steps that only compute: they run one after another at the lowest
// priority, concurrently with those, and share all processors when no step with clocks is left.
//
// The last line that "ci run" prints counts tests: each test of the kept events once, and each other step that failed as one
// failure.
package main

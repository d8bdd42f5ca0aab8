// Package tooltest runs command lines of samestep in tests. What ships does not import it, and it does not import the command
// line: a package gives it the programs.
//
// A test of one package of verbs stands in that package. If it calls functions, it is an ordinary test. If it types command
// lines, it is in the external package (package replays_test), which may import cmd/samestep/tool, and needs a TestMain:
//
//	func TestMain(m *testing.M) {
//		samestep := func() []tool.Game { return games.All() } // or those of the test
//		tooltest.Main(m, tooltest.Programs{"samestep": {
//			Main: func() { tool.Main(samestep()...) },
//			Run: func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
//				return tool.Run(ctx, args, stdout, stderr, samestep()...)
//			},
//		}})
//	}
//
// It sees unexported names of its package by an export_test.go. Tests about several groups of verbs, and whole scripts, stay in
// cmd/samestep/tool.
//
// [Output] runs a command line in the test's process, [Run] likewise with more control, [Execute] in a worker: a process that
// runs one command line after another, each with its own folder and environment. [Serve] starts a server, and [Join] a player.
package tooltest

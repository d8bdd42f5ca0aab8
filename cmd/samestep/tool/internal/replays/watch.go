//go:build !js

package replays

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/words"
)

func replayWatchCommand() *cli.Command {
	return &cli.Command{
		Name:      "watch",
		Usage:     "show the progress of a live match, from its file or its server",
		ArgsUsage: "FILE|ADDRESS",
		Description: `Watches the file of a match, the matches of a server (http://127.0.0.1:8766), or one
of them (http://127.0.0.1:8766/matches/match-1). On a terminal it shows a table with
sparklines until you press q; elsewhere it prints a line at each interval until the
match is over, or suspended at the end of its file. It simulates nothing. A server tells
commands, reports and what it rejects of a running match only to an admin (--token, or
` + console.TokenEnv + `).`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print a line of JSON at each interval, for programs"},
			&cli.BoolFlag{Name: "plain", Usage: "print lines even on a terminal"},
			&cli.BoolFlag{Name: "once", Usage: "print one line and exit"},
			&cli.DurationFlag{Name: "interval", Value: time.Second, Usage: "update every `TIME`, at least 100ms"},
			console.TokenFlag(),
			delayFlag,
		},
		Action: func(c *cli.Context) error {
			if err := console.Between(c, "interval", 100*time.Millisecond, 0); err != nil {
				return err
			}
			ctx, stop := console.Interruptible(c)
			defer stop()
			s, err := openSource(ctx, c, c.Args().First())
			if err != nil {
				return err
			}
			defer s.Close()
			if console.IsTerminal(c.App.Writer) && !c.Bool("plain") && !c.Bool("json") && !c.Bool("once") {
				return watchScreen(ctx, c, s)
			}
			return watchLines(ctx, c, s)
		},
	}
}

func openSource(ctx context.Context, c *cli.Context, name string) (source, error) {
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		token, err := console.ClientToken(c)
		if err != nil {
			return nil, err
		}
		return newServerSource(name, token)
	}
	o, err := liveOptions(c)
	if err != nil {
		return nil, err
	}
	return newFileSource(ctx, name, o)
}

func watchLines(ctx context.Context, c *cli.Context, s source) error {
	every := time.NewTicker(c.Duration("interval"))
	defer every.Stop()
	for seen := false; ; seen = true {
		r, err := s.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil // an interrupt is the usual way to stop
		case err != nil && (!seen || c.Bool("once") || !errors.Is(err, errUnseen)):
			return err
		case err != nil:
			fmt.Fprintf(c.App.ErrWriter, "%s: %v\n", c.App.Name, err)
		case c.Bool("json"):
			if err := console.WriteLine(c.App.Writer, r.values); err != nil {
				return err
			}
		default:
			if _, err := fmt.Fprintln(c.App.Writer, r.line); err != nil {
				return err
			}
		}
		if c.Bool("once") || err == nil && (r.over || r.rests) {
			return nil
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// watchScreen shows a source on the whole terminal until q is pressed, and then prints the last line.
func watchScreen(ctx context.Context, c *cli.Context, s source) error {
	m := &screen{ctx: ctx, program: c.App.Name, source: s, every: c.Duration("interval"), width: 80, height: 24}
	out := c.App.Writer.(*words.Cleaner).Unwrap() // the program moves the cursor; the texts are clean already
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithOutput(out)).Run()
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		err = nil // the usual way to stop
	}
	if m.report != nil {
		fmt.Fprintln(c.App.Writer, m.report.line)
	}
	return errors.Join(err, m.fatal)
}

// A screen is the state of the terminal program.
type screen struct {
	ctx     context.Context
	source  source
	every   time.Duration
	report  *watchReport
	unseen  error  // of the latest look
	fatal   error  // ends the program
	program string // the name of this one
	paused  bool   // by p: the screen does not change
	from    int    // first visible row
	width   int
	height  int
}

type (
	lookMsg struct{} // the next look is due
	sawMsg  struct {
		report *watchReport
		err    error
	}
)

// Init implements [tea.Model].
func (m *screen) Init() tea.Cmd { return m.look }

func (m *screen) look() tea.Msg {
	r, err := m.source.look(m.ctx)
	return sawMsg{r, err}
}

// Update implements [tea.Model].
func (m *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m, m.key(msg.String())
	case lookMsg:
		return m, m.look
	case sawMsg:
		return m, m.saw(msg)
	}
	return m, nil
}

func (m *screen) key(name string) tea.Cmd {
	switch name {
	case "q", "esc", "ctrl+c":
		return tea.Quit
	case "p", "space":
		m.paused = !m.paused
	case "down", "j":
		m.from++
	case "up", "k":
		m.from = max(m.from-1, 0)
	}
	return nil
}

func (m *screen) saw(msg sawMsg) tea.Cmd {
	m.unseen = msg.err
	switch {
	case msg.err == nil && !m.paused:
		m.report = msg.report
	case msg.err != nil && !errors.Is(msg.err, errUnseen):
		m.fatal = msg.err
		return tea.Quit
	}
	if msg.err == nil && msg.report.over {
		m.report = msg.report
		return nil // the screen stays
	}
	return tea.Tick(m.every, func(time.Time) tea.Msg { return lookMsg{} })
}

var (
	titleStyle = lipgloss.NewStyle().Bold(true)
	dimStyle   = lipgloss.NewStyle().Faint(true)
	wrongStyle = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red)
	sparkStyle = lipgloss.NewStyle().Foreground(lipgloss.Green)
)

// View implements [tea.Model].
func (m *screen) View() tea.View {
	v := tea.NewView(m.draw())
	v.AltScreen = true
	v.WindowTitle = m.program + " watch"
	return v
}

func (m *screen) draw() string {
	if m.report == nil {
		return m.footer()
	}
	lines := []string{titleStyle.Render(m.report.title), ""}
	for _, f := range m.report.facts {
		value := f.value
		if f.wrong {
			value = wrongStyle.Render(value)
		}
		lines = append(lines, fmt.Sprintf("%s %s", dimStyle.Render(fmt.Sprintf("%-10s", f.name)), value))
	}
	lines = append(lines, "")
	lines = strings.Split(strings.Join(append(lines, m.rows(len(lines)), "", m.footer()), "\n"), "\n")
	lines = lines[:min(len(lines), m.height)]
	for i := range lines {
		lines[i] = lipgloss.NewStyle().MaxWidth(m.width).Render(lines[i])
	}
	return strings.Join(lines, "\n")
}

// rows draws the rows of the table that fit on the screen below the lines above.
func (m *screen) rows(above int) string {
	all, columns := m.report.rows, m.report.columns
	room := max(m.height-above-4, 1) // the head of the table, the number of hidden rows, and the footer
	m.from = min(m.from, max(len(all)-room, 0))
	last := min(m.from+room, len(all))
	text := table.New().Border(lipgloss.HiddenBorder()).BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderHeader(false).
		Headers(columns...).Rows(all[m.from:last]...).Wrap(false).
		StyleFunc(func(row, col int) lipgloss.Style {
			switch {
			case row == table.HeaderRow:
				return dimStyle
			case col == len(columns)-1:
				return sparkStyle
			}
			return lipgloss.NewStyle()
		}).Render()
	if left := len(all) - (last - m.from); left > 0 {
		text += "\n" + dimStyle.Render(fmt.Sprintf("and %d more", left))
	}
	return text
}

func (m *screen) footer() string {
	switch {
	case m.unseen != nil:
		return wrongStyle.Render(console.Shown(m.unseen.Error()))
	case m.report == nil:
		return dimStyle.Render("looking …")
	case m.report.over:
		return dimStyle.Render("the match is over · q quit")
	case m.report.rests:
		return dimStyle.Render("the match is suspended · q quit")
	case m.paused:
		return dimStyle.Render("paused · p continue · q quit")
	}
	return dimStyle.Render("q quit · p pause · ↑↓ scroll")
}

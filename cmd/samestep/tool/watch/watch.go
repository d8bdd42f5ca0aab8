//go:build !js

package watch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/parts"
)

func init() { parts.Screen = show }

func show(ctx context.Context, w parts.Watching) (*parts.Report, error) {
	m := &screen{ctx: ctx, Watching: w, width: 80, height: 24}
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithOutput(w.Out)).Run()
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		err = nil // the usual way to stop
	}
	return m.report, errors.Join(err, m.fatal)
}

// A screen is the state of the terminal program.
type screen struct {
	parts.Watching
	ctx    context.Context
	report *parts.Report
	unseen error // of the latest look
	fatal  error // ends the program
	paused bool  // by p: the screen does not change
	from   int   // first visible row
	width  int
	height int
}

type (
	lookMsg struct{} // the next look is due
	sawMsg  struct {
		report *parts.Report
		err    error
	}
)

// Init implements [tea.Model].
func (m *screen) Init() tea.Cmd { return m.look }

func (m *screen) look() tea.Msg {
	r, err := m.Look(m.ctx)
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
	case msg.err != nil && !errors.Is(msg.err, parts.ErrUnseen):
		m.fatal = msg.err
		return tea.Quit
	}
	if msg.err == nil && msg.report.Over {
		m.report = msg.report
		return nil // the screen stays
	}
	return tea.Tick(m.Every, func(time.Time) tea.Msg { return lookMsg{} })
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
	v.WindowTitle = m.Program + " watch"
	return v
}

func (m *screen) draw() string {
	if m.report == nil {
		return m.footer()
	}
	lines := []string{titleStyle.Render(m.report.Title), ""}
	for _, f := range m.report.Facts {
		value := f.Value
		if f.Wrong {
			value = wrongStyle.Render(value)
		}
		lines = append(lines, fmt.Sprintf("%s %s", dimStyle.Render(fmt.Sprintf("%-10s", f.Name)), value))
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
	all, columns := m.report.Rows, m.report.Columns
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
	case m.report.Over:
		return dimStyle.Render("the match is over · q quit")
	case m.report.Rests:
		return dimStyle.Render("the match is suspended · q quit")
	case m.paused:
		return dimStyle.Render("paused · p continue · q quit")
	}
	return dimStyle.Render("q quit · p pause · ↑↓ scroll")
}

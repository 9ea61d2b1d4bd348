//! The screen of `icache top`: the whole terminal, given back as it was.

use std::io;
use std::time::Duration;

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, poll, read};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::Paragraph;
use ratatui::{DefaultTerminal, Frame};

use super::lines::lines;
use crate::render::printer::Look;
use crate::render::text::Tone;
use crate::top::View;

/// The terminal while it is ours. Dropped, it is as it was before, with the cursor shown and what was typed echoed.
pub struct Screen {
    terminal: DefaultTerminal,
    look: Look,
    /// Lines of the frame above the first one shown.
    scrolled: u16,
}

/// What has become of the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// It goes on.
    Still,
    /// `q`, Esc or Ctrl-C.
    Ended,
}

impl Screen {
    /// Takes the terminal. A panic gives it back, too.
    ///
    /// # Errors
    ///
    /// Where standard output is no terminal, or one that cannot be set so.
    pub fn take(look: Look) -> io::Result<Self> {
        Ok(Self { terminal: ratatui::try_init()?, look, scrolled: 0 })
    }

    /// Shows `view`, or that the first answer is waited for.
    pub fn show(&mut self, view: Option<&View>) -> io::Result<()> {
        let (look, scrolled) = (self.look, &mut self.scrolled);
        self.terminal.draw(|frame| draw(frame, view, look, scrolled))?;
        Ok(())
    }

    /// Waits for keys, and for no longer than `patience`; shows `view` anew where that changed something.
    pub fn attend(&mut self, patience: Duration, view: Option<&View>) -> io::Result<Shown> {
        if !poll(patience)? {
            return Ok(Shown::Still);
        }
        match read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                if is_end(key) {
                    return Ok(Shown::Ended);
                }
                let page = self.terminal.size()?.height.saturating_sub(2).max(1);
                self.scrolled = match key.code {
                    KeyCode::Down | KeyCode::Char('j') => self.scrolled.saturating_add(1),
                    KeyCode::Up | KeyCode::Char('k') => self.scrolled.saturating_sub(1),
                    KeyCode::PageDown | KeyCode::Char(' ') => self.scrolled.saturating_add(page),
                    KeyCode::PageUp => self.scrolled.saturating_sub(page),
                    KeyCode::Home => 0,
                    KeyCode::End => u16::MAX,
                    _ => self.scrolled,
                };
            }
            Event::Resize(..) => {}
            _ => return Ok(Shown::Still),
        }
        self.show(view)?;
        Ok(Shown::Still)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Where the terminal is gone there is nothing to give back.
        let _ = ratatui::try_restore();
    }
}

fn is_end(key: KeyEvent) -> bool {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('q') | KeyCode::Esc => true,
        KeyCode::Char('c' | 'd') => is_control,
        _ => false,
    }
}

fn draw(frame: &mut Frame<'_>, view: Option<&View>, look: Look, scrolled: &mut u16) {
    let [body, foot] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(frame.area());
    let look = Look { width: usize::from(body.width), ..look };
    let shown = match view {
        None => Text::raw("waiting for the server's first answer"),
        Some(view) => {
            let styled =
                lines(view, look).into_iter().map(|line| Line::styled(line.text, style(line.tone, look)));
            Text::from_iter(styled)
        }
    };
    let length = u16::try_from(shown.lines.len()).unwrap_or(u16::MAX);
    *scrolled = (*scrolled).min(length.saturating_sub(body.height));
    let below = length.saturating_sub(body.height).saturating_sub(*scrolled);
    frame.render_widget(Paragraph::new(shown).scroll((*scrolled, 0)), body);
    let more = if below > 0 { format!("   {below} more below") } else { String::new() };
    let keys = if look.unicode { "q quit   ↑↓ scroll" } else { "q quit   up/down scroll" };
    let foot_style = style(Some(Tone::Faint), look);
    frame.render_widget(Paragraph::new(Line::styled(format!("{keys}{more}"), foot_style)), foot);
}

fn style(tone: Option<Tone>, look: Look) -> Style {
    let Some(tone) = tone.filter(|_| look.color) else { return Style::new() };
    match tone {
        Tone::Strong => Style::new().add_modifier(Modifier::BOLD),
        Tone::Faint => Style::new().add_modifier(Modifier::DIM),
        Tone::Good => Style::new().fg(Color::Green),
        Tone::Warning => Style::new().fg(Color::Yellow),
        Tone::Bad => Style::new().fg(Color::Red),
    }
}

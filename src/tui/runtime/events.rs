//! Translates a terminal's events for the screens.

use crate::app::Msg;
use crate::keymap::KeyPress;
use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind,
};

/// Returns the message of a terminal's event; `None`: it is ignored.
pub(super) fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => key_press(key).map(Msg::Key),
        Event::Mouse(mouse) => match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => Some(Msg::Click(mouse.column, mouse.row)),
            MouseEventKind::Down(MouseButton::Right) => Some(Msg::Menu(mouse.column, mouse.row)),
            MouseEventKind::Drag(MouseButton::Left) => Some(Msg::Drag(mouse.column)),
            MouseEventKind::Up(MouseButton::Left) => Some(Msg::Release),
            MouseEventKind::ScrollDown => Some(Msg::Wheel(mouse.column, mouse.row, 1)),
            MouseEventKind::ScrollUp => Some(Msg::Wheel(mouse.column, mouse.row, -1)),
            _ => None,
        },
        Event::Resize(columns, rows) => Some(Msg::Resize(columns, rows)),
        _ => None,
    }
}

fn key_press(key: KeyEvent) -> Option<KeyPress> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let shift = key.modifiers.contains(KeyModifiers::SHIFT);
    Some(match key.code {
        KeyCode::Char(c) if control => KeyPress::Ctrl(c.to_ascii_lowercase()),
        KeyCode::Char(c) => KeyPress::Char(c),
        KeyCode::Up => KeyPress::Up,
        KeyCode::Down => KeyPress::Down,
        KeyCode::Left if shift => KeyPress::ShiftLeft,
        KeyCode::Right if shift => KeyPress::ShiftRight,
        // Some terminals send Tab with shift instead of BackTab.
        KeyCode::Tab if shift => KeyPress::BackTab,
        KeyCode::Left => KeyPress::Left,
        KeyCode::Right => KeyPress::Right,
        KeyCode::PageUp => KeyPress::PageUp,
        KeyCode::PageDown => KeyPress::PageDown,
        KeyCode::Home => KeyPress::Home,
        KeyCode::End => KeyPress::End,
        KeyCode::Enter => KeyPress::Enter,
        KeyCode::Esc => KeyPress::Esc,
        KeyCode::Tab => KeyPress::Tab,
        KeyCode::BackTab => KeyPress::BackTab,
        KeyCode::Backspace => KeyPress::Backspace,
        KeyCode::Delete => KeyPress::Delete,
        KeyCode::F(n) => KeyPress::F(n),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keymap::BINDINGS;

    fn code(key: KeyPress) -> (KeyCode, KeyModifiers) {
        let plain = |code| (code, KeyModifiers::NONE);
        match key {
            KeyPress::Char(c) => plain(KeyCode::Char(c)),
            KeyPress::Ctrl(c) => (KeyCode::Char(c), KeyModifiers::CONTROL),
            KeyPress::Up => plain(KeyCode::Up),
            KeyPress::Down => plain(KeyCode::Down),
            KeyPress::ShiftLeft => (KeyCode::Left, KeyModifiers::SHIFT),
            KeyPress::ShiftRight => (KeyCode::Right, KeyModifiers::SHIFT),
            KeyPress::Tab => plain(KeyCode::Tab),
            KeyPress::BackTab => (KeyCode::BackTab, KeyModifiers::SHIFT),
            KeyPress::Delete => plain(KeyCode::Delete),
            KeyPress::F(n) => plain(KeyCode::F(n)),
            KeyPress::Left => plain(KeyCode::Left),
            KeyPress::Right => plain(KeyCode::Right),
            KeyPress::PageUp => plain(KeyCode::PageUp),
            KeyPress::PageDown => plain(KeyCode::PageDown),
            KeyPress::Home => plain(KeyCode::Home),
            KeyPress::End => plain(KeyCode::End),
            KeyPress::Enter => plain(KeyCode::Enter),
            KeyPress::Esc => plain(KeyCode::Esc),
            KeyPress::Backspace => plain(KeyCode::Backspace),
        }
    }

    #[test]
    fn every_bound_key_can_be_pressed() {
        for bound in BINDINGS.iter().flat_map(|binding| binding.keys.iter()) {
            let (code, modifiers) = code(*bound);
            assert_eq!(key_press(KeyEvent::new(code, modifiers)), Some(*bound));
        }
    }

    #[test]
    fn releases_are_no_presses() {
        let mut key = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
        key.kind = KeyEventKind::Release;
        assert!(message(Event::Key(key)).is_none());
    }
}

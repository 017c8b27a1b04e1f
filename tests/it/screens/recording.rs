//! A recording: screens one after the other, as one SVG that moves. A row that several screens share is drawn once, so
//! that it is not much larger than a picture.

use super::svg;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// The screens of a recording, and how long each is shown.
#[derive(Default)]
pub struct Recording {
    frames: Vec<(vt100::Screen, Duration)>,
}

impl Recording {
    /// Shows a screen for this time, after those before it.
    pub fn show(&mut self, screen: vt100::Screen, time: Duration) {
        self.frames.push((screen, time));
    }

    /// Draws all screens, which have the same size. Where the reader wants no motion, the first one stays.
    pub fn draw(&self) -> String {
        let (first, _) = self.frames.first().expect("a screen");
        // The frames in which a row is drawn like this.
        let mut rows: BTreeMap<(usize, String), Vec<usize>> = BTreeMap::new();
        for (frame, (screen, _)) in self.frames.iter().enumerate() {
            for (at, row) in svg::rows(screen).into_iter().enumerate() {
                rows.entry((at, row)).or_default().push(frame);
            }
        }
        let mut times: Vec<&Vec<usize>> = rows.values().collect();
        times.sort();
        times.dedup();
        times.retain(|shown| shown.len() < self.frames.len());
        let mut drawn = svg::head(first, &self.style(&times));
        for ((_, row), shown) in rows.iter().filter(|((_, row), _)| !row.is_empty()) {
            match times.iter().position(|these| *these == shown) {
                Some(class) => write!(drawn, "<g class=\"t{class}\">\n{row}</g>\n").unwrap(),
                None => drawn += row,
            }
        }
        drawn + svg::TAIL
    }

    /// The rules by which rows come and go, a class for each set of frames.
    fn style(&self, times: &[&Vec<usize>]) -> String {
        let total: Duration = self.frames.iter().map(|(_, time)| *time).sum();
        let seconds = total.as_secs_f64();
        let mut style = String::from("<style>\n");
        for (class, shown) in times.iter().enumerate() {
            write!(style, "@keyframes t{class}{{").unwrap();
            let (mut at, mut before) = (Duration::ZERO, None);
            for (frame, (_, time)) in self.frames.iter().enumerate() {
                let now = shown.contains(&frame);
                if before != Some(now) {
                    let visible = if now { "visible" } else { "hidden" };
                    let share = at.as_secs_f64() / seconds * 100.0;
                    write!(style, "{share:.3}%{{visibility:{visible}}}").unwrap();
                }
                (at, before) = (at + *time, Some(now));
            }
            writeln!(
                style,
                "}}.t{class}{{animation:t{class} {seconds}s step-end infinite}}"
            )
            .unwrap();
        }
        style
            + "@media (prefers-reduced-motion:reduce){g{animation-play-state:paused!important}}\n</style>\n"
    }
}

#[test]
fn rows_come_and_go_and_those_that_stay_are_drawn_once() {
    let mut parser = vt100::Parser::new(2, 6, 0);
    parser.process(b"\x1b[38;2;255;255;255;48;2;0;0;0m\x1b[2J\x1b[Hstays");
    let mut recording = Recording::default();
    for (word, seconds) in [("one", 1), ("two", 2), ("one", 1)] {
        parser.process(b"\x1b[2;1H");
        parser.process(word.as_bytes());
        recording.show(parser.screen().clone(), Duration::from_secs(seconds));
    }
    let svg = recording.draw();
    assert_eq!(super::malformed(&svg), None, "{svg}");
    for word in ["stays", "one", "two"] {
        assert_eq!(svg.matches(&format!(">{word}<")).count(), 1, "{svg}");
    }
    let one = "t0{0.000%{visibility:visible}25.000%{visibility:hidden}75.000%{visibility:visible}}";
    let two = "t1{0.000%{visibility:hidden}25.000%{visibility:visible}75.000%{visibility:hidden}}";
    for rule in [one, two, ".t1{animation:t1 4s step-end infinite}"] {
        assert!(svg.contains(rule), "{rule} is missing:\n{svg}");
    }
}

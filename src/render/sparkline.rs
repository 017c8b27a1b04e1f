//! The growth of the last requests as bars.

/// The bars, lowest first. The highest leaves a hair's breadth to the row above.
const BARS: [char; 7] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇'];

/// The growth that makes the highest bar: the window's tenth part. Rows share this scale, so that a
/// session which grows fast looks it.
const TALLEST: u64 = 10;

/// One bar a growth, oldest first. The scale is a square root: a request of half a percent still shows.
pub fn bars(growth: &[u64], window: u64) -> String {
    let tallest = (window / TALLEST).max(1) as f64;
    growth
        .iter()
        .map(|grown| {
            let share = (*grown as f64 / tallest).min(1.0).sqrt();
            let top = BARS.len() - 1;
            BARS[((share * top as f64).round() as usize).min(top)]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_rise_with_growth() {
        assert_eq!(bars(&[0, 500, 5_000, 20_000, u64::MAX], 200_000), "▁▂▄▇▇");
        assert_eq!(bars(&[1], 0), "▇");
    }
}

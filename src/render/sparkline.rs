//! The growth of the last requests as bars.

/// The bars, the lowest first. The highest one leaves a gap below the row above.
const BARS: [char; 7] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇'];

/// Growth by the window divided by this has the highest bar. Rows share this scale, so that a session that grows fast
/// looks so.
const HIGHEST_BAR_DIVISOR: u64 = 10;

/// Returns one bar for each growth, the oldest first. The scale is a square root: a request of half a percent still
/// shows.
pub fn bars(growth: &[u64], window: u64) -> String {
    let tallest = (window / HIGHEST_BAR_DIVISOR).max(1) as f64;
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

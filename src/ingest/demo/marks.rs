//! Long texts in short logs: marks that are expanded to many rows.

/// The most repetitions one mark may ask for.
const MOST_REPETITIONS: usize = 10_000;

/// Expands the marks of a line: `⟦3×row #\n⟧` becomes three rows, with another number for each `#`. The
/// numbers depend only on the seed. Anything that is not such a mark is left unchanged.
pub(super) fn expand(line: &str, seed: u64) -> String {
    let mut state = seed;
    let mut full = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, inside)) = rest.split_once('⟦') {
        full.push_str(before);
        let Some((times, text, after)) = mark(inside) else {
            full.push('⟦');
            rest = inside;
            continue;
        };
        for _ in 0..times {
            for (n, part) in text.split('#').enumerate() {
                if n > 0 {
                    // Knuth's linear congruential generator; its high bits are the random ones.
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    full.push_str(&(1 + (state >> 33) % 999).to_string());
                }
                full.push_str(part);
            }
        }
        rest = after;
    }
    full.push_str(rest);
    full
}

/// Returns a mark's repetitions and text, and what follows it.
fn mark(inside: &str) -> Option<(usize, &str, &str)> {
    let (body, after) = inside.split_once('⟧')?;
    let (times, text) = body.split_once('×')?;
    let times = times
        .parse()
        .ok()
        .filter(|times| *times <= MOST_REPETITIONS)?;
    (!text.contains('⟦')).then_some((times, text, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_written_out_and_odd_ones_stay() {
        assert_eq!(expand("a⟦2×b⟧c⟦0×d⟧", 1), "abbc");
        let rows = expand("⟦3×# ⟧", 1);
        let numbers: Vec<u32> = rows
            .split_whitespace()
            .map(|n| n.parse().unwrap())
            .collect();
        assert_eq!(numbers.len(), 3);
        assert!(numbers.iter().all(|n| (1..=999).contains(n)));
        assert_eq!(rows, expand("⟦3×# ⟧", 1));
        assert_ne!(rows, expand("⟦3×# ⟧", 2));
        assert_eq!(expand("⟦2×a ⟦2×b⟧", 1), "⟦2×a bb");
        for odd in [
            "#",
            "⟦",
            "⟧",
            "⟦2×a",
            "⟦2a⟧",
            "⟦x×a⟧",
            "⟦-1×a⟧",
            "⟦99999999×a⟧",
            "2×a⟧",
        ] {
            assert_eq!(expand(odd, 1), odd);
        }
    }
}

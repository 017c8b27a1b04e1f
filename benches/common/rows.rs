//! Rows of the README's table of speed. `benches/table` collects them.

use std::fmt::Display;
use std::time::Duration;

/// Prints what was measured, the goal, our figure, what it is beside, and their ratio: or what is nearest to one.
pub fn row(what: &str, goal: &str, ours: impl Display, beside: impl Display, ratio: impl Display) {
    println!("limit: | {what} | {goal} | {ours} | {beside} | {ratio} |");
}

/// Prints how a cost grows: three sizes, each four times the one before, what they cost, and how many times each
/// costs the one before.
pub fn growth(what: &str, sizes: &str, costs: [f64; 3], show: impl Fn(f64) -> String) {
    let [small, middle, large] = costs;
    let (first, second) = (middle / small, large / middle);
    let costs = costs.map(show).join(", ");
    println!("growth: | {what} | {sizes} | {costs} | {first:.2}×, {second:.2}× |");
}

/// Prints what another program costs; its columns are in `benches/table`.
pub fn program(columns: &[String]) {
    println!("program: | {} |", columns.join(" | "));
}

/// A time, in a unit that suits it.
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        1.0.. => format!("{seconds:.2} s"),
        1e-2.. => format!("{:.0} ms", seconds * 1e3),
        1e-3.. => format!("{:.1} ms", seconds * 1e3),
        1e-4.. => format!("{:.2} ms", seconds * 1e3),
        _ => format!("{:.0} µs", seconds * 1e6),
    }
}

/// Bytes, in megabytes.
pub fn megabytes(bytes: u64) -> String {
    let megabytes = bytes as f64 / 1e6;
    match megabytes {
        10.0.. => format!("{megabytes:.0} MB"),
        _ => format!("{megabytes:.1} MB"),
    }
}

/// How many times one time is another.
pub fn times(ours: Duration, limit: Duration) -> String {
    format!("{:.2}×", ours.as_secs_f64() / limit.as_secs_f64())
}

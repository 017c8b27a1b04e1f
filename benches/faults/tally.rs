//! What faults have shown, and chance that can be repeated.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// What a fault has shown so far.
#[derive(Default)]
pub struct Tally {
    pub tries: u64,
    pub failures: u64,
    /// What is no failure, by what it is.
    counts: BTreeMap<&'static str, u64>,
    /// How long something took, by what it is.
    times: BTreeMap<String, Vec<Duration>>,
}

impl Tally {
    /// Counts a try, and prints at once why it has failed.
    pub fn check(&mut self, outcome: Result<(), String>) {
        self.tries += 1;
        if let Err(why) = outcome {
            self.failures += 1;
            println!("FAILED: {why}");
        }
    }

    /// Counts what is worth knowing.
    pub fn count(&mut self, what: &'static str, times: u64) {
        *self.counts.entry(what).or_default() += times;
    }

    /// Notes how long something took.
    pub fn time(&mut self, what: String, took: Duration) {
        self.times.entry(what).or_default().push(took);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts.iter();
        let counts = counts.map(|(what, n)| format!("{n} {what}"));
        let times = self.times.iter().map(|(what, times)| {
            let mut times = times.clone();
            times.sort_unstable();
            let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
            format!("{what}: median {:.2?}, p99 {:.2?}", at(50), at(99))
        });
        let counts: Vec<String> = counts.chain(times).collect();
        let (tries, failures) = (self.tries, self.failures);
        write!(f, "{tries} | {failures} | {}", counts.join(", "))
    }
}

/// Numbers by chance, the same for the same seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below this one.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    /// One of these.
    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

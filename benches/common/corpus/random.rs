//! Repeatable random numbers and texts.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// SplitMix64, from its state.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to 1, without 0.
    pub fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    pub fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    pub fn chance(&mut self, share: f64) -> bool {
        self.unit() <= share
    }

    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.unit().ln()
    }

    pub fn log_normal(&mut self, median: f64, sigma: f64) -> f64 {
        let (radius, angle) = (
            (-2.0 * self.unit().ln()).sqrt(),
            std::f64::consts::TAU * self.unit(),
        );
        median * (sigma * radius * angle.cos()).exp()
    }

    /// Bytes of a tool result: half are below 1 kB, one in a hundred above 60 kB.
    pub fn result_size(&mut self) -> usize {
        if self.chance(0.002) {
            200_000 + self.below(220_000) as usize
        } else {
            self.log_normal(1e3, 1.76).clamp(20.0, 420_000.0) as usize
        }
    }

    pub fn hex(&mut self, digits: usize) -> String {
        let mut text = String::new();
        while text.len() < digits {
            text += &format!("{:016x}", self.next());
        }
        text.truncate(digits);
        text
    }

    pub fn uuid(&mut self) -> String {
        let hex = self.hex(32);
        format!(
            "{}-{}-4{}-a{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[13..16],
            &hex[17..20],
            &hex[20..]
        )
    }

    pub fn id(&mut self, prefix: &str, letters: usize) -> String {
        const LETTERS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789";
        let mut id = prefix.to_owned();
        id.extend((0..letters).map(|_| LETTERS[self.next() as usize % LETTERS.len()] as char));
        id
    }

    pub fn base64(&mut self, bytes: u64) -> String {
        let bytes: Vec<u8> = (0..bytes / 8 + 1)
            .flat_map(|_| self.next().to_le_bytes())
            .collect();
        BASE64_STANDARD.encode(bytes)
    }

    /// A piece of code of so many bytes.
    pub fn code(&mut self, bytes: usize) -> &'static str {
        self.piece(&texts().code, bytes)
    }

    /// A piece of English of so many bytes.
    pub fn prose(&mut self, bytes: usize) -> &'static str {
        self.piece(&texts().prose, bytes)
    }

    /// A piece of between so many bytes.
    pub fn text(
        &mut self,
        least: usize,
        most: usize,
        piece: fn(&mut Random, usize) -> &'static str,
    ) -> &'static str {
        let bytes = least + self.below((most - least) as u64) as usize;
        piece(self, bytes)
    }

    fn piece(&mut self, text: &'static str, bytes: usize) -> &'static str {
        let from = self.below(text.len().saturating_sub(bytes).max(1) as u64) as usize;
        super::cut(text, from, bytes)
    }
}

/// This repository's sources, and the comments in them.
struct Texts {
    code: String,
    prose: String,
}

fn texts() -> &'static Texts {
    static TEXTS: OnceLock<Texts> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let mut code = String::new();
        gather(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
            &mut code,
        );
        let comments = code.lines().filter_map(|line| {
            let line = line.trim_start();
            line.strip_prefix("/// ")
                .or_else(|| line.strip_prefix("//! "))
        });
        let prose = comments.collect::<Vec<_>>().join("\n");
        Texts { code, prose }
    })
}

fn gather(folder: &Path, code: &mut String) {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            gather(&path, code);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            *code += &fs::read_to_string(path).unwrap();
        }
    }
}

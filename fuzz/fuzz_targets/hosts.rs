#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ctxgauge_fuzz::hosts::check(input));

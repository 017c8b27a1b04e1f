//! Damage that an input of the fuzzer spells.

/// Damages a file: a letter for what happens to it, and up to two numbers for where, such as `s3.7`.
pub fn damage(file: &mut Vec<u8>, what: &[u8]) {
    let Some((kind, numbers)) = what.split_first() else {
        return;
    };
    let mut numbers = numbers.split(|byte| *byte == b'.').map(|digits| {
        let digits = digits.iter().filter(|byte| byte.is_ascii_digit()).take(9);
        digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0'))
    });
    let (a, b) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    match kind {
        // It ends after so many thousandths.
        b'c' => file.truncate(file.len() * a.min(1000) / 1000),
        // A byte becomes another.
        b'b' if !file.is_empty() => {
            let at = a % file.len();
            file[at] = b as u8;
        }
        // A number becomes another.
        b'n' => another_number(file, a, b),
        // A line comes a second time, or two change places, or one is gone.
        b'd' | b's' | b'r' => {
            let mut lines: Vec<&[u8]> = file.split(|byte| *byte == b'\n').collect();
            let (a, b) = (a % lines.len(), b % lines.len());
            match kind {
                b'd' => lines.insert(b, lines[a]),
                b's' => lines.swap(a, b),
                _ => drop(lines.remove(a)),
            }
            *file = lines.join(&b'\n');
        }
        _ => {}
    }
}

/// Puts a number in the place of the `nth` one of a text.
fn another_number(file: &mut Vec<u8>, nth: usize, number: usize) {
    let is_first =
        |at: &usize| file[*at].is_ascii_digit() && (*at == 0 || !file[*at - 1].is_ascii_digit());
    let firsts: Vec<usize> = (0..file.len()).filter(is_first).collect();
    if let Some(at) = firsts.get(nth % firsts.len().max(1)) {
        let digits = file[*at..].iter().take_while(|byte| byte.is_ascii_digit());
        let end = at + digits.count();
        file.splice(at..&end, number.to_string().into_bytes());
    }
}

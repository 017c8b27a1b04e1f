use super::classes::{OTHER, class};
use super::*;
use proptest::prelude::*;
use std::sync::LazyLock;
use tiktoken_rs::o200k_base_singleton;

fn whole(text: &str) -> u64 {
    o200k_base_singleton().encode_ordinary(text).len() as u64
}

static COUNTER: LazyLock<Counter> = LazyLock::new(Counter::new);

/// Asserts that the words of a text, each by itself, have the tokens of the whole text.
fn assert_split(text: &str) {
    let (split, bpe) = (Split::new(text), o200k_base_singleton());
    let (mut at, mut tokens, mut words) = (0, Vec::new(), Vec::new());
    while at < text.len() {
        let end = split.word_end(at);
        let word = &text[at..end];
        assert!(!word.is_empty(), "{text:?}");
        tokens.extend(bpe.encode_ordinary(word));
        words.push(word);
        at = end;
    }
    assert_eq!(tokens, bpe.encode_ordinary(text), "{text:?} {words:?}");
    assert_eq!(COUNTER.count_piece(text) as usize, tokens.len(), "{text:?}");
}

#[test]
fn counts_as_tiktoken_does() {
    let counter = Counter::new();
    for text in [
        "",
        "hi",
        "fn main() { println!(\"größe 漢字\"); }",
        "a\r\n\tb\n\n\n  c",
    ] {
        assert_eq!(counter.count(text), whole(text), "{text:?}");
    }
}

#[test]
fn the_table_has_the_tokens_of_tiktoken() {
    let vocabulary = o200k_base_singleton();
    let tokens = (0..).map_while(|rank| vocabulary.decode_bytes(&[rank]).ok());
    let mut ranks = 0;
    for (rank, token) in (0..).zip(tokens) {
        let found = table::rank(O200K, table::hash(&token, 0, token.len()));
        assert_eq!(found, Some(rank), "{token:?}");
        ranks += 1;
    }
    assert_eq!(ranks, 199_998);
}

#[test]
fn words_end_where_tiktoken_ends_them() {
    for text in [
        "I'm they'RE it'ſ we'Ve 'tis ''s 'S'll don't'd x'\u{2019}s 're",
        "HTTPServer getURLFor ABCdefGHI ǅungla ǅUNGLA ʰABC ABʰC AʰBc",
        "漢字ABC 漢字abc 漢ABC字 ABC漢 כתב ไทย हिन्दी देवनागरी",
        "e\u{301}te \u{301}ABC \u{301}\u{301}abc (\u{301}( A\u{301}BC \u{20dd}",
        "1234567 ١٢٣٤ ⅷ½² 3.14 1,000 a1b2 x²y",
        " (a) ;;;\n//\r\n/ ...//\n ;/\n/ \t( \t\t(x  (y",
        "\n \n\t \r\n  x  \u{a0}\u{a0}y \u{2028}z\u{85}w \t1 \t\t1  ",
        "\u{200b}a \u{feff}b 👩‍👩‍👧‍👦 family 🇩🇪 flags ❤️!",
        "a \n",
        "a\n ",
        "\n",
        " ",
        "  ",
        "\r\r",
        "'",
        "'s",
        " '",
        "\u{301}",
        "\u{301}A",
    ] {
        assert_split(text);
    }
}

#[test]
fn a_million_spaces_do_not_panic() {
    let counter = Counter::new();
    let (million, some) = (1_000_000, 200_000);
    for (c, times) in [
        (' ', million),
        ('\n', million),
        ('a', million),
        ('\t', some),
        ('A', some),
        ('=', some),
        ('我', some),
        ('\u{301}', some),
        ('7', some),
        ('\'', some),
    ] {
        let text: String = std::iter::repeat_n(c, times).collect();
        let count = counter.count(&text);
        assert!(count > 0 && count <= text.len() as u64, "{c:?}: {count}");
    }
}

#[test]
fn characters_of_all_scripts_are_split_as_tiktoken_splits_them() {
    let mut text = String::new();
    let few = ('\0'..=char::MAX).filter(|c| *c < '\u{250}' || u32::from(*c) % 24 == 0);
    // Before, behind and between what may join it.
    for c in few.filter(|c| c.is_ascii() || class(*c) != OTHER) {
        let befores = ["a", "B", " ", "(", "1", "\n"];
        text.extend(befores.map(|before| format!("{before}{c}a{c}B{c}'s{c}1{c}")));
        if text.len() > 60_000 {
            assert_split(&text);
            text.clear();
        }
    }
    assert_split(&text);
}

#[test]
fn cuts_between_words_cost_nothing() {
    let line = "the quick brown fox; jumps(over) the_lazy dog, 12345 times\n    and again\n";
    let text = line.repeat(4000);
    assert!(text.len() > 4 * PIECE_BYTES);
    assert_eq!(Counter::new().count(&text), whole(&text));
    let one_line = text.replace('\n', " ");
    assert_eq!(Counter::new().count(&one_line), whole(&one_line));
}

#[test]
fn the_same_text_is_counted_once_and_the_cache_is_bounded() {
    let counter = Counter::new();
    let text = "some text that is longer than what is worth remembering ".repeat(8);
    let first = counter.count(&text);
    assert_eq!(counter.cache.lock().unwrap().young.len(), 1);
    assert_eq!(counter.count(&text), first);
    let mut seen = CountCache::default();
    for hash in 0..(5 * GENERATION_COUNTS as u64) {
        seen.put(hash, hash as u32);
        assert!(seen.young.len() + seen.old.len() <= 2 * GENERATION_COUNTS);
    }
    let newest = 5 * GENERATION_COUNTS as u64 - 1;
    assert_eq!(seen.get(newest), Some(newest as u32));
    assert_eq!(seen.get(0), None);
}

/// Texts of what words are made of, and of what is between them.
fn texts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "\\PC{0,12}",
        2 => any::<String>(),
        4 => "[a-zA-Z]{1,12}",
        4 => "[a-z ]{0,24}",
        4 => "[ \\t\\r\\n]{1,8}",
        2 => "[\\s]{1,8}",
        2 => "[0-9]{1,8}",
        2 => "\\p{N}{1,5}",
        3 => "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}\\p{Ll}]{1,8}",
        3 => "[aAʰǅ漢\u{301}1 ('\\n]{1,10}",
        2 => "['’][a-zA-Zſ]{1,3}",
        2 => "[!-/:-@\\[-`{-~]{1,8}",
        1 => "[A-Za-z0-9+/]{1,200}",
        1 => "[😀-🙏👩‍👧️🇦-🇿]{1,6}",
        1 => "\\p{Han}{1,20}",
    ];
    prop::collection::vec(part, 1..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_is_split_as_tiktoken_splits_it(text in texts()) {
        assert_split(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_long_text_is_counted_as_tiktoken_counts_its_pieces(text in texts(), times in 1_usize..400) {
        let text = text.repeat(times);
        prop_assert_eq!(pieces(&text).collect::<String>(), &*text);
        let counted = Counter::new().count(&text);
        prop_assert_eq!(counted, pieces(&text).map(whole).sum::<u64>());
        let cuts = pieces(&text).count().saturating_sub(1) as u64;
        prop_assert!(counted.abs_diff(whole(&text)) <= 2 * cuts);
    }
}

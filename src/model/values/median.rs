//! The median of some numbers.

/// Returns the median of some numbers, the mean of the middle two of an even number; `None`: there are none.
pub(crate) fn median(mut of: Vec<f64>) -> Option<f64> {
    of.sort_by(f64::total_cmp);
    let (low, high) = (of.len().checked_sub(1)? / 2, of.len() / 2);
    Some((of.get(low)? + of.get(high)?) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![9.0, 1.0, 2.0, 4.0]), Some(3.0));
        assert_eq!(median(Vec::new()), None);
    }
}

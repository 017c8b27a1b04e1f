//! Stacks the roles of a context over time for the drawings of it, on screens and pages.

use model::session::replay::role_sizes::{RoleSizes, total};

/// Returns the largest of some steps: a column that stands for several of them shows it. `None`: there are none.
pub fn largest(steps: &[RoleSizes]) -> Option<&RoleSizes> {
    // The last of equal ones.
    steps.iter().max_by_key(|sizes| total(sizes))
}

/// Returns the upper end of each role's part, in tokens, each part on those before it.
pub fn edges(sizes: [u64; 5]) -> [u64; 5] {
    let mut below = 0_u64;
    sizes.map(|tokens| {
        below = below.saturating_add(tokens);
        below
    })
}

/// Divides steps into at most so many columns of one width, and returns the steps of each.
pub fn columns<T>(steps: &[T], most: usize) -> impl Iterator<Item = &[T]> {
    let columns = steps.len().min(most.max(1));
    (0..columns).map(move |column| {
        let from = column * steps.len() / columns;
        let to = ((column + 1) * steps.len() / columns).max(from + 1);
        &steps[from..to]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_its_largest_step() {
        let steps = [
            [1, 0, 0, 0, 0],
            [5, 0, 0, 0, 4],
            [9, 0, 0, 0, 0],
            [2, 0, 0, 0, 0],
        ];
        let of: Vec<&RoleSizes> = columns(&steps, 2).filter_map(largest).collect();
        assert_eq!(of, [&[5, 0, 0, 0, 4], &[9, 0, 0, 0, 0]]);
        assert_eq!(columns(&steps, 100).count(), 4);
        assert_eq!(columns(&[0; 0], 100).count(), 0);
    }

    #[test]
    fn a_part_is_on_those_before_it() {
        assert_eq!(edges([3, 0, 2, 1, 4]), [3, 3, 5, 6, 10]);
        assert_eq!(edges([u64::MAX; 5]), [u64::MAX; 5]);
    }
}

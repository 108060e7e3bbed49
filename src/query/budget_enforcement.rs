//! Enforces token budgets: a reply never has more tokens than its budget.
//!
//! Choosing uses estimates, since the tokens of a text are not always the sum of those of its
//! parts; [`render_within`] then measures the reply itself and drops the least worthy parts until
//! it fits. A token is at least one byte, so a short reply is proven to fit without the
//! vocabulary. This module does no IO.

use crate::text::tokens;

/// Tokens reserved for the line about omitted entries.
pub(crate) const REST_TOKENS: u32 = 12;

/// Measurements before the remaining parts are dropped altogether.
const ROUNDS_MAX: usize = 12;

/// Returns the cost of each line, and the number of exact costs. Costs are bytes while all lines
/// fit as bytes; else exact counts until the budget is used up, then estimates on the high side.
///
/// Every line must end in a line break, begin with anything but white space or a shorter indent
/// than its own, and not be empty. The encoding never has a token across such a seam, so the exact
/// counts of lines add up to that of the reply.
pub(crate) fn line_costs(lines: &[String], budget: u32) -> (Vec<u32>, usize) {
    let n_bytes: usize = lines.iter().map(String::len).sum();
    if n_bytes <= budget as usize {
        return (lines.iter().map(|it| it.len() as u32).collect(), lines.len());
    }
    let (mut spent, mut bytes, mut n_exact) = (0u64, 1u64, 0);
    let price = |line: &String| {
        let n_bytes = line.len() as u64;
        if u64::from(budget) < spent {
            return (n_bytes * spent * 11 / (bytes * 10) + 1).min(u64::from(u32::MAX)) as u32;
        }
        let counted = tokens::count(line);
        spent += u64::from(counted);
        bytes += n_bytes;
        n_exact += 1;
        counted
    };
    let prices = lines.iter().map(price).collect();
    (prices, n_exact)
}

/// Returns the indices of the entries that fit, taken in order of worth. Room is kept for one line
/// about the rest.
pub(crate) fn choose_within(prices: &[u32], budget: u32) -> Vec<usize> {
    let total = prices.iter().fold(0, |sum: u64, &it| sum + u64::from(it));
    if total <= u64::from(budget) {
        return (0..prices.len()).collect();
    }
    let mut left = budget.saturating_sub(REST_TOKENS);
    let mut chosen = Vec::new();
    for (at, &price) in prices.iter().enumerate() {
        if price <= left {
            left -= price;
            chosen.push(at);
        }
    }
    chosen
}

/// Renders `chosen`, best first, and drops the last ones until the text fits. Returns `None` if it
/// does not fit even without any. A text that `bound` puts within the budget is not measured.
pub(crate) fn render_within<E>(
    budget: Option<u32>,
    mut chosen: Vec<usize>,
    bound: impl Fn(&[usize]) -> Option<u32>,
    mut render: impl FnMut(&[usize]) -> Result<String, E>,
) -> Result<Option<(Vec<usize>, String)>, E> {
    for round in 0..=ROUNDS_MAX {
        let text = render(&chosen)?;
        let Some(budget) = budget else { return Ok(Some((chosen, text))) };
        if bound(&chosen).is_some_and(|it| it <= budget) {
            debug_assert!(tokens::fits(&text, budget), "over {budget}: {text}");
            return Ok(Some((chosen, text)));
        }
        if text.len() <= budget as usize {
            return Ok(Some((chosen, text)));
        }
        let counted = tokens::count(&text);
        if counted <= budget {
            return Ok(Some((chosen, text)));
        }
        if chosen.is_empty() {
            break;
        }
        let excess = u64::from(counted - budget);
        let n_dropped = (chosen.len() as u64 * excess / u64::from(counted)).max(1) as usize;
        let n_kept = chosen.len().saturating_sub(n_dropped);
        chosen.truncate(if round + 1 < ROUNDS_MAX { n_kept } else { 0 });
    }
    Ok(None)
}

/// Returns the tokens of a line and its line break.
pub(crate) fn line_cost(line: &str) -> u32 {
    tokens::count(line).saturating_add(1)
}

/// Returns the first text that fits, else `…`.
pub(crate) fn first_fitting(budget: u32, texts: impl IntoIterator<Item = String>) -> String {
    texts
        .into_iter()
        .chain([String::from("…")])
        .find(|it| tokens::fits(it, budget))
        .unwrap_or_default()
}

/// Returns a long beginning of `text` that has at most `max` tokens.
pub(crate) fn cut_to_tokens(text: &str, max: u32) -> &str {
    if tokens::fits(text, max) {
        return text;
    }
    let mut n_bytes = (max as usize).saturating_mul(6).min(text.len());
    for _ in 0..6 {
        let head = &text[..text.floor_char_boundary(n_bytes)];
        let counted = tokens::count(head) as usize;
        if counted <= max as usize {
            return head;
        }
        n_bytes = (head.len() * max as usize / counted).min(head.len().saturating_sub(1));
    }
    // A token is at least a byte.
    &text[..text.floor_char_boundary(max as usize)]
}

#[cfg(test)]
mod tests;

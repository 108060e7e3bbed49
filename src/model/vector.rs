//! Vectors of texts as signed bytes, and how near one is to a question.
//!
//! Models differ in how near unrelated texts are. So nearness is counted from a background, which
//! most of a memory's texts make: it is 0 for what is no nearer than they are, and 1 from half of
//! the way between them and a text that is the question itself. No IO.

use xxhash_rust::xxh64::xxh64;

/// Robust deviations above the median at which nearness begins.
const DEVIATIONS: f64 = 3.0;
/// The deviation of a normal distribution, in median absolute deviations.
const NORMAL: f64 = 1.4826;
/// The least background, whatever a memory has.
const BACKGROUND_MIN: f64 = 0.1;
/// The background where there are too few texts to make one.
const BACKGROUND_OF_FEW: f64 = 0.35;
/// The part of the way from the background to the question itself that is as near as can be.
const NEAREST: f64 = 0.5;
/// Texts that make a background.
const FEW: usize = 8;

/// A vector without its length, each number rounded to a signed byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NormalizedInt8Vector(Vec<u8>);

impl NormalizedInt8Vector {
    /// Rounds a vector; its largest number becomes 127.
    pub(crate) fn of(numbers: &[f32]) -> NormalizedInt8Vector {
        let largest = numbers.iter().fold(0.0_f32, |most, it| most.max(it.abs()));
        let scale = if 0.0 < largest { 127.0 / largest } else { 0.0 };
        let byte = |it: &f32| (it * scale).round() as i8 as u8;
        NormalizedInt8Vector(numbers.iter().map(byte).collect())
    }

    /// Returns the bytes that are stored.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the cosine of the angle to a stored one; `None` where it has another length.
    pub(crate) fn cosine(&self, other: &[u8]) -> Option<f64> {
        if self.0.len() != other.len() {
            return None;
        }
        let (mut product, mut own, mut others) = (0_i64, 0_i64, 0_i64);
        for (a, b) in self.0.iter().zip(other) {
            let (a, b) = (i64::from(*a as i8), i64::from(*b as i8));
            product += a * b;
            own += a * a;
            others += b * b;
        }
        let length = ((own as f64) * (others as f64)).sqrt();
        (0.0 < length).then(|| product as f64 / length)
    }
}

/// The meaning of a question: a vector, and the model that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QueryVector {
    /// As stored beside vectors.
    pub(crate) model: i64,
    pub(crate) vector: NormalizedInt8Vector,
}

/// Returns the number by which vectors of a model are told apart.
pub(crate) fn model_number(name: &str) -> i64 {
    i64::from_ne_bytes(xxh64(name.as_bytes(), 0).to_ne_bytes())
}

/// Returns the texts that are near, with their nearness, above 0, nearest first; equals in order of
/// their keys.
pub(crate) fn by_nearness<K: Copy + Ord>(mut cosines: Vec<(K, f64)>) -> Vec<(K, f64)> {
    let background = background(&mut cosines);
    let nearness = |cosine: f64| ((cosine - background) / (NEAREST * (1.0 - background))).min(1.0);
    let mut near: Vec<(K, f64)> = cosines
        .into_iter()
        .map(|(key, cosine)| (key, nearness(cosine)))
        .filter(|(_, nearness)| 0.0 < *nearness)
        .collect();
    near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    near
}

/// Returns the cosine that a text has which has nothing to do with the question.
fn background<K>(cosines: &mut [(K, f64)]) -> f64 {
    if cosines.len() < FEW {
        return BACKGROUND_OF_FEW;
    }
    let middle = cosines.len() / 2;
    let median = cosines.select_nth_unstable_by(middle, |a, b| a.1.total_cmp(&b.1)).1.1;
    let mut distances: Vec<f64> = cosines.iter().map(|it| (it.1 - median).abs()).collect();
    let deviation = *distances.select_nth_unstable_by(middle, f64::total_cmp).1;
    (median + DEVIATIONS * NORMAL * deviation).clamp(BACKGROUND_MIN, 0.95)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_angles() {
        let a = [0.3, -0.2, 0.9, 0.05];
        let b = [0.1, 0.7, 0.4, -0.3];
        let exact = {
            let product: f32 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            let length = |v: &[f32; 4]| v.iter().map(|it| it * it).sum::<f32>().sqrt();
            f64::from(product / (length(&a) * length(&b)))
        };
        let rounded =
            NormalizedInt8Vector::of(&a).cosine(NormalizedInt8Vector::of(&b).as_bytes()).unwrap();
        assert!((exact - rounded).abs() < 0.01, "{exact} {rounded}");
        let far = NormalizedInt8Vector::of(&a.map(|it| it * 1_000.0));
        assert_eq!(far, NormalizedInt8Vector::of(&a), "length does not matter");
        assert_eq!(NormalizedInt8Vector::of(&a).cosine(&[1, 2]), None);
        assert_eq!(NormalizedInt8Vector::of(&[0.0, 0.0]).cosine(&[1, 2]), None);
        assert_eq!(
            NormalizedInt8Vector::of(&a).cosine(NormalizedInt8Vector::of(&a).as_bytes()),
            Some(1.0)
        );
    }

    #[test]
    fn nearness_is_counted_from_what_most_texts_have() {
        for shift in [0.0, 0.5] {
            let mut cosines: Vec<(u32, f64)> =
                (0..100).map(|it| (it, shift + 0.01 * f64::from(it % 10))).collect();
            cosines.push((200, shift + 0.4));
            let near = by_nearness(cosines);
            assert_eq!(near.len(), 1, "{near:?}");
            assert_eq!(near[0].0, 200);
            assert!(0.4 < near[0].1, "{near:?}");
        }
        let few = by_nearness(vec![(1, 0.34), (2, 0.9), (3, 0.9)]);
        assert_eq!(few.iter().map(|it| it.0).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(by_nearness(vec![(1, 1.0)]), [(1, 1.0)]);
        assert_eq!(by_nearness(Vec::<(u32, f64)>::new()), []);
    }
}

//! Answers in the form of each service, read to texts, vectors and scores. No IO.

use serde_json::Value;

use super::ProviderError;
use crate::settings::config::ProviderKind;
use crate::text;

/// Characters of a service's message that are repeated.
const MESSAGE_CHARS_MAX: usize = 200;

fn malformed(why: &str) -> ProviderError {
    ProviderError::Malformed(why.to_owned())
}

/// Reads the body of an answer.
pub(super) fn parse_json(body: &[u8]) -> Result<Value, ProviderError> {
    serde_json::from_slice(body).map_err(|error| ProviderError::Malformed(format!("{error}")))
}

/// Reads the text that a model wrote.
pub(super) fn completion(kind: ProviderKind, answer: &Value) -> Result<String, ProviderError> {
    let (text, end) = match kind {
        ProviderKind::Anthropic => {
            let blocks = answer["content"].as_array().into_iter().flatten();
            let texts: Vec<&str> = blocks.filter_map(|it| it["text"].as_str()).collect();
            ((!texts.is_empty()).then(|| texts.concat()), &answer["stop_reason"])
        }
        ProviderKind::Ollama => {
            let text = answer["message"]["content"].as_str();
            (text.map(str::to_owned), &answer["done_reason"])
        }
        _ => {
            let choice = &answer["choices"][0];
            let text = choice["message"]["content"].as_str();
            (text.map(str::to_owned), &choice["finish_reason"])
        }
    };
    if matches!(end.as_str(), Some("max_tokens" | "length")) {
        return Err(malformed("the model ran out of tokens; `max_tokens` sets more"));
    }
    text.ok_or_else(|| malformed("it has no text of the model"))
}

/// Reads `n` vectors in the order of their texts.
pub(super) fn embeddings(
    kind: ProviderKind,
    answer: &Value,
    n: usize,
) -> Result<Vec<Vec<f32>>, ProviderError> {
    let rows: Option<Vec<&Value>> = match kind {
        ProviderKind::Ollama => answer["embeddings"].as_array().map(|it| it.iter().collect()),
        _ => answer["data"].as_array().map(|rows| {
            let mut rows: Vec<(u64, &Value)> = (0..)
                .zip(rows)
                .map(|(nth, it)| (it["index"].as_u64().unwrap_or(nth), &it["embedding"]))
                .collect();
            rows.sort_by_key(|it| it.0);
            rows.into_iter().map(|it| it.1).collect()
        }),
    };
    let rows = rows.ok_or_else(|| malformed("it has no vectors"))?;
    if rows.len() != n {
        return Err(ProviderError::Malformed(format!("{} vectors for {n} texts", rows.len())));
    }
    let vectors: Vec<Vec<f32>> = rows.into_iter().map(vector).collect::<Result<_, _>>()?;
    let n_numbers = vectors.first().map_or(0, Vec::len);
    match vectors.iter().all(|it| it.len() == n_numbers) {
        true => Ok(vectors),
        false => Err(malformed("its vectors differ in length")),
    }
}

/// Most numbers of a vector.
const NUMBERS_MAX: usize = 16_384;

/// Reads a vector: a list of numbers, not all of them zero.
pub(super) fn vector(value: &Value) -> Result<Vec<f32>, ProviderError> {
    let numbers = value.as_array().filter(|it| (2..=NUMBERS_MAX).contains(&it.len()));
    let numbers = numbers.ok_or_else(|| malformed("a vector is no list of numbers"))?;
    let vector: Option<Vec<f32>> =
        numbers.iter().map(|it| it.as_f64().map(|it| it as f32)).collect();
    let is_sound = |it: &Vec<f32>| it.iter().all(|n| n.is_finite()) && it.iter().any(|n| *n != 0.0);
    vector.filter(is_sound).ok_or_else(|| malformed("a vector has what is no number, or only 0"))
}

/// Reads `n` scores in the order of their texts; what has none has 0.
pub(super) fn reranking(answer: &Value, n: usize) -> Result<Vec<f64>, ProviderError> {
    let rows = answer["results"].as_array().ok_or_else(|| malformed("it has no `results`"))?;
    let mut scores = vec![0.0; n];
    for row in rows {
        let at = row["index"].as_u64().and_then(|it| usize::try_from(it).ok());
        let score = row["relevance_score"].as_f64().filter(|it| it.is_finite());
        match (at.and_then(|it| scores.get_mut(it)), score) {
            (Some(place), Some(score)) => *place = score,
            _ => return Err(malformed("a result has no `index` or `relevance_score`")),
        }
    }
    Ok(scores)
}

/// Returns what a service says of a failure, on one line.
pub(super) fn message(status: u16, body: &[u8]) -> String {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    let said = [&answer["error"]["message"], &answer["error"], &answer["message"]];
    let said = said.into_iter().find_map(Value::as_str);
    let lossy = String::from_utf8_lossy(&body[..body.len().min(4 * MESSAGE_CHARS_MAX)]);
    let said = text::fold_whitespace(said.unwrap_or(&lossy));
    match said.is_empty() {
        true => format!("status {status}"),
        false => format!("status {status}, {}", text::truncate_chars(&said, MESSAGE_CHARS_MAX)),
    }
}

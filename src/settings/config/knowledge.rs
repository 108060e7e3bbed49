//! Settings of knowledge: further kinds of episodes, the size of what is ingested, and how recall
//! weighs words.
//!
//! The environment, a file of ours and a file of Remind set the same values, and two of the
//! consolidation beside. The file of Remind is read leniently: what it means for another program is
//! passed over, and what is wrong is told and ignored.

use serde_json::{Map, Value};

use super::ConfigError;
use super::object_reader::ObjectReader;
use crate::model::typed_node_field_schemas::knowledge::EPISODE_KINDS;

/// Range of the characters that are collected before they are divided.
const BUFFER: (u32, u32) = (500, 50_000);

/// Range of pending episodes that begin a consolidation.
pub(super) const THRESHOLD: (u32, u32) = (1, 10_000);

/// Kinds of episodes that are named, at most.
const KINDS_MAX: usize = 50;

/// Characters of the name of a kind, at most.
const KIND_CHARS_MAX: usize = 50;

/// Variables of the environment: kinds, the buffer, the weight of plain words, when to consolidate.
const VARIABLES: [&str; 5] = [
    "REMIND_EPISODE_TYPES",
    "INGEST_BUFFER_SIZE",
    "REMIND_HYBRID_KEYWORD_WEIGHT",
    "CONSOLIDATION_THRESHOLD",
    "AUTO_CONSOLIDATE",
];

/// Words for yes and no in the environment.
const FLAGS: [(&str, bool); 8] = [
    ("true", true),
    ("1", true),
    ("yes", true),
    ("on", true),
    ("false", false),
    ("0", false),
    ("no", false),
    ("off", false),
];

/// The settings of knowledge; `None` leaves the choice to the next source.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct KnowledgeSettings {
    /// Kinds of episodes beside the known ones.
    pub(crate) episode_types: Option<Vec<String>>,
    /// Characters of raw text that are collected before they are divided.
    pub(crate) ingest_buffer_size: Option<u32>,
    /// The weight of words that occur at all, against their rarity.
    pub(crate) hybrid_keyword_weight: Option<f64>,
    /// Pending episodes that begin a consolidation; a file of ours has it elsewhere.
    pub(crate) consolidation_threshold: Option<u32>,
    /// Whether a server consolidates by itself; a file of ours has it elsewhere.
    pub(crate) auto_consolidate: Option<bool>,
}

impl KnowledgeSettings {
    pub(super) fn read(mut fields: ObjectReader) -> Result<KnowledgeSettings, ConfigError> {
        let types = fields.take_value("episode_types");
        let episode_types = match types {
            None => None,
            Some(value) => {
                Some(kinds_of(&value).map_err(|why| fields.error("episode_types", why))?)
            }
        };
        let settings = KnowledgeSettings {
            episode_types,
            ingest_buffer_size: fields.number_in("ingest_buffer_size", BUFFER)?,
            hybrid_keyword_weight: fields.fraction("hybrid_keyword_weight", 1.0)?,
            ..KnowledgeSettings::default()
        };
        fields.done().map(|()| settings)
    }

    /// Returns these settings without those that only a person decides.
    #[must_use]
    pub(crate) fn of_folder(self) -> KnowledgeSettings {
        KnowledgeSettings { consolidation_threshold: None, auto_consolidate: None, ..self }
    }

    /// Reads the variables of the environment; `variable` returns the text of one that is set.
    pub(crate) fn of_environment(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<KnowledgeSettings, String> {
        let [types, buffer, weight, threshold, automatic] = VARIABLES.map(|it| (it, variable(it)));
        let kinds = |(name, text): (&str, Option<String>)| match text {
            None => Ok(None),
            Some(text) => {
                let names = text.split(',').map(str::trim).filter(|it| !it.is_empty());
                let names: Value = names.collect();
                kinds_of(&names).map(Some).map_err(|why| format!("`{name}` {why}"))
            }
        };
        let number = |(name, text): (&str, Option<String>)| match text {
            None => Ok(None),
            Some(text) => match text.trim().parse::<f64>() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(format!("`{name}` must be a number, not `{}`", shown(&text))),
            },
        };
        let buffer_name = buffer.0;
        let buffer = number(buffer)?
            .map(|it| whole(it, BUFFER).map_err(|why| format!("`{buffer_name}` {why}")));
        let threshold_name = threshold.0;
        let threshold = number(threshold)?
            .map(|it| whole(it, THRESHOLD).map_err(|why| format!("`{threshold_name}` {why}")));
        let flag = |(name, text): (&str, Option<String>)| match text {
            None => Ok(None),
            Some(text) => match FLAGS.iter().find(|it| text.trim().eq_ignore_ascii_case(it.0)) {
                Some((_, flag)) => Ok(Some(*flag)),
                None => Err(format!("`{name}` must be true or false, not `{}`", shown(&text))),
            },
        };
        let weight_name = weight.0;
        let weight =
            number(weight)?.map(|it| share(it).map_err(|why| format!("`{weight_name}` {why}")));
        Ok(KnowledgeSettings {
            episode_types: kinds(types)?,
            ingest_buffer_size: buffer.transpose()?,
            hybrid_keyword_weight: weight.transpose()?,
            consolidation_threshold: threshold.transpose()?,
            auto_consolidate: flag(automatic)?,
        })
    }

    /// Reads a file of Remind; returns also what is wrong in it, and ignored.
    pub(crate) fn of_remind(text: &str) -> (KnowledgeSettings, Vec<String>) {
        let mut wrong = Vec::new();
        let file: Map<String, Value> = match serde_json::from_str(text) {
            Ok(file) => file,
            Err(error) => {
                return (KnowledgeSettings::default(), vec![format!("is no object: {error}")]);
            }
        };
        let mut told = |name: &str, why: String| {
            wrong.push(format!("`{name}` {why}"));
        };
        let mut settings = KnowledgeSettings::default();
        if let Some(value) = file.get("episode_types") {
            match kinds_of(value) {
                Ok(kinds) => settings.episode_types = Some(kinds),
                Err(why) => told("episode_types", why),
            }
        }
        let number = |name: &str| file.get(name).map(|it| it.as_f64().ok_or("must be a number"));
        for (name, range, setting) in [
            ("ingest_buffer_size", BUFFER, &mut settings.ingest_buffer_size),
            ("consolidation_threshold", THRESHOLD, &mut settings.consolidation_threshold),
        ] {
            let read = number(name).map(|it| it.map_err(str::to_owned));
            match read.map(|it| it.and_then(|it| whole(it, range))) {
                None => (),
                Some(Ok(number)) => *setting = Some(number),
                Some(Err(why)) => told(name, why),
            }
        }
        match file.get("auto_consolidate") {
            None => (),
            Some(Value::Bool(flag)) => settings.auto_consolidate = Some(*flag),
            Some(_) => told("auto_consolidate", "must be true or false".to_owned()),
        }
        match number("hybrid_keyword_weight").map(|it| it.map_err(str::to_owned).and_then(share)) {
            None => (),
            Some(Ok(weight)) => settings.hybrid_keyword_weight = Some(weight),
            Some(Err(why)) => told("hybrid_keyword_weight", why),
        }
        (settings, wrong)
    }

    /// Returns these settings, with those of the next source where nothing is set.
    pub(crate) fn or(self, next: &KnowledgeSettings) -> KnowledgeSettings {
        KnowledgeSettings {
            episode_types: self.episode_types.or_else(|| next.episode_types.clone()),
            ingest_buffer_size: self.ingest_buffer_size.or(next.ingest_buffer_size),
            hybrid_keyword_weight: self.hybrid_keyword_weight.or(next.hybrid_keyword_weight),
            consolidation_threshold: self.consolidation_threshold.or(next.consolidation_threshold),
            auto_consolidate: self.auto_consolidate.or(next.auto_consolidate),
        }
    }

    /// Returns the kinds of episodes: the known ones, then those that are named beside them.
    pub(crate) fn kinds(&self) -> Vec<&str> {
        let own = self.episode_types.iter().flatten().map(String::as_str);
        let own = own.filter(|it| !EPISODE_KINDS.contains(it));
        EPISODE_KINDS.iter().copied().chain(own).collect()
    }

    /// Returns the characters of raw text that are collected before they are divided.
    pub(crate) fn buffer_chars(&self) -> usize {
        self.ingest_buffer_size.unwrap_or(4_000) as usize
    }

    /// Returns the weight of words that occur at all.
    pub(crate) fn keyword_weight(&self) -> f64 {
        self.hybrid_keyword_weight.unwrap_or(0.3)
    }
}

fn kinds_of(value: &Value) -> Result<Vec<String>, String> {
    let items = value.as_array().ok_or("must be a list of names")?;
    if KINDS_MAX < items.len() {
        return Err(format!("has {} names; at most {KINDS_MAX} fit", items.len()));
    }
    let mut kinds = Vec::with_capacity(items.len());
    for item in items {
        let name = item.as_str().ok_or("must be a list of names")?;
        if !is_kind_name(name) {
            let why = "lower-case letters, digits, `-` and `_`";
            return Err(format!("has `{}`; a kind is {why}", shown(name)));
        }
        kinds.push(name.to_owned());
    }
    Ok(kinds)
}

/// Returns whether a text can name a kind of episodes.
fn is_kind_name(name: &str) -> bool {
    let is_inner = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b"-_".contains(&it);
    name.len() <= KIND_CHARS_MAX
        && name.starts_with(|it: char| it.is_ascii_lowercase())
        && name.bytes().all(is_inner)
}

fn whole(number: f64, (min, max): (u32, u32)) -> Result<u32, String> {
    let is_one = number.fract() == 0.0 && (f64::from(min)..=f64::from(max)).contains(&number);
    is_one
        .then_some(number as u32)
        .ok_or_else(|| format!("must be a whole number from {min} to {max}, not `{number}`"))
}

fn share(number: f64) -> Result<f64, String> {
    let is_one = (0.0..=1.0).contains(&number);
    is_one.then_some(number).ok_or_else(|| format!("must be from 0 to 1, not `{number}`"))
}

fn shown(text: &str) -> String {
    crate::text::truncate_chars(text, 40)
}

//! Texts of any content: the entities, names and values that are picked out of them.

use crate::model::contradicting_statement_values::StatementFeatures;
use crate::model::entity_extraction::{
    NamedEntity, PICKED_MAX, marked_entities, normal_name, possible_names,
};
use crate::model::topic_name_matching_and_slugs::{TopicNameMatch, TopicNameOrSlug, topic_slug};

/// Panics when what is picked out of `data` violates an invariant.
pub fn matcher(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let marked = marked_entities(&text);
    assert!(marked.len() <= PICKED_MAX, "{} entities", marked.len());
    for (nth, entity) in marked.iter().enumerate() {
        assert!(!entity.name.trim().is_empty(), "an entity without a name");
        let name = normal_name(&entity.name);
        assert!(
            marked[..nth].iter().all(|it| normal_name(&it.name) != name),
            "{name:?} is picked twice"
        );
        let again = NamedEntity::parse(&format!("{}:{}", entity.kind, entity.name));
        let again = again.expect("a kind and a name are an entity");
        assert_eq!(again.kind, entity.kind, "{entity:?}");
    }
    for name in possible_names(&text) {
        assert_eq!(normal_name(&name), name, "a possible name is compared as it is");
    }
    let slug = topic_slug(&text);
    assert_eq!(topic_slug(&slug), slug, "the slug of a slug");
    let found = TopicNameOrSlug::of(&slug).match_with(&text, None);
    assert!(found.is_some_and(|it| it <= TopicNameMatch::Slug), "{slug:?} leads to no topic");
    let (first, second) = text.split_at(text.floor_char_boundary(text.len() / 2));
    let (first, second) = (StatementFeatures::of(first), StatementFeatures::of(second));
    assert_eq!(first.may_contradict(&second), second.may_contradict(&first));
    assert!(!first.may_contradict(&first), "a statement contradicts itself");
}

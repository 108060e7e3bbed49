//! Settings: the configuration of a folder and of a user, and initial temperatures.

pub(crate) mod config;
pub(crate) mod initial_temperatures;
pub(crate) mod root_settings;

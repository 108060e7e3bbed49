#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| remindb::fuzzing::entity_and_value_extraction::matcher(data));

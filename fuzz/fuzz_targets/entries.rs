#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| remindb::fuzzing::rendered_answer_entries::entries(data));

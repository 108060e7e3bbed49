#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| remindb::fuzzing::log_part::log_part(data));

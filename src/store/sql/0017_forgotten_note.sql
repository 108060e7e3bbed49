-- Notes of other programs that were forgotten, so that no import adds them again. No text is in here.
CREATE TABLE forgotten_note (
    hash TEXT PRIMARY KEY             -- of the program's name and its name of the note
) STRICT, WITHOUT ROWID;

-- Rows.
CREATE TABLE row (
    key  TEXT PRIMARY KEY, -- its name; unique
    text TEXT NOT NULL
);

create trigger row_changed after update on row
begin
    insert into change (key) values (new.key);
end;
INSERT INTO row VALUES ('a;', 'b');

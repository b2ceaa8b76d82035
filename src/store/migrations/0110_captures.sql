-- What is trimmed gives its room to what comes next. Giving it back to the disk instead would hold up every capture.
alter table webhook_request set (vacuum_truncate = off, toast.vacuum_truncate = off);

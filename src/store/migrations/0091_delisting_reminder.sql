-- The one reminder of a mail that a list has not acted on. “open”: there may be one; “settled”: there will be none.
alter table delisting_step add column reminder text not null default 'open'
  check (reminder in ('open', 'due', 'claimed', 'settled'));
-- Who was asked before there were reminders is not reminded.
update delisting_step set reminder = 'settled' where request in ('made', 'unsure');

alter table delisting_request add column reminder boolean not null default false;
alter table delisting_request drop constraint delisting_request_step_id_attempt_key;
alter table delisting_request add unique (step_id, attempt, reminder);

-- When the password was last typed in a session: acts on accounts need that to be recent.
alter table session add column authenticated_at timestamptz;
update session set authenticated_at = created_at;
alter table session alter column authenticated_at set default now(), alter column authenticated_at set not null;

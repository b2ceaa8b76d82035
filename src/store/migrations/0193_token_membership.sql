-- A token ends with its creator’s membership: an account that joins again starts without tokens.
alter table api_token add foreign key (workspace_id, account_id) references membership on delete cascade;

-- The label of the token that made a change, because the entry outlives the token.
alter table audit_entry add column token_label text;

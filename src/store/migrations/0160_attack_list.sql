-- What has enough evidence for the list, but from networks whose independence only an administrator can judge.
alter table abuse_address add column confirmation text not null default 'none'
  check (confirmation in ('none', 'awaiting', 'confirmed'));
create index abuse_address_awaiting on abuse_address (networks desc, address) where confirmation = 'awaiting';

-- Who appeals, as a keyed pseudonym: one appeal of each about an address, so that none takes the place of another's.
alter table abuse_appeal add column appellant text not null default '';

-- Where in the dashboard one sees what an alert is about; empty for those raised before. Nothing that strangers chose gets in.
alter table alert add column path text not null default '' check (path ~ '^(/[a-z0-9-]+)*$');

-- The page of a domain has its name in its path: dots inside of a segment, never at its ends, and underscores.
alter table alert drop constraint alert_path_check;
alter table alert add constraint alert_path_check check (path ~ '^(/[a-z0-9_-]+(\.[a-z0-9_-]+)*)*$');
alter table alert_incident drop constraint alert_incident_path_check;
alter table alert_incident add constraint alert_incident_path_check check (path ~ '^(/[a-z0-9_-]+(\.[a-z0-9_-]+)*)*$');

-- without a transaction: so that checks are recorded while the indexes are created
-- A page of the hosts of a workspace by name, by problems of certificates, and by availability.
drop index concurrently if exists monitored_host_natural_name;
create index concurrently monitored_host_natural_name on monitored_host (workspace_id, natural_name(host));

drop index concurrently if exists monitored_fact_certificate_problem;
create index concurrently monitored_fact_certificate_problem on monitored_fact (host_id)
  where kind = 'certificate' and state <> 'valid';

drop index concurrently if exists monitored_period_not_clean;
create index concurrently monitored_period_not_clean on monitored_period (host_id) where state <> 'clean';

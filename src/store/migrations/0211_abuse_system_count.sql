-- Accepted reports by day, network of the attacker and service, for thirty days. Each instance counts in a lane of its
-- own, so that none waits.
create table abuse_system_count (
  day date not null,
  -- `AS64500`, or a prefix (IPv4 /16, IPv6 /32) that no autonomous system is known to announce.
  network text not null,
  name text not null,
  service text not null,
  lane integer not null,
  reports bigint not null,
  primary key (day, network, service, lane)
) with (fillfactor = 80);

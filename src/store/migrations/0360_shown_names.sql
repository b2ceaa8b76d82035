-- Names no longer have characters that are not shown or change how others are shown: the general
-- categories Cf, Zl and Zp. A space takes their place.
do $$
declare
  invisible constant text := '[\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f]+';
  place text[];
begin
  foreach place slice 1 in array array[
    ['abuse_range', 'label'], ['abuse_token', 'label'], ['account', 'name'], ['alert_channel', 'label'],
    ['alert_mute', 'label'], ['alert_mute', 'reason'], ['alert_rule', 'name'], ['api_token', 'label'],
    ['fleet_allowed', 'label'], ['fleet_ban', 'reason'], ['migration_batch', 'name'], ['monitored_host', 'label'],
    ['passkey', 'name'], ['watched_network', 'label'], ['webhook_endpoint', 'label'], ['workspace', 'name']]
  loop
    execute format('update %I set %I = regexp_replace(%I, %L, '' '', ''g'') where %I ~ %L',
      place[1], place[2], place[2], invisible, place[2], invisible);
  end loop;
  update workspace set name = 'Workspace' where btrim(name) = '';
end $$;

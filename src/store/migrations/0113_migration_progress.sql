-- What later versions came to write of a migration, for those that were made before: sizes, speed, warnings, notes.
update migration set
  options = '{"allMailOnce": false}' || options,
  progress = '{"bytesTotal": null, "bytesPerSecond": 0, "warnings": [], "notes": []}' || progress || jsonb_build_object(
    'folderProgress',
    (select coalesce(jsonb_object_agg(key, '{"bytesTotal": null}' || value), '{}')
     from jsonb_each(progress -> 'folderProgress')));

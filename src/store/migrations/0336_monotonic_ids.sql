-- Ids of one millisecond sort as they were made: RFC 9562, 6.2, method 3. The 12 bits after the milliseconds count 4096ths of a
-- millisecond. The clock has steps of a microsecond, and a connection makes several ids in one; so it remembers its last id’s
-- time, and each id is at least a step later, also when the clock was set back. Parallel workers do not share that memory.
create or replace function uuid_v7() returns uuid language sql volatile parallel unsafe as $$
  select (
    overlay(
      lpad(
        to_hex(
          set_config(
            'portreeve.uuid_time',
            greatest(
              coalesce(nullif(current_setting('portreeve.uuid_time', true), '')::bigint, 0) + 1,
              floor(extract(epoch from clock_timestamp()) * 4096000)::bigint
            )::text,
            false
          )::bigint
        ),
        15, '0'
      )
      placing '7' from 13 for 0
    )
    || substring(gen_random_uuid()::text from 20)
  )::uuid
$$;

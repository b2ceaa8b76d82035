import type { Pool } from 'pg'
import { COUNTS } from '../../src/dmarc/statistics/tally.ts'
import { RECORDS_PER_PART } from '../../src/dmarc/limits.ts'
import type { Task } from './lanes.ts'
import { DMARC_DAYS, DOMAINS, LARGEST, idSql, workspaceSql, type Sizes } from './sizes.ts'

const REPORTERS = 10
/** Records of a report about one of the other domains. */
const RECORDS = 20
const NAMES = COUNTS.join(', ')

/** A task for each day, oldest first. The first day has expired. */
export function dmarcTasks(pool: Pool, sizes: Sizes): Task[] {
  const days = Array.from({ length: DMARC_DAYS }, (_, index) => DMARC_DAYS - index)
  return days.map((daysAgo) => async () => {
    await pool.query(insertDay(sizes, daysAgo))
  })
}

/**
 * The reports of one day: ten about the largest domain, the others about domains of which the first
 * have most. The counts are summed from the records.
 */
function insertDay({ records, largestDomainRecords }: Sizes, daysAgo: number): string {
  const large = Math.round(largestDomainRecords / DMARC_DAYS / REPORTERS)
  const others = Math.round((records - largestDomainRecords) / DMARC_DAYS / RECORDS)
  const begins = `(current_date - ${daysAgo})::timestamp at time zone 'UTC'`
  return `
    with report as materialized (
      select gen_random_uuid() as id, r, case when r <= ${REPORTERS} then 1 else 2 + floor(${DOMAINS - 1} * power(random(), 2))::integer end as d,
        case when r <= ${REPORTERS} then ${large} else ${RECORDS} end as records,
        'reporter' || r % ${REPORTERS} || '.example' as reporter, ${begins} + interval '30 hours' + r * interval '1 millisecond' as received
      from generate_series(1, ${REPORTERS + others}) r
    ),
    record as materialized (
      select r.id, r.d, n, (n - 1) / ${RECORDS_PER_PART} as part, source, dkim, spf, count
      from report r cross join lateral generate_series(1, records) n
      cross join lateral (select '62.0.0.0'::inet + r.d * 64 + case when r.d = 1 then floor(20000 * power(random(), 2))::integer + 1000000 else n end as source,
        (n + r.r) % 12 > 0 as dkim, n % 9 > 0 as spf, 1 + floor(200 * power(random(), 6))::integer as count) v
    ),
    summed as (
      select id, sum(count) as messages, sum(count) filter (where dkim or spf) as aligned from record group by id
    ),
    deliveries as (
      insert into dmarc_delivery (id, workspace_id, via, name, content, received_at)
      select id, ${workspaceSql('d', LARGEST.domains)}, 'smtp', reporter || '.xml.gz',
        ${daysAgo <= 30 ? `decode(repeat(md5(id::text), 60), 'hex')` : 'null'}, received from report
    ),
    reports as (
      insert into dmarc_report (id, domain_id, delivery_id, key, org_name, report_id, begins_at, ends_at, record_count,
        messages, aligned, outside, detail, received_at)
      select id, ${idSql('domain', 'd')}, id, id::text, reporter, id::text, ${begins}, ${begins} + interval '1 day', records,
        messages, coalesce(aligned, 0), 0, jsonb_build_object('email', 'dmarc@' || reporter, 'extraContactInfo', null, 'errors', array[]::text[],
          'policyPublished', jsonb_build_object('domain', 'customer' || d || '.example', 'discoveryMethod', null, 'p', 'quarantine',
            'sp', null, 'np', null, 'adkim', 'r', 'aspf', 'r', 'pct', '100', 'fo', null, 'testing', null),
          'version', '1.0', 'generator', null, 'namespace', null, 'skippedRecords', 0, 'warnings', array[]::text[],
          'disposition', jsonb_build_object('none', messages, 'quarantine', 0, 'reject', 0)), received
      from report join summed using (id)
    ),
    parts as (
      insert into dmarc_records (report_id, part, records, sources, passed)
      select id, part, ('[' || string_agg(${RECORD}, ',' order by n) || ']')::json, array_agg(source order by n),
        string_agg(case when dkim or spf then '1' else '0' end, '' order by n) from record group by id, part
    ),
    sources as (
      insert into dmarc_source_day (domain_id, day, source, ${NAMES})
      select ${idSql('domain', 'd')}, current_date - ${daysAgo}, source, ${COUNTED} from record group by d, source
    )
    insert into dmarc_reporter_day (domain_id, day, reporter, reports, ${NAMES})
    select ${idSql('domain', 'd')}, current_date - ${daysAgo}, reporter, count(distinct id), ${COUNTED}
    from record join report using (id, d) group by d, reporter`
}

const COUNTED = `sum(count), coalesce(sum(count) filter (where dkim or spf), 0), coalesce(sum(count) filter (where dkim), 0),
  coalesce(sum(count) filter (where spf), 0), 0, 0, 0`

/** As JSON, as the intake writes it. */
const RECORD = `'{"sourceIp":"' || host(source) || '","count":' || count || ',"policyEvaluated":{"disposition":"none","dkim":"'
  || case when dkim then 'pass' else 'fail' end || '","spf":"' || case when spf then 'pass' else 'fail' end
  || '","reasons":[]},"identifiers":{"headerFrom":"customer' || d || '.example","envelopeFrom":"customer' || d
  || '.example","envelopeTo":null},"authResults":{"dkim":[{"domain":"customer' || d || '.example","selector":"s1","result":"'
  || case when dkim then 'pass' else 'fail' end || '","humanResult":null}],"spf":[{"domain":"customer' || d
  || '.example","scope":"mfrom","result":"' || case when spf then 'pass' else 'fail' end || '","humanResult":null}]}}'`

/** The domains, and what is summed over their days. */
export async function fillDomains(pool: Pool): Promise<void> {
  const sums = COUNTS.map((name) => `sum(${name})`).join(', ')
  await pool.query(`
    insert into dmarc_domain (id, workspace_id, domain, mailbox, challenge, verified_at, verified_by, checked_at,
      total_reports, last_report_at)
    select ${idSql('domain', 'n')}, ${workspaceSql('n', LARGEST.domains)}, 'customer' || n || '.example', 'box' || n,
      'challenge' || n, now(), 'txt', now(), coalesce(reports, 0), received
    from generate_series(1, ${DOMAINS}) n left join (
      select domain_id, count(*) as reports, max(received_at) as received from dmarc_report group by domain_id) r
      on domain_id = ${idSql('domain', 'n')};
    insert into dmarc_source_month (domain_id, month, source, first_day, last_day, ${NAMES})
    select domain_id, date_trunc('month', day)::date, source, min(day), max(day), ${sums} from dmarc_source_day group by 1, 2, 3;
    insert into dmarc_selector (domain_id, signer, selector, messages, passed, last_day)
    select id, domain, 's1', total_reports * 100, total_reports * 90, current_date from dmarc_domain;
    insert into dmarc_address (address, reverse_name, confirmed, asked_at)
    select source, 'mail' || row_number() over () || '.sender' || row_number() over () % 5000 || '.example', true, now()
    from (select distinct source from dmarc_source_month) s;
    insert into workspace_usage (workspace_id, report_bytes)
    select workspace_id, sum(length(content)) from dmarc_delivery where content is not null group by 1
    on conflict (workspace_id) do update set report_bytes = excluded.report_bytes`)
}

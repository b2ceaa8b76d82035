import type { Pool } from 'pg'

export const KNOWN = 1_000_000
export const LISTED = 250_000
export const RANGES = 20_000

/** The n-th of the known addresses: public, and spread over the Internet. */
export function knownAddress(n: number): string {
  const mixed = (n * 7_919) % 16_000_000
  return `${41 + (mixed >> 20)}.${(mixed >> 12) & 255}.${(mixed >> 4) & 255}.${(mixed & 15) * 16 + 1}`
}

/**
 * A million addresses with evidence of two or three networks, a quarter of them listed, and a
 * whitelist. The list is not yet written.
 */
export async function seed(pool: Pool): Promise<void> {
  await pool.query(`
    insert into abuse_address (address, state, score, confidence, evidence, services, networks, total_reports,
      first_reported_at, last_reported_at, due_at, revision)
    select address, case when n < ${LISTED} then 'listed' else 'watchlist' end, case when n < ${LISTED} then 72.7 else 37.8 end,
      'medium',
      json_build_array(${[1, 2].map(entry).join(',')}), array['ssh', 'imap'], 2, 2, now() - interval '1 day',
      now() - interval '1 hour', case when n < ${LISTED} then date_trunc('hour', now()) + interval '1 hour' else date_trunc('day', now()) + interval '2 days' end, 1
    from (
      select n, (41 + (m >> 20) || '.' || ((m >> 12) & 255) || '.' || ((m >> 4) & 255) || '.' || ((m & 15) * 16 + 1))::inet
        as address from (select n, (n::bigint * 7919 % 16000000)::int as m from generate_series(0, ${KNOWN - 1}) as n) as a
    ) as addresses`)
  await pool.query(`
    insert into abuse_range (kind, cidr, label)
    select 'whitelist', set_masklen(('23.' || (n >> 8) || '.' || (n & 255) || '.0')::inet, 24 + n % 9)::cidr, 'bench'
    from generate_series(0, ${RANGES - 1}) as n`)
  // Simulates an earlier list of this size, because the first large list waits for an
  // administrator.
  await pool.query(
    `update abuse_snapshot set count = ${LISTED}, created_at = now() - interval '1 hour'`,
  )
  await pool.query('vacuum analyze')
}

/** In the order in which evidence is stored. */
function entry(which: number): string {
  const at = `floor(extract(epoch from now()) * 1000)::bigint - ${which} * 3600000`
  return `json_build_array('netw' || (n % 1000) || 'xx${which}', 'orig' || (n % 300) || 'xx${which}',
    '${which === 1 ? 'ssh' : 'imap'}', case when n < ${LISTED} then 'established' else 'new' end, 0, 20, ${at}, ${at}, ${at}, 1, 20, 22)`
}

import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { Fact } from './observation.ts'

export const MONITORED_KINDS = ['blacklist', 'certificate', 'dns'] as const
export type MonitoredKind = (typeof MONITORED_KINDS)[number]

export type FactRow = Fact & { hostId: string; kind: MonitoredKind; subject: string }

export async function listFacts(db: Db, hostIds: string[]): Promise<FactRow[]> {
  const rows = await db
    .selectFrom('monitoredFact')
    .selectAll()
    .where('hostId', 'in', hostIds)
    .execute()
  return rows as FactRow[]
}

export type FirstCertificateRow = { hostId: string; state: string; validTo: string }

/**
 * Lists one certificate per host: of those with a problem, or else of all, the one that expires
 * first.
 */
export async function listFirstCertificates(
  db: Db,
  hostIds: string[],
): Promise<FirstCertificateRow[]> {
  const { rows } = await sql<FirstCertificateRow>`
    select distinct on (host_id) host_id, state, detail->>'validTo' as valid_to
    from monitored_fact
    where host_id = any(${hostIds}) and kind = 'certificate' and detail->>'validTo' is not null
    order by host_id, state = 'valid', detail->>'validTo'`.execute(db)
  return rows
}

export async function saveFact(
  db: Db,
  { hostId, kind, subject, detail, ...fact }: FactRow,
): Promise<void> {
  const changed = { ...fact, detail: JSON.stringify(detail) }
  await db
    .insertInto('monitoredFact')
    .values({ hostId, kind, subject, ...changed })
    .onConflict((conflict) => conflict.columns(['hostId', 'kind', 'subject']).doUpdateSet(changed))
    .execute()
}

export async function deleteFact(
  db: Db,
  { hostId, kind, subject }: Pick<FactRow, 'hostId' | 'kind' | 'subject'>,
) {
  await db
    .deleteFrom('monitoredFact')
    .where('hostId', '=', hostId)
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .execute()
}

import type { Db } from '../../store/database.ts'
import { deleteRows } from '../../store/row.ts'
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
  await deleteRows(db, 'monitoredFact', { hostId, kind, subject })
}

import type { Kysely } from 'kysely'
import { planImport, readEntries, reportImport } from '../../http/import-entries.ts'
import type { ImportReport } from '../../http/shapes.ts'
import { notifyChange } from '../../store/changes.ts'
import { listKnownNames } from '../../store/known-names.ts'
import type { DB } from '../../store/tables.ts'
import { MAX_DOMAINS } from '../limits.ts'
import { alreadyRegistered, DOMAINS_LIMIT_MESSAGE, newProof, registrable } from './domains.ts'
import { countDomains, insertDomains } from './dmarc-domains.sql.ts'

/** Registers several domains in one transaction. Each entry has its own result. */
export async function importDomains(
  db: Kysely<DB>,
  workspaceId: string,
  entries: { domain: string }[],
): Promise<ImportReport> {
  const read = readEntries(entries, ({ domain }) => domain, registrable)
  const names = read.flatMap(({ name }) => (name === null ? [] : [name]))
  return db.transaction().execute(async (trx) => {
    const free = MAX_DOMAINS - (await countDomains(trx, workspaceId))
    const rules = {
      known: await listKnownNames(trx, 'dmarcDomain', workspaceId, names),
      free,
      limitMessage: DOMAINS_LIMIT_MESSAGE,
      existsMessage: alreadyRegistered,
    }
    const planned = planImport(read, rules)
    const inserted = await insertDomains(
      trx,
      planned.flatMap(({ status, name }) =>
        status === 'added' && name !== null ? [{ workspaceId, domain: name, ...newProof() }] : [],
      ),
    )
    if (inserted.length > 0) await notifyChange(trx, workspaceId, 'dmarc')
    return reportImport(planned, new Map(inserted.map(({ domain, id }) => [domain, id])), rules)
  })
}

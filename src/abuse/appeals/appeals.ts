import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../../errors.ts'
import { ADMINISTRATORS, tellChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { countRequest } from '../intake/store.ts'
import type { Reporter } from '../reporter.ts'
import { insertRefutations } from '../reputation/store.ts'
import { lockAddress, saveAddresses, type AddressRow } from '../store.ts'
import { decideAppeal, hasAppeal, hasAppealSince, insertAppeal, type AppealRow } from './store.ts'
import type { Subject } from '../subject.ts'

const DAY = 86_400_000
/** Days in which it takes more to be listed again. */
const PROBATION = 14 * DAY
/** Who appealed within this time waits for a person. */
const ONCE_PER = 30 * DAY
const APPEALS_A_DAY = 10

export type Appeal = { subject: Subject; reason: string; reporter: Reporter }

/**
 * Somebody says that a listing is wrong. From the listed address itself it is believed, once in thirty days; else an
 * administrator decides.
 * @throws Fault `conflict` when the address is not listed or an appeal waits already, `rate_limited`
 */
export async function appeal(db: Kysely<DB>, { subject, reason, reporter }: Appeal, now: number): Promise<AppealRow> {
  await limit(db, reporter, now)
  return db.transaction().execute(async (trx) => {
    const row = await lockAddress(trx, subject.key)
    if (row?.state !== 'listed') throw new Fault('conflict', `${subject.ip} is not on the list.`)
    const own = reporter.key === subject.key
    const again = await hasAppealSince(trx, subject.key, new Date(now - ONCE_PER))
    if (again && !own) throw new Fault('conflict', againSentence(subject.ip))
    const status = own && !again ? 'granted' : 'open'
    if (status === 'granted') await acquit(trx, row, now)
    await tellChange(trx, ADMINISTRATORS, 'administration')
    return insertAppeal(trx, { address: subject.key, reason, own, status })
  })
}

function againSentence(ip: string): string {
  return `An appeal for ${ip} was made within the last thirty days already. Another is taken from ${ip} itself only.`
}

async function limit(db: Kysely<DB>, { source }: Reporter, now: number): Promise<void> {
  const times = { now: new Date(now), windowStart: new Date(now - DAY) }
  if ((await countRequest(db, `appeal ${source}`, times)) > APPEALS_A_DAY)
    throw new Fault('rate_limited', `At most ${APPEALS_A_DAY} appeals a day.`, { retryAfter: DAY / 1000 })
}

/**
 * An administrator's word. Upheld, it costs every network that supported the listing.
 * @throws Fault `not_found`, `conflict` when it is decided already
 */
export async function decide(db: Kysely<DB>, id: string, upheld: boolean, now: number): Promise<AppealRow> {
  return db.transaction().execute(async (trx) => {
    const decided = await decideAppeal(trx, id, upheld ? 'upheld' : 'rejected')
    if (!decided && (await hasAppeal(trx, id))) throw new Fault('conflict', 'This appeal is decided already.')
    if (!decided) throw new Fault('not_found', 'There is no such appeal.')
    const row = upheld ? await lockAddress(trx, decided.address) : undefined
    if (row) {
      const networks = [...new Set(row.evidence.map(({ network }) => network))]
      const refutations = networks.map((network) => ({ network, address: row.address, cause: 'appeal' as const }))
      await insertRefutations(trx, refutations, new Date(now))
      await acquit(trx, row, now)
    }
    return decided
  })
}

/** Off the list, without evidence: who reports it now begins anew. */
async function acquit(trx: Transaction<DB>, row: AddressRow, now: number): Promise<void> {
  const acquitted: AddressRow = {
    ...row,
    state: 'delisted',
    score: 0,
    confidence: 'none',
    evidence: [],
    services: [],
    networks: 0,
    probationUntil: new Date(now + PROBATION),
  }
  await saveAddresses(trx, [acquitted])
}

import type { Kysely } from 'kysely'
import { raiseAlert, raiseResolved } from '../../alerts/raise.ts'
import type { DB } from '../../store/tables.ts'
import { SPAM_RATE_FORGET_DAYS } from '../limits.ts'
import { endedAlert, spamRateAlert } from './messages.ts'
import {
  deleteSpamRateAlert,
  listForgottenSpamRates,
  lockSpamRateAlert,
  saveSpamRateAlert,
} from './spam-rate-alerts.sql.ts'
import type { KnownSpamRate } from './spam-rate.ts'

/** Raises, changes or resolves the alert about the spam rate of a domain at a provider. */
export async function recordSpamRate(db: Kysely<DB>, known: KnownSpamRate): Promise<void> {
  const { level } = known
  await db.transaction().execute(async (trx) => {
    const before = await lockSpamRateAlert(trx, known)
    if (level === null) {
      if (!before) return
      await deleteSpamRateAlert(trx, known)
      await raiseResolved(trx, endedAlert(before, known))
      return
    }
    const row = await saveSpamRateAlert(trx, known, level)
    if (before?.level !== level) await raiseAlert(trx, spamRateAlert(row, known, before?.level))
  })
}

/** Ends alerts about rates of which nothing has been known for long. */
export async function forgetSpamRates(db: Kysely<DB>): Promise<void> {
  for (const row of await listForgottenSpamRates(db, SPAM_RATE_FORGET_DAYS)) {
    await db.transaction().execute(async (trx) => {
      if (!(await lockSpamRateAlert(trx, row))) return
      await deleteSpamRateAlert(trx, row)
      await raiseResolved(trx, endedAlert(row, null))
    })
  }
}

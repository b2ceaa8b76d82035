import type { Db } from '../../store/database.ts'
import type { Readiness } from '../steps/state-machine.ts'
import { countOthersOpen, type StepRow } from '../steps/store.ts'
import { cooldownMs, DAY_MS, addMs, USER_PAUSE_MS } from '../steps/timing.ts'
import { countMails, findLastRequest } from './store.ts'

/** Mails to one address within a day, of the whole installation and of one account: operators are volunteers. */
const MAX_MAILS_PER_DAY = { installation: 10, account: 5 }

/** Why a list is not asked yet about an address, and until when; null when it may be asked. */
export async function findDelay(db: Db, ip: string, step: StepRow, now: Date): Promise<Readiness['wait']> {
  const { zone, name, plan } = step
  if (plan.last && (await countOthersOpen(db, step)) > 0) {
    const why = `${name} removes only what no other list has any more: its turn comes when the others are done.`
    return { until: addMs(now, USER_PAUSE_MS), why }
  }
  const before = await findLastRequest(db, ip, zone)
  const until = before && addMs(before, cooldownMs(step))
  if (until && until > now) {
    const why = `${name} was asked about ${ip} on ${dayOf(before)}, and is not asked again before ${dayOf(until)}.`
    return { until, why }
  }
  if (plan.email === undefined) return null
  const mails = await countMails(db, plan.email, step.processId, addMs(now, -DAY_MS))
  if (mails.all < MAX_MAILS_PER_DAY.installation && mails.ofAccount < MAX_MAILS_PER_DAY.account) return null
  return {
    until: addMs(now, USER_PAUSE_MS),
    why: `${plan.email} has received today’s limit of mails. This one is sent later.`,
  }
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}

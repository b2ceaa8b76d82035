import type { Db } from '../../store/database.ts'
import type { RequestReadiness } from '../steps/state-machine.ts'
import { countOthersOpen, type StepRow } from '../steps/delisting-steps.sql.ts'
import { cooldownMs, addMs, USER_PAUSE_MS } from '../steps/timing.ts'
import { DAY_MS, isoDay } from '../../time.ts'
import { countMails, findLastRequest } from './delisting-requests.sql.ts'

/**
 * Emails to one operator within a day, of the installation and of one account: operators are
 * volunteers.
 */
const MAX_MAILS_PER_DAY = { installation: 10, account: 5 }

/** Finds why the request must wait, and until when; null when it may be made now. */
export async function findDelay(
  db: Db,
  ip: string,
  step: StepRow,
  now: Date,
): Promise<RequestReadiness['wait']> {
  const { zone, name, plan } = step
  if (plan.last && (await countOthersOpen(db, step)) > 0) {
    const why = `${name} removes an address only when no other list has it. This step continues after the others.`
    return { until: addMs(now, USER_PAUSE_MS), why }
  }
  const before = await findLastRequest(db, ip, zone)
  const until = before && addMs(before, cooldownMs(step))
  if (until && until > now) {
    const why = `Removal of ${ip} from ${name} was requested on ${isoDay(before)}. The next request is possible on ${isoDay(until)}.`
    return { until, why }
  }
  if (plan.email === undefined) return null
  const mails = await countMails(db, plan.email, step.processId, addMs(now, -DAY_MS))
  if (mails.all < MAX_MAILS_PER_DAY.installation && mails.ofAccount < MAX_MAILS_PER_DAY.account)
    return null
  return {
    until: addMs(now, USER_PAUSE_MS),
    why: `The daily limit of emails to ${plan.email} is reached. Portreeve sends this one later.`,
  }
}

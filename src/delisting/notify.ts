import type { Kysely } from 'kysely'
import type { NewAlert } from '../alerts/raise.ts'
import type { Db } from '../store/database.ts'
import type { DB } from '../store/tables.ts'
import { claimUnnotified, listSteps, listUnnotified, type StepRow } from './steps/store.ts'
import type { ProcessRow } from './store.ts'
import { describeNextStep } from './messages.ts'

/** Tells an account, once for each key; in the caller's transaction. */
export type RaiseAlert = (db: Db, alert: NewAlert) => Promise<unknown>

export type NotifyDeps = {
  db: Kysely<DB>
  raiseAlert: RaiseAlert
  now: () => Date
  /** Whether the account is told by other means that these lists have let the address go. */
  isToldElsewhere: (db: Db, process: ProcessRow, zones: string[]) => Promise<boolean>
}

/** Tells that a process has ended, unless all is well and the watch of the address says so: nobody wants that twice. */
export async function notifyEnd(db: Db, deps: NotifyDeps, process: ProcessRow): Promise<void> {
  const steps = await listSteps(db, [process.id])
  const zones = steps.map(({ zone }) => zone)
  if (process.status === 'completed' && (await deps.isToldElsewhere(db, process, zones))) return
  await deps.raiseAlert(db, endAlert(process, steps, deps.now()))
}

function endAlert(process: ProcessRow, steps: StepRow[], at: Date): NewAlert {
  const left = steps.filter(({ status }) => status !== 'completed')
  const { accountId, ip, status, id } = process
  const common = {
    accountId,
    kind: `delisting.${status}`,
    key: `delisting/${id}/${at.toISOString()}`,
    path: `/delisting/${id}`,
    at,
  }
  if (left.length === 0) {
    const text = `${namesOf(steps)} ${steps.length === 1 ? 'does' : 'do'} not list ${ip} any more.`
    return { ...common, title: `${ip} is off the blacklists`, text, nextStep: '' }
  }
  return {
    ...common,
    title: `${ip} is still on ${countOf(left.length)}`,
    text: `The delisting of ${ip} has ended; ${steps.length - left.length} of ${steps.length} lists let it go.`,
    nextStep: left.map((step) => `${step.name}: ${describeNextStep(step)}`).join('\n'),
  }
}

/** Tells every account whose delisting waits for a person what it waits for, once. */
export async function notifyNeeds({ db, raiseAlert, now }: NotifyDeps): Promise<void> {
  for (const processId of await listUnnotified(db)) {
    await db.transaction().execute(async (trx) => {
      const { process, steps } = await claimUnnotified(trx, processId)
      if (steps.length > 0) await raiseAlert(trx, needAlert(process, steps, now()))
    })
  }
}

function needAlert({ accountId, id, ip }: ProcessRow, steps: StepRow[], at: Date): NewAlert {
  const stepIds = steps.map((step) => step.id).join('+')
  return {
    accountId,
    kind: 'delisting.needs-you',
    key: `delisting/${id}/needs/${at.toISOString()}/${stepIds}`,
    title: `The delisting of ${ip} needs you`,
    text: `${namesOf(steps)} ${steps.length === 1 ? 'waits' : 'wait'} for something that only you can do.`,
    nextStep: steps.map((step) => `${step.name}: ${describeNextStep(step)}`).join('\n'),
    path: `/delisting/${id}`,
    at,
  }
}

function countOf(lists: number): string {
  return lists === 1 ? 'one blacklist' : `${lists} blacklists`
}

function namesOf(steps: StepRow[]): string {
  const names = steps.map(({ name }) => name)
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

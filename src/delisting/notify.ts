import type { Kysely } from 'kysely'
import type { NewAlert } from '../alerts/raise.ts'
import type { Db } from '../store/database.ts'
import type { DB } from '../store/tables.ts'
import {
  claimUnnotified,
  listSteps,
  listUnnotified,
  type StepRow,
} from './steps/delisting-steps.sql.ts'
import type { ProcessRow } from './delistings.sql.ts'
import { describeNextStep } from './messages.ts'

/** Raises an alert for a workspace, once per key, in the caller’s transaction. */
export type RaiseAlert = (db: Db, alert: NewAlert) => Promise<unknown>

export type NotifyDeps = {
  db: Kysely<DB>
  raiseAlert: RaiseAlert
  now: () => Date
  /** Closes an incident without an alert, where it is open. */
  closeIncident: (db: Db, workspaceId: string, incident: string) => Promise<void>
  /** Whether a monitored host of the workspace reports the end of these listings. */
  isToldElsewhere: (db: Db, process: ProcessRow, zones: string[]) => Promise<boolean>
}

/**
 * Raises an alert for the end of a process. A completed one is left to the monitored host, where
 * there is one, so that the workspace does not get two alerts.
 */
export async function notifyEnd(db: Db, deps: NotifyDeps, process: ProcessRow): Promise<void> {
  const steps = await listSteps(db, [process.id])
  const zones = steps.map(({ zone }) => zone)
  if (process.status === 'completed' && (await deps.isToldElsewhere(db, process, zones)))
    return deps.closeIncident(db, process.workspaceId, incidentOf(process))
  await deps.raiseAlert(db, endAlert(process, steps, deps.now()))
}

/** A new delisting of an address continues the incident of the last one. */
function incidentOf({ ip }: Pick<ProcessRow, 'ip'>): string {
  return `delisting/${ip}`
}

function endAlert(process: ProcessRow, steps: StepRow[], at: Date): NewAlert {
  const left = steps.filter(({ status }) => status !== 'completed')
  const { workspaceId, ip, status, id } = process
  const common = {
    workspaceId,
    kind: `delisting.${status}`,
    key: `delisting/${id}/${at.toISOString()}`,
    incident: incidentOf(process),
    path: `/delisting/${id}`,
    objects: [ip],
    at,
  }
  if (left.length === 0) {
    const text = `${namesOf(steps)} no longer ${steps.length === 1 ? 'lists' : 'list'} ${ip}.`
    return {
      ...common,
      phase: 'resolved',
      severity: 'info',
      title: `${ip} is delisted`,
      text,
      nextStep: '',
    }
  }
  return {
    ...common,
    // It stays open until a retry or another delisting of this address completes.
    phase: 'update',
    severity: 'error',
    title: `${ip} is still on ${countOf(left.length)}`,
    text: `The delisting of ${ip} has ended: ${steps.length - left.length} of ${steps.length} lists removed it.`,
    nextStep: left.map((step) => `${step.name}: ${describeNextStep(step)}`).join('\n'),
  }
}

/** Raises one alert for the steps of each process that need the user’s action. */
export async function notifyNeeds({ db, raiseAlert, now }: NotifyDeps): Promise<void> {
  for (const processId of await listUnnotified(db)) {
    await db.transaction().execute(async (trx) => {
      const { process, steps } = await claimUnnotified(trx, processId)
      if (steps.length > 0) await raiseAlert(trx, needAlert(process, steps, now()))
    })
  }
}

function needAlert({ workspaceId, id, ip }: ProcessRow, steps: StepRow[], at: Date): NewAlert {
  const stepIds = steps.map((step) => step.id).join('+')
  return {
    workspaceId,
    kind: 'delisting.needs-you',
    key: `delisting/${id}/needs/${at.toISOString()}/${stepIds}`,
    incident: incidentOf({ ip }),
    phase: 'open',
    severity: 'warning',
    title: `Delisting ${ip}: action needed`,
    text: `${steps.length} ${steps.length === 1 ? 'step needs' : 'steps need'} your action: ${namesOf(steps)}.`,
    nextStep: steps.map((step) => `${step.name}: ${describeNextStep(step)}`).join('\n'),
    path: `/delisting/${id}`,
    objects: [ip],
    at,
  }
}

function countOf(lists: number): string {
  return lists === 1 ? '1 blocklist' : `${lists} blocklists`
}

function namesOf(steps: StepRow[]): string {
  const names = steps.map(({ name }) => name)
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

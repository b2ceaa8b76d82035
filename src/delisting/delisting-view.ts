import type { Db } from '../store/database.ts'
import { letterOf } from './requests/send.ts'
import {
  listDelistingRequests,
  type DelistingRequestRow,
} from './requests/delisting-requests.sql.ts'
import { listStepEvents, listSteps, type StepRow } from './steps/delisting-steps.sql.ts'
import type { ProcessRow } from './delistings.sql.ts'
import { describeNextStep } from './messages.ts'

/** Processes in the shape of the API. */
export async function presentProcesses(db: Db, processes: ProcessRow[]) {
  const ids = processes.map(({ id }) => id)
  const steps = ids.length > 0 ? await listSteps(db, ids) : []
  const requests =
    steps.length > 0
      ? await listDelistingRequests(
          db,
          steps.map(({ id }) => id),
        )
      : []
  const requestOf = new Map(requests.map((request) => [request.stepId, request]))
  const stepsOf = Map.groupBy(steps, ({ processId }) => processId)
  return processes.map((process) =>
    presentProcess(process, stepsOf.get(process.id) ?? [], requestOf),
  )
}

/** A process with its events, in the shape of the API. */
export async function presentWithHistory(db: Db, process: ProcessRow) {
  const [shown] = await presentProcesses(db, [process])
  return { ...shown, events: await listStepEvents(db, process.id) }
}

function presentProcess(
  process: ProcessRow,
  steps: StepRow[],
  requestOf: Map<string, DelistingRequestRow>,
) {
  const { askedCount, unknownCount, ...rest } = process
  return {
    ...rest,
    totalListings: steps.length,
    stepsCompleted: steps.filter(({ status }) => status === 'completed').length,
    stepsRunning: steps.filter(({ status }) => status === 'running').length,
    listsAsked: askedCount,
    listsUnknown: unknownCount,
    steps: steps.map((step) => presentStep(process, step, requestOf.get(step.id))),
  }
}

function presentStep(process: ProcessRow, step: StepRow, request: DelistingRequestRow | undefined) {
  return {
    ...step,
    blacklistName: step.name,
    dnsbl: step.zone,
    url: step.plan.url ?? null,
    nextStep: describeNextStep(step),
    request: step.method === 'automatic' ? null : presentRequest(process, step, request),
    nextCheckAt: step.nextAt,
  }
}

/** The text to send or paste; after sending, the text that was sent. */
function presentRequest(
  process: ProcessRow,
  step: StepRow,
  request: DelistingRequestRow | undefined,
) {
  const made = request?.attempt === step.attempt ? request : undefined
  return {
    to: step.plan.email ?? null,
    ...letterOf(process, step),
    state: made?.state ?? 'none',
    at: made?.at ?? null,
    messageId: made?.messageId ?? null,
    reply: made?.reply ?? null,
  }
}

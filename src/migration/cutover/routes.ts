import { Type } from 'typebox'
import { addAuditDetails } from '../../accounts/audit/record-change.ts'
import { callerOf } from '../../http/auth.ts'
import { responses, Success, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { BatchName } from '../batches/batch-actions.ts'
import { requireBatch } from '../batches/find-batch.ts'
import {
  cancelCutover,
  checkNow,
  confirmStep,
  createCutover,
  startFinal,
  type CutoverDeps,
} from './cutover-actions.ts'
import { CutoverStepName, FoundCutover, NewCutover, CutoverConfirmation } from './shapes.ts'
import { findShownCutover } from './cutover-view.ts'

const params = Type.Object({ id: Uuid })
const path = '/api/v1/imap/batches/:id/cutover'

/** Registers the routes of the cut-over of a batch. */
export function cutoverRoutes(app: App, deps: CutoverDeps): void {
  const show = async (name: BatchName) => ({
    success: true as const,
    data: await findShownCutover(deps.db, name.id),
  })
  app.get(
    path,
    {
      schema: {
        summary: 'Get the cut-over of a batch',
        description:
          'Its steps, what was seen in each, and what is open; null before there is one.',
        operationId: 'getMigrationCutover',
        params,
        response: responses(Success(FoundCutover)),
      },
    },
    async (request) => {
      const name = nameOf(request)
      await requireBatch(deps.db, name)
      return show(name)
    },
  )
  app.post(
    path,
    {
      schema: {
        summary: 'Begin the cut-over of a domain',
        description:
          'Watches the MX records of the domain and the old mailboxes, and shows what to do next. It changes nothing in DNS.',
        operationId: 'createMigrationCutover',
        params,
        body: NewCutover,
        response: responses(Success(FoundCutover), 201),
      },
    },
    async (request, reply) => {
      const name = nameOf(request)
      await createCutover(deps, name, request.body, personOf(request))
      addAuditDetails(request, { domain: request.body.domain })
      return reply.code(201).send(await show(name))
    },
  )
  app.post(
    `${path}/steps/:step/confirm`,
    {
      schema: {
        summary: 'Confirm or skip the open step of a cut-over',
        description: 'The note is recorded with your name, and the next step opens.',
        operationId: 'confirmMigrationCutoverStep',
        params: Type.Object({ id: Uuid, step: CutoverStepName }),
        body: CutoverConfirmation,
        response: responses(Success(FoundCutover)),
      },
    },
    async (request) => {
      const name = nameOf(request)
      const { step } = request.params
      await confirmStep(deps, name, step, request.body, personOf(request))
      addAuditDetails(request, { step })
      return show(name)
    },
  )
  simpleRoute(app, show, {
    action: 'final-pass',
    operationId: 'startMigrationCutoverFinalPass',
    summary: 'Start the final pass of a cut-over',
    description:
      'Every mailbox gets one more pass. When all are done, the synchronization ends and the proof is made.',
    run: async (name) => startFinal(deps, name),
  })
  simpleRoute(app, show, {
    action: 'check',
    operationId: 'checkMigrationCutover',
    summary: 'Check a cut-over at once',
    description:
      'Checks DNS now instead of at the next minute, and after the switch also the old mailboxes whose last check was more than a minute ago.',
    limit: 'record lookups',
    run: async (name) => checkNow(deps, name),
  })
  simpleRoute(app, show, {
    action: 'cancel',
    operationId: 'cancelMigrationCutover',
    summary: 'Cancel a cut-over',
    description: 'The batch and its synchronization stay as they are.',
    run: async (name) => cancelCutover(deps, name),
  })
}

type SimpleRoute = {
  action: string
  operationId: string
  summary: string
  description: string
  limit?: 'record lookups'
  run: (name: BatchName) => Promise<void>
}

function simpleRoute(
  app: App,
  show: (name: BatchName) => Promise<object>,
  { action, limit, run, ...described }: SimpleRoute,
): void {
  app.post(
    `${path}/${action}`,
    {
      ...(limit && { config: { limit } }),
      schema: { ...described, params, response: responses(Success(FoundCutover)) },
    },
    async (request) => {
      const name = nameOf(request)
      await run(name)
      return show(name)
    },
  )
}

function nameOf(request: Parameters<typeof callerOf>[0]): BatchName {
  const { id } = request.params as { id: string }
  return { workspaceId: callerOf(request).workspaceId, id }
}

function personOf(request: Parameters<typeof callerOf>[0]) {
  const { accountId, name, email } = callerOf(request)
  return { accountId, name: name || email }
}

import { Type } from 'typebox'
import { Fault } from '../errors.ts'
import { callerOf } from '../http/auth.ts'
import { responses, paginationOf, sliceOf, Success, Uuid } from '../http/http-schema.ts'
import type { App } from '../http/http-server.ts'
import { canonical } from '../net/address.ts'
import { explain, performAction, type Action, type CauseAndFix } from './delisting-actions.ts'
import { createProcess, type CreateDeps } from './create-process.ts'
import {
  Confirmation,
  DelistingProcess,
  Explanation,
  NewProcess,
  ProcessPage,
  ProcessQuery,
  ProcessWithHistory,
} from './shapes.ts'
import { countProcesses, findProcess, listProcesses } from './delistings.sql.ts'
import { presentProcesses, presentWithHistory } from './delisting-view.ts'

const params = Type.Object({ id: Uuid })
const stepParams = Type.Object({ id: Uuid, stepId: Uuid })

/** `/api/v1/delisting…`: remove an address from blocklists, step by step. */
export function delistingRoutes(app: App, deps: CreateDeps): void {
  processRoutes(app, deps)
  explanationRoute(app, deps)
  actionRoutes(app, deps)
}

function processRoutes(app: App, deps: CreateDeps): void {
  app.post(
    '/api/v1/delisting',
    {
      schema: {
        summary: 'Start a delisting',
        description:
          'Checks every blocklist and creates a step for each listing. An email goes to a list only when cause and fix are given and the reverse DNS is valid.',
        body: NewProcess,
        response: responses(Success(DelistingProcess), 201),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      const id = await createProcess(deps, workspaceId, request.body, goneOf(reply))
      const [data] = await presentProcesses(deps.db, [await found(deps, workspaceId, id)])
      return reply.code(201).send({ success: true, data })
    },
  )
  app.get(
    '/api/v1/delisting/status',
    {
      schema: {
        summary: 'List delistings',
        description: 'Newest first, unless ordered otherwise.',
        operationId: 'listDelistings',
        querystring: ProcessQuery,
        response: responses(Success(ProcessPage)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { page, limit, status, ip, sort: order } = request.query
      const filter = { status, ip: ip && canonical(ip) }
      const total = await countProcesses(deps.db, workspaceId, filter)
      const rows = await listProcesses(
        deps.db,
        workspaceId,
        { ...filter, order },
        sliceOf({ page, limit }),
      )
      const pagination = paginationOf({ page, limit }, total)
      return {
        success: true,
        data: { processes: await presentProcesses(deps.db, rows), pagination },
      }
    },
  )
  app.get(
    '/api/v1/delisting/:id',
    {
      schema: {
        summary: 'Get a delisting with its events',
        params,
        response: responses(Success(ProcessWithHistory)),
      },
    },
    async (request) => ({
      success: true,
      data: await presentWithHistory(
        deps.db,
        await found(deps, callerOf(request).workspaceId, request.params.id),
      ),
    }),
  )
}

/** Cause and fix of the whole delisting. */
function explanationRoute(app: App, deps: CreateDeps): void {
  app.patch(
    '/api/v1/delisting/:id',
    {
      schema: {
        summary: 'Change cause and fix',
        description:
          'They are quoted in the text for each list. No email is sent: confirm each list that takes one. A delisting that has ended returns 409.',
        params,
        body: Explanation,
        response: responses(Success(ProcessWithHistory)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { id } = request.params
      await explain(deps, { workspaceId, id }, request.body)
      return {
        success: true,
        data: await presentWithHistory(deps.db, await found(deps, workspaceId, id)),
      }
    },
  )
}

const SUMMARIES: Record<Exclude<Action, 'confirm'>, string> = {
  submitted: 'Mark a form as submitted or an email as sent',
  retry: 'Check a list now, or restart a failed step',
  cancel: 'Cancel a step',
}

function actionRoutes(app: App, deps: CreateDeps): void {
  async function done(
    workspaceId: string,
    ids: { id: string; stepId: string },
    action: Action,
    words: CauseAndFix,
    gone: AbortSignal,
  ) {
    await performAction(deps, action, { workspaceId, ...ids }, words, gone)
    return {
      success: true,
      data: await presentWithHistory(deps.db, await found(deps, workspaceId, ids.id)),
    }
  }

  app.post(
    '/api/v1/delisting/:id/steps/:stepId/confirm',
    {
      schema: {
        summary: 'Confirm cause and fix for a step',
        description: '`cause` and `fix` default to those of the process.',
        params: stepParams,
        body: Confirmation,
        response: responses(Success(ProcessWithHistory)),
      },
    },
    async (request, reply) =>
      done(
        callerOf(request).workspaceId,
        request.params,
        'confirm',
        request.body ?? {},
        goneOf(reply),
      ),
  )
  for (const [action, summary] of Object.entries(SUMMARIES) as [Action, string][]) {
    app.post(
      `/api/v1/delisting/:id/steps/:stepId/${action}`,
      {
        schema: {
          summary,
          params: stepParams,
          response: responses(Success(ProcessWithHistory)),
        },
      },
      async (request, reply) => {
        return done(callerOf(request).workspaceId, request.params, action, {}, goneOf(reply))
      },
    )
  }
}

/** Aborts when the client closes the connection. */
function goneOf(reply: { raw: NodeJS.EventEmitter }): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  return gone.signal
}

async function found({ db }: CreateDeps, workspaceId: string, id: string) {
  const row = await findProcess(db, workspaceId, id)
  if (!row) throw new Fault('not_found', 'Delisting not found.')
  return row
}

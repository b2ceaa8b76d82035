import { Type } from 'typebox'
import { callerOf } from '../../http/auth.ts'
import { Done, paginationOf, responses, sliceOf, Success, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { notifyChange } from '../../store/changes.ts'
import { requireDomain } from '../domain-parameter.ts'
import {
  countByDay,
  listEndedCredentials,
  listCanaries,
  listLatestResults,
  listResults,
  listSeeds,
  updateCanary,
  type CanaryRow,
  type ResultRow,
  type SeedRow,
} from './canary.sql.ts'
import {
  addSeed,
  canaryNotFound,
  createCanary,
  removeCanary,
  removeSeed,
  requireCanary,
} from './save-canary.ts'
import {
  Canary,
  CanaryChanges,
  CanaryDay,
  CanaryDaysQuery,
  CanaryQuery,
  CanaryResultList,
  CanaryResultQuery,
  CanarySeed,
  NewCanary,
  NewSeed,
} from './shapes.ts'
import type { CanaryDeps } from './sign-ins.ts'

const PATH = '/api/v1/canaries'
const params = Type.Object({ id: Uuid })

/** Registers `/api/v1/canaries`. */
export function canaryRoutes(app: App, deps: CanaryDeps): void {
  readRoutes(app, deps)
  changeRoutes(app, deps)
  seedRoutes(app, deps)
}

function readRoutes(app: App, deps: CanaryDeps): void {
  const { db } = deps
  app.get(
    PATH,
    {
      schema: {
        summary: 'List canaries, oldest first',
        querystring: CanaryQuery,
        response: responses(Success(Type.Array(Canary))),
      },
    },
    async (request) => {
      const { domain } = request.query
      const name = domain === undefined ? undefined : requireDomain(domain)
      const rows = await listCanaries(db, callerOf(request).workspaceId, name)
      return { success: true, data: await present(deps, rows) }
    },
  )
  app.get(
    `${PATH}/:id/days`,
    {
      schema: {
        summary: 'Count the outcomes of a canary by provider and day',
        params,
        querystring: CanaryDaysQuery,
        response: responses(Success(Type.Array(CanaryDay))),
      },
    },
    async (request) => {
      const { id } = await requireCanary(deps, callerOf(request).workspaceId, request.params.id)
      return { success: true, data: await countByDay(db, id, request.query.days) }
    },
  )
  app.get(
    `${PATH}/:id/results`,
    {
      schema: {
        summary: 'List the mails of a canary, newest first',
        params,
        querystring: CanaryResultQuery,
        response: responses(CanaryResultList),
      },
    },
    async (request) => {
      const { id } = await requireCanary(deps, callerOf(request).workspaceId, request.params.id)
      const { rows, total } = await listResults(db, id, sliceOf(request.query))
      return { success: true, data: rows, pagination: paginationOf(request.query, total) }
    },
  )
}

function changeRoutes(app: App, deps: CanaryDeps): void {
  const { db } = deps
  app.post(
    PATH,
    {
      config: { limit: 'connections' },
      schema: {
        summary: 'Create a canary',
        description:
          'Sends mails through your own server to mailboxes of yours, and looks where they arrive. The sign-in at the server is checked first.',
        body: NewCanary,
        response: responses(Success(Canary), 201),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      const row = await createCanary(deps, workspaceId, request.body)
      await notifyChange(db, workspaceId, 'checks', row.id)
      const [data] = await present(deps, [row])
      return reply.code(201).send({ success: true, data })
    },
  )
  app.patch(
    `${PATH}/:id`,
    {
      schema: {
        summary: 'Change a canary',
        description: 'One that is turned on sends mails at once.',
        params,
        body: CanaryChanges,
        response: responses(Success(Canary)),
      },
    },
    async (request) => ({
      success: true,
      data: await update(deps, callerOf(request).workspaceId, request.params.id, request.body),
    }),
  )
  app.post(
    `${PATH}/:id/run`,
    {
      config: { limit: 'mail tests' },
      schema: {
        summary: 'Send the mails of a canary now',
        params,
        response: responses(Success(Canary)),
      },
    },
    async (request) => ({
      success: true,
      data: await update(deps, callerOf(request).workspaceId, request.params.id, {
        enabled: true,
      }),
    }),
  )
  app.delete(
    `${PATH}/:id`,
    { schema: { summary: 'Delete a canary', params, response: responses(Done) } },
    async (request) => {
      const { workspaceId } = callerOf(request)
      await removeCanary(deps, workspaceId, request.params.id)
      await notifyChange(db, workspaceId, 'checks', request.params.id)
      return { success: true }
    },
  )
}

async function update(
  deps: CanaryDeps,
  workspaceId: string,
  id: string,
  changes: { enabled?: boolean; everyHours?: number },
) {
  const row = await updateCanary(deps.db, workspaceId, id, changes)
  if (!row) throw canaryNotFound()
  await notifyChange(deps.db, workspaceId, 'checks', id)
  const [data] = await present(deps, [row])
  return data
}

function seedRoutes(app: App, deps: CanaryDeps): void {
  const { db } = deps
  app.post(
    `${PATH}/:id/seeds`,
    {
      config: { limit: 'connections' },
      schema: {
        summary: 'Add a seed to a canary',
        description: 'A mailbox of yours that gets the mails. The sign-in is checked first.',
        params,
        body: NewSeed,
        response: responses(Success(CanarySeed), 201),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      const row = await addSeed(deps, workspaceId, request.params.id, request.body)
      await notifyChange(db, workspaceId, 'checks', request.params.id)
      return reply.code(201).send({ success: true, data: presentSeed(row, []) })
    },
  )
  app.delete(
    `${PATH}/:id/seeds/:seedId`,
    {
      schema: {
        summary: 'Delete a seed of a canary',
        params: Type.Object({ id: Uuid, seedId: Uuid }),
        response: responses(Done),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { id, seedId } = request.params
      await removeSeed(deps, workspaceId, id, seedId)
      await notifyChange(db, workspaceId, 'checks', id)
      return { success: true }
    },
  )
}

async function present({ db }: CanaryDeps, rows: CanaryRow[]) {
  const ids = rows.map(({ id }) => id)
  const [seeds, latest] = await Promise.all([listSeeds(db, ids), listLatestResults(db, ids)])
  const ended = await listEndedCredentials(
    db,
    seeds.flatMap(({ credentialId }) => credentialId ?? []),
  )
  return rows.map(({ username, dueAt, ...row }) => ({
    ...row,
    user: username,
    nextRunAt: dueAt,
    seeds: seeds
      .filter(({ canaryId }) => canaryId === row.id)
      .map((seed) => presentSeed(seed, latest, ended)),
  }))
}

function presentSeed(
  { username, ...seed }: SeedRow,
  latest: readonly ResultRow[],
  ended: readonly string[] = [],
) {
  return {
    ...seed,
    user: username,
    needsSignIn: seed.credentialId !== null && ended.includes(seed.credentialId),
    latest: latest.find(({ seedId }) => seedId === seed.id) ?? null,
  }
}

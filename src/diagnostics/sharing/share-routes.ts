import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { callerOf } from '../../http/auth.ts'
import { responses, Done, Success } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { NewShare, SharedCheck, SharedChecks, SharedResults } from '../shapes.ts'
import { shareResults } from './share-results.ts'
import { deleteShared, findShared, listShared, type SharedRow } from '../shared-checks.sql.ts'

export type ShareRoutesOptions = {
  db: Kysely<DB>
  secretKey: string
  baseUrl: string
}

const params = Type.Object({
  token: Type.String({ maxLength: 100, examples: ['Zk3tQ9wLr5Xc1Vb7Nm2Pa8Sd'] }),
})
const shareNotFound = () =>
  new Fault('not_found', 'Shared result not found. Shared results expire after 30 days.')

/** Registers `/api/v1/shared-checks/:token`: stored results, for everyone who has the link. */
export function sharedResultsRoute(
  app: App,
  { db, baseUrl }: Omit<ShareRoutesOptions, 'secretKey'>,
): void {
  app.get(
    '/api/v1/shared-checks/:token',
    {
      config: { limit: 'public pages' },
      schema: {
        summary: 'Get shared results',
        params,
        response: responses(Success(SharedResults)),
      },
    },
    async (request, reply) => {
      const row = await findShared(db, request.params.token)
      if (!row) throw shareNotFound()
      return reply
        .header('cache-control', 'no-store')
        .send({ success: true, data: presentShare(row, baseUrl) })
    },
  )
}

/** Registers `/api/v1/shared-checks`: the results that a workspace shares. */
export function shareRoutes(app: App, { db, secretKey, baseUrl }: ShareRoutesOptions): void {
  app.post(
    '/api/v1/shared-checks',
    {
      config: { limit: 'shared checks', unaudited: true },
      schema: {
        summary: 'Share check results by a public link',
        description:
          'Send each result as the check returned it, with its receipt. The link shows these results for 30 days, without ' +
          'checking again, and needs no account.',
        body: NewShare,
        response: responses(Success(SharedCheck), 201),
      },
    },
    async (request, reply) => {
      const row = await shareResults(
        { db, secretKey },
        callerOf(request).workspaceId,
        request.body.results,
      )
      return reply.code(201).send({ success: true, data: presentShare(row, baseUrl) })
    },
  )
  app.get(
    '/api/v1/shared-checks',
    {
      schema: {
        summary: 'List shared results',
        response: responses(Success(SharedChecks)),
      },
    },
    async (request) => ({
      success: true,
      data: (await listShared(db, callerOf(request).workspaceId)).map((row) =>
        presentShare(row, baseUrl),
      ),
    }),
  )
  app.delete(
    '/api/v1/shared-checks/:token',
    {
      schema: {
        summary: 'Delete a shared result',
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      if (!(await deleteShared(db, workspaceId, request.params.token))) throw shareNotFound()
      await notifyChange(db, workspaceId, 'checks')
      return { success: true }
    },
  )
}

const presentShare = (row: SharedRow, baseUrl: string) => ({
  ...row,
  url: `${baseUrl}/shared/${row.token}`,
})

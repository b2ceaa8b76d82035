import type { Kysely } from 'kysely'
import type { DB } from '../store/tables.ts'
import { Done, responses } from '../http/http-schema.ts'
import type { App } from '../http/http-server.ts'
import type { Queue } from '../jobs/queue.ts'
import type { Job } from '../jobs/job.ts'
import { acceptHeldVersion, enableFeed } from './change-feed.ts'
import { FeedChange, FeedParam } from './shapes.ts'

export const FEEDS_PATH = '/api/v1/abuse/feeds'

/** `/api/v1/abuse/feeds/{id}`, for administrators. */
export function feedAdministrationRoutes(
  app: App,
  { db, clock }: { db: Kysely<DB>; clock: () => number },
  { queue, updateFeeds }: { queue: Pick<Queue, 'enqueue'>; updateFeeds: Job },
): void {
  app.put(
    `${FEEDS_PATH}/:id`,
    {
      schema: {
        operationId: 'updatePublicFeed',
        summary: 'Enable or disable a public feed',
        description: 'For administrators. An enabled feed is downloaded at once.',
        params: FeedParam,
        body: FeedChange,
        response: responses(Done),
      },
    },
    async ({ params, body }) => {
      await enableFeed(db, params.id, body.enabled, clock())
      if (body.enabled) await queue.enqueue(db, updateFeeds, {})
      return { success: true }
    },
  )
  app.post(
    `${FEEDS_PATH}/:id/accept`,
    {
      schema: {
        operationId: 'acceptPublicFeed',
        summary: 'Use the version of a public feed that is held back',
        description: 'For administrators.',
        params: FeedParam,
        response: responses(Done),
      },
    },
    async ({ params }) => {
      await acceptHeldVersion(db, params.id, clock())
      return { success: true }
    },
  )
}

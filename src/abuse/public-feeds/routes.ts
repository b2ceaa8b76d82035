import { callerOf } from '../../http/auth.ts'
import { Done, responses } from '../../http/schema.ts'
import type { App } from '../../http/server.ts'
import type { Queue } from '../../jobs/queue.ts'
import type { Job } from '../../jobs/job.ts'
import type { AbuseServices } from '../create-services.ts'
import { TAGS } from '../tags.ts'
import { acceptHeldVersion, enableFeed } from './change-feed.ts'
import { describeFeeds } from './describe-feeds.ts'
import { FeedChange, FeedParam, PublicFeedList } from './shapes.ts'

const BASE = '/api/v1/abuse/feeds'

/** `GET /api/v1/abuse/feeds`, for members. */
export function feedListRoute(app: App, services: AbuseServices): void {
  app.get(
    BASE,
    {
      schema: {
        operationId: 'listPublicFeeds',
        summary: 'List public feeds with their terms, their state and their overlap',
        tags: TAGS,
        response: responses(PublicFeedList),
      },
    },
    async (request) => {
      const { sets } = services.fleets.fileExports
      const own = [
        { list: 'fleet', set: await sets.fleet(callerOf(request).workspaceId) },
        { list: 'shared', set: await sets.shared() },
      ]
      return { success: true, data: await describeFeeds(services, own) }
    },
  )
}

/** `/api/v1/abuse/feeds/{id}`, for administrators. */
export function feedAdministrationRoutes(
  app: App,
  { db, clock }: Pick<AbuseServices, 'db' | 'clock'>,
  { queue, updateFeeds }: { queue: Pick<Queue, 'enqueue'>; updateFeeds: Job },
): void {
  app.put(
    `${BASE}/:id`,
    {
      schema: {
        operationId: 'updatePublicFeed',
        summary: 'Enable or disable a public feed',
        description: 'For administrators. An enabled feed is downloaded at once.',
        tags: TAGS,
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
    `${BASE}/:id/accept`,
    {
      schema: {
        operationId: 'acceptPublicFeed',
        summary: 'Use the version of a public feed that is held back',
        description: 'For administrators.',
        tags: TAGS,
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

import { callerOf } from '../../http/auth.ts'
import type { App } from '../../http/http-server.ts'
import { responses } from '../../http/http-schema.ts'
import { describeFeeds } from '../../public-feeds/describe-feeds.ts'
import { FEEDS_PATH } from '../../public-feeds/routes.ts'
import { PublicFeedList } from '../../public-feeds/shapes.ts'
import type { Fleets } from '../fleet.ts'

/** `GET /api/v1/abuse/feeds`, for members: with the overlap of their own lists. */
export function feedListRoute(app: App, fleets: Fleets): void {
  app.get(
    FEEDS_PATH,
    {
      schema: {
        operationId: 'listPublicFeeds',
        summary: 'List public feeds with their terms, their state and their overlap',
        response: responses(PublicFeedList),
      },
    },
    async (request) => {
      const { sets } = fleets.fileExports
      const own = [
        { list: 'fleet', set: await sets.fleet(callerOf(request).workspaceId) },
        { list: 'shared', set: await sets.shared() },
      ]
      return { success: true, data: await describeFeeds(fleets, own) }
    },
  )
}

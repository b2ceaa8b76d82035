import { Type } from 'typebox'
import { Fault } from '../errors.ts'
import { WORKSPACE_HEADER } from './access.ts'
import { callerOf } from './auth.ts'
import { ACCOUNT_LIMITS } from './limits/request-limits.ts'
import { OVERVIEW_PATHS } from './overview-paths.ts'
import { responses, Success } from './http-schema.ts'
import { sendText } from './send-parts.ts'
import type { App } from './http-server.ts'

/** Headers that make sense for one response only, or that a combined request does not need. */
const OWN_HEADERS = ['content-length', 'content-type', 'if-none-match', 'range', 'accept-encoding']

/**
 * `/api/v1/overview`: what the first page of the dashboard shows, in one response. Each part is what
 * its own path answers to this caller, with the same limits and rights; the parts that the caller
 * may not read are left out.
 */
export function overviewRoute(app: App): void {
  app.get(
    '/api/v1/overview',
    {
      config: { limit: 'overviews' },
      schema: {
        summary: 'Get the overview of the workspace',
        operationId: 'getOverview',
        description:
          'Several lists in one response: `data` has the responses of other paths, by path. A path is left out if you may not ' +
          `read it. A workspace can request ${ACCOUNT_LIMITS.overviews.maxConcurrent} overviews at the same time.`,
        response: responses(Success(Type.Record(Type.String(), Type.Unknown()))),
      },
    },
    async (request, reply) => {
      const { headers, raw } = request
      const sent = Object.entries(headers).filter(([name]) => !OWN_HEADERS.includes(name))
      const common = {
        // The query can name the workspace, too.
        headers: { ...Object.fromEntries(sent), [WORKSPACE_HEADER]: callerOf(request).workspaceId },
        remoteAddress: raw.socket.remoteAddress ?? '',
      }
      const parts = await Promise.all(
        OVERVIEW_PATHS.map(async (url) => [url, await app.inject({ url, ...common })] as const),
      ).catch((cause: unknown) => {
        throw new Fault('unavailable', 'The service is stopping. Try again in a few seconds.', {
          cause,
        })
      })
      const readable = parts.filter(([, { statusCode }]) => statusCode === 200)
      // They are JSON already: parsing and writing megabytes of it again would take longer than the
      // smaller parts.
      const data = readable.map(([url, { payload }]) => `${JSON.stringify(url)}:${payload}`)
      return sendText(
        reply.type('application/json; charset=utf-8'),
        `{"success":true,"data":{${data.join()}}}`,
      )
    },
  )
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import type { Config } from '../config.ts'
import type { Logger } from '../log.ts'
import type { Signals } from '../store/signals.ts'
import type { DB } from '../store/tables.ts'
import { createAnnouncer } from './announcer.ts'
import { createCapture } from './capture.ts'
import { createDelays } from './delays.ts'
import { createEndpointCache } from './endpoint-cache.ts'
import { loadEndpoint, onEndpointChange } from './endpoints.ts'
import { createLive } from './events.ts'
import { createGroupCommit } from './group-commit.ts'
import { isGone, keepMalformed, reasonOf, type ParseError } from './malformed.ts'
import { createRoom } from './reception.ts'
import { startTrimming } from './retention.ts'
import { insertRequests, type CapturedRequest } from './store.ts'
import { createTakes } from './target.ts'

export type WebhooksOptions = {
  db: Kysely<DB>
  pool: Pool
  signals: Signals
  secretKey: string
  config: Pick<Config, 'BASE_URL' | 'WEBHOOK_BASE_URL' | 'TRUSTED_PROXIES'>
  log: Logger
}

/** All that captures, put together. `end` lets delayed answers and event streams go, `close` ends what runs in the background. */
export function openWebhooks({ db, pool, signals, secretKey, config, log }: WebhooksOptions) {
  const endpoints = createEndpointCache((token) => loadEndpoint({ db, secretKey }, token))
  const forget = ({ token }: { token: string }) => endpoints.forget(token)
  const stopListening = onEndpointChange(signals, forget, () => endpoints.forgetAll())
  const announcer = createAnnouncer({ db, log })
  const trimming = startTrimming({ db, log })
  const commits = createGroupCommit<CapturedRequest>({
    insert: (rows) => insertRequests(pool, rows),
    onStored(rows) {
      announcer.captured(rows)
      trimming.captured(rows)
    },
    log,
  })
  const delays = createDelays()
  const trustedProxies = config.TRUSTED_PROXIES
  const capture = createCapture({ endpoints, commits, delays, room: createRoom(), trustedProxies, log })

  const live = createLive({ db, signals, webhookBaseUrl: config.WEBHOOK_BASE_URL, log })

  return {
    live,
    takes: createTakes(config.BASE_URL, config.WEBHOOK_BASE_URL),
    handle: (request: IncomingMessage, response: ServerResponse) => capture.handle(request, response),
    /** Bytes that are no request, or a request that was cut off in the middle. */
    refused(error: ParseError, socket: Socket): void {
      if (capture.cutOff(socket, isGone(error.code) ? null : reasonOf(error))) return
      void keepMalformed(error, socket, { endpoints, commits, trustedProxies, log })
    },
    /** For who has just changed an endpoint: the signal comes a moment later. */
    forget: (token: string) => endpoints.forget(token),
    end(): void {
      delays.end()
      live.close()
    },
    async close(): Promise<void> {
      stopListening()
      announcer.close()
      await trimming.close()
    },
  }
}
